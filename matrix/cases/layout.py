"""Lay out cases as RUN requests. What does not depend on the case is packed once per operation and placement."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from matrix.cases.case import Case, Inputs
from matrix.cases.entry import ENTRY_STATES, entry_shift
from matrix.cases.material import stream
from matrix.cases.placement import BEYOND, Placement
from matrix.model.interface import Argument, Interface, Length, Operation, Pointer, Size, Step
from matrix.model.kernel import State
from matrix.worker.protocol import (
    ADDRESS_FIXED,
    ADDRESS_KEPT,
    BUFFER_LAYOUT,
    LINE_BYTES,
    MAX_STEPS,
    NOTHING,
    RUN_FAULTS,
    RUN_LAYOUT,
    STEP_LAYOUT,
    WORD_LAYOUT,
    Buffer,
    Place,
    Role,
)

_DIRT = 0xA5C3_96E1 << 32
"""Upper halves of 32-bit arguments on 64-bit guests: the ABI lets a caller leave anything there."""
_CONSTANT = WORD_LAYOUT.pack(0, 0, NOTHING, 0, 0)[:-8]
_UNMASK = STEP_LAYOUT.pack(NOTHING, 1) + _CONSTANT + bytes(8)
"""The step that takes every capability away from what runs after it."""


@dataclass(frozen=True)
class Binding:
    """What the calls of an operation are bound to in one worker: table indices, and the states' sizes."""

    functions: dict[str, int]
    states: dict[str, State]
    word_bytes: int
    dispatched: bool = False


@dataclass(frozen=True)
class Slot:
    """One buffer of a layout. ``output`` is the output that it holds afterwards, '' when none comes back."""

    name: str
    role: Role
    output: str
    head: bytes
    length: Callable[[Case], int]
    template: Buffer


class Run:
    """A RUN request of one case and how to read its answer."""

    __slots__ = ("case", "layout", "payload", "steps")

    def __init__(self, layout: "Layout", case: Case, payload: bytes, steps: int) -> None:
        self.layout = layout
        self.case = case
        self.payload = payload
        self.steps = steps

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The buffers in order, for a report."""
        return tuple(
            Buffer(s.name, s.role, s.length(self.case), b"", s.template.place, s.template.offset, s.template.align)
            for s in self.layout.slots
        )

    @property
    def returned_lengths(self) -> list[int]:
        """Bytes of each buffer that comes back, in order."""
        return [slot.length(self.case) for slot in self.layout.slots if slot.output]

    def outputs(self, buffers: tuple[bytes, ...]) -> dict[str, bytes]:
        """The outputs by name, from the buffers that came back."""
        return self.layout.outputs(self.case, buffers)

    def expected(self) -> bytes | None:
        """All bytes that come back when the answer is right, None when that is not known beforehand."""
        answer = self.case.expected
        if answer is None or not self.layout.exact:
            return None
        names = self.layout.returned
        return answer[names[0]] if len(names) == 1 else b"".join([answer[name] for name in names])


WordItem = bytes | Callable[[Case, int, int], bytes]
"""Packed bytes, or a function of (case, start of the piece, bytes of the piece)."""


@dataclass(frozen=True)
class _Template:
    """The words of one step. ``split`` is the input whose pieces it takes one by one, '' when it is one call."""

    items: tuple[WordItem, ...]
    split: str

    def pack(self, case: Case, start: int, length: int) -> bytes:
        return b"".join([item if isinstance(item, bytes) else item(case, start, length) for item in self.items])


class Layout:
    """How every case of one operation is laid out in one placement, for one binding.

    With ``only``, the steps that call something else are left out; the states that they make then hold nothing.
    """

    def __init__(
        self,
        interface: Interface,
        operation: Operation,
        binding: Binding,
        placement: Placement,
        only: Collection[str] | None = None,
    ) -> None:
        self.operation = operation
        self.placement = placement
        self._binding = binding
        self._shared = dict(operation.alias) if placement.alias else {}
        self.output_lengths = {name: _output_length(size) for name, size in operation.outputs.items()}
        self.slots = tuple(self._make_slots(interface))
        self.returned = [slot.output for slot in self.slots if slot.output]
        self.exact = (
            not operation.refuses
            and not placement.beyond
            and all(_same_length(operation, o, i) for o, i in self._shared.items())
        )
        self._shift = entry_shift(placement.name)
        self._index = {slot.name: position for position, slot in enumerate(self.slots)}
        self._index |= {output: self._index[source] for output, source in self._shared.items()}
        steps = (step for step in operation.steps if only is None or step.call in only)
        self._steps = [self._step(interface, step) for step in steps]

    def run(self, case: Case) -> Run | None:
        """The request for ``case``; None when the placement does not apply to it."""
        pieces = self._pieces(case)
        if pieces is None:
            return None
        parts = [b""]
        for slot in self.slots:
            data, length = self._content(slot, case)
            parts.append(slot.head + length.to_bytes(4, "little"))
            if data:
                parts.append(data)
        steps = self._pack_steps(case, pieces)
        if self.placement.again:
            steps *= 2
        flags = RUN_FAULTS if self.placement.beyond else 0
        parts[0] = RUN_LAYOUT.pack(len(self.slots), len(steps), self.entry(case), flags)
        return Run(self, case, b"".join(parts + steps), len(steps))

    def entry(self, case: Case) -> int:
        """The number of the state in which the first step is entered."""
        return (case.number + self._shift) % ENTRY_STATES

    def outputs(self, case: Case, buffers: tuple[bytes, ...]) -> dict[str, bytes]:
        """The outputs by name, from the buffers that came back; an output may be shorter than the buffer it shares."""
        lengths = self.output_lengths
        return {name: data[: lengths[name](case)] for name, data in zip(self.returned, buffers, strict=True)}

    def told_too_long(self) -> list[str]:
        """The buffers of which a call takes more bytes than there are, for a placement that is ``beyond`` one."""
        role = self.placement.beyond
        sizes = self.operation.outputs
        own = sizes[role].like if role in sizes else role
        return [
            name for name in (own, *(name for name, size in sizes.items() if size.like == own)) if name in self._index
        ]

    def _pieces(self, case: Case) -> dict[str, list[int]] | None:
        """Bytes of the pieces of each input that is split; None when the placement would not cut any of them."""
        if case.total:
            whole, rest = divmod(case.total, len(_bytes(case, self.operation.split_role)))
            pieces = [len(_bytes(case, self.operation.split_role))] * whole
            return {self.operation.split_role: [*pieces, rest] if rest else pieces}
        splits = self.operation.splits
        cuts = {name: self.placement.pieces(case, len(_bytes(case, name)), unit) for name, unit in splits}
        if cuts and all(cut is None for cut in cuts.values()):
            return None
        # One that this placement would not cut, beside one that it does, stays whole.
        return {name: cut or [len(_bytes(case, name))] for name, cut in cuts.items()}

    def _pack_steps(self, case: Case, pieces: dict[str, list[int]]) -> list[bytes]:
        steps = []
        for template in self._steps:
            start = 0
            for number, piece in enumerate(pieces.get(template.split, [0])):
                if number == 1 and self.placement.unmask:
                    steps.append(_UNMASK)
                steps.append(template.pack(case, start, piece))
                start += 0 if case.total else piece  # what is repeated lies in memory once
        return steps

    def _content(self, slot: Slot, case: Case) -> tuple[bytes, int]:
        """What a buffer holds at first and its length. A shared buffer may be longer than the input in it."""
        length = slot.length(case)
        if slot.role not in (Role.IN, Role.INOUT):
            return b"", length
        data = _bytes(case, slot.name)
        if len(data) < length:
            data += stream("filler", length - len(data))
        return data, length

    def _make_slots(self, interface: Interface) -> Iterator[Slot]:
        operation = self.operation
        calls = [interface.calls[step.call] for step in operation.steps]
        used = {arg.role for call in calls for arg in call.args if isinstance(arg, Pointer)}
        held = {source: output for output, source in self._shared.items()}
        for role, size in operation.inputs.items():
            if role in used and not size.word:
                output = held.get(role) or (role if role in operation.outputs else "")
                yield self._slot(role, Role.INOUT if output else Role.IN, output, self._input_length(role, output), 1)
        for role in operation.outputs:
            if role in used and role not in operation.inputs and role not in self._shared:
                yield self._slot(role, Role.OUT, role, self.output_lengths[role], 1)
        for name in interface.states:
            if name in used:
                state = self._binding.states[name]
                yield self._slot(name, Role.STATE, "", _constant_length(state.bytes), state.align)

    def _input_length(self, role: str, output: str) -> Callable[[Case], int]:
        if not output or output == role:
            return lambda case: len(_bytes(case, role))
        after = self.output_lengths[output]
        return lambda case: max(len(_bytes(case, role)), after(case))

    def _slot(self, name: str, role: Role, output: str, length: Callable[[Case], int], align: int) -> Slot:
        place, offset = self.placement.place, self.placement.offsets.get(name, 0)
        if role is Role.STATE and self.placement.odd_states and align < LINE_BYTES:
            place, offset = Place.OFFSET, align
        elif place is Place.OFFSET and (name not in self.placement.offsets or role is Role.STATE):
            place, offset = Place.FLUSH_AFTER, 0
        head = BUFFER_LAYOUT.pack(role, place, offset, align, 0, 0)[:-4]
        return Slot(name, role, output, head, length, Buffer(name, role, 0, b"", place, offset, align))

    def _step(self, interface: Interface, step: Step) -> _Template:
        call = interface.calls[step.call]
        head = STEP_LAYOUT.pack(self._binding.functions[step.call], len(call.args))
        split = self.operation.split_of_call(call) if step.repeated else ""
        return _Template((head, *(item for arg in call.args for item in self._word(arg, split))), split)

    def _kept(self, arg: Pointer, slot: Slot) -> int:
        """How a step's pointer keeps the bytes behind it: a state that is taken as const lies on read-only pages then,
        unless it holds its own address."""
        if arg.direction != "in" or slot.role is not Role.STATE:
            return 0
        return ADDRESS_KEPT if self._binding.states[slot.name].own_address else ADDRESS_FIXED

    def _word(self, arg: Argument, split: str) -> list[WordItem]:
        operation = self.operation
        if isinstance(arg, Pointer):
            index = self._index[arg.role]
            head = WORD_LAYOUT.pack(1, self._kept(arg, self.slots[index]), index, 0, 0)[:-8]
            if self.placement.whole or not split or operation.split_of(arg.role) != split:
                return [head + bytes(8)]
            return [lambda _case, start, _length: head + start.to_bytes(8, "little")]
        if isinstance(arg, Length):
            role, more = arg.role, BEYOND if self.placement.beyond == arg.role else 0
            if split and operation.split_of(role) == split:
                return [_CONSTANT, lambda _case, _start, length: (length + more).to_bytes(8, "little")]
            whole = (lambda case: len(_bytes(case, role))) if role in operation.inputs else self.output_lengths[role]
            return [_CONSTANT, lambda case, _start, _length: (whole(case) + more).to_bytes(8, "little")]
        dirt = _DIRT if self._binding.word_bytes == 8 else 0
        role, unit = arg.role, arg.unit
        if role in operation.constants:
            return [_CONSTANT + (dirt | operation.constants[role]).to_bytes(8, "little")]

        def value(case: Case, start: int, _length: int) -> bytes:
            number = case.inputs[role]
            assert isinstance(number, int)
            return (dirt | (number + start // unit) & 0xFFFF_FFFF).to_bytes(8, "little")

        return [_CONSTANT, value]


def repeat_problem(interface: Interface, operation: Operation, inputs: Inputs, total: int) -> str:
    """Why the message of ``operation`` cannot be an input repeated up to ``total`` bytes, or ''."""
    role, unit = operation.split_role, operation.split_unit
    data = inputs.get(role, b"")
    if not role or not isinstance(data, bytes) or not data or len(data) % unit or total % unit:
        return f"there is no message in pieces of {unit} bytes to repeat"
    if total < len(data) or total // len(data) + len(operation.steps) > MAX_STEPS:
        return f"{total} bytes in pieces of {len(data)} do not fit into one request"
    if any(size.like == role for size in operation.outputs.values()):
        return f"an output is as long as {role}"
    taken = [step for step in operation.steps if any(arg.role == role for arg in interface.calls[step.call].args)]
    return "" if all(step.repeated for step in taken) else f"a call takes all of {role} at once"


def _bytes(case: Case, role: str) -> bytes:
    value = case.inputs[role]
    assert isinstance(value, bytes)
    return value


def _constant_length(length: int) -> Callable[[Case], int]:
    return lambda _case: length


def _output_length(size: Size) -> Callable[[Case], int]:
    """Bytes of an output, as a function of the case."""
    if size.like:
        like, extra = size.like, size.extra
        return lambda case: max(0, len(_bytes(case, like)) + extra)
    return _constant_length(size.choices[0] if size.choices else size.minimum or 0)


def _same_length(operation: Operation, output: str, source: str) -> bool:
    size = operation.outputs[output]
    return size.like == source and not size.extra


def describe_place(buffers: tuple[Buffer, ...], position: int, offset: int) -> str:
    """An address in a reader's words: ``4 bytes past the end of data``."""
    if position >= len(buffers):
        return "far from every buffer"
    buffer = buffers[position]
    if offset < 0:
        return f"{-offset} byte{'s' if offset != -1 else ''} before the start of {buffer.name}"
    if offset >= buffer.length:
        past = offset - buffer.length + 1
        return f"{past} byte{'s' if past != 1 else ''} past the end of {buffer.name}"
    return f"byte {offset} of {buffer.name}"
