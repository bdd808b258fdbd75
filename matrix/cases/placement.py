"""Placements: how the bytes of a case lie in memory and how it is cut into calls, as one RUN request."""

from dataclasses import dataclass

from matrix.cases.case import Case
from matrix.model.interface import Argument, Interface, Length, Operation, Pointer
from matrix.model.interface import Word as WordArgument
from matrix.model.kernel import State
from matrix.worker.protocol import NOTHING, Buffer, Place, Role, Step, Word, encode_run

_DIRT = 0xA5C3_96E1 << 32
"""Upper halves of 32-bit arguments on 64-bit guests: the ABI lets a caller leave anything there."""


@dataclass(frozen=True)
class Placement:
    """One way to lay out a case: every buffer against the guard page behind (``after``) or before it (``before``)."""

    name: str
    place: Place


QUICK = (Placement("after", Place.FLUSH_AFTER), Placement("before", Place.FLUSH_BEFORE))
"""The two placements that every case gets."""


@dataclass(frozen=True)
class Binding:
    """What the calls of an operation are bound to in one worker: table indices, and the states' sizes."""

    functions: dict[str, int]
    states: dict[str, State]
    word_bytes: int


@dataclass(frozen=True)
class Run:
    """A RUN request: its payload, the buffers in order and the (name, length) of each output that comes back."""

    payload: bytes
    buffers: tuple[Buffer, ...]
    outputs: tuple[tuple[str, int], ...]


def output_length(operation: Operation, case: Case, role: str) -> int:
    """Bytes of output ``role`` for this case."""
    size = operation.outputs[role]
    if size.like:
        value = case.inputs[size.like]
        assert isinstance(value, bytes)
        return len(value) + size.extra
    return size.choices[0] if size.choices else size.minimum or 0


def make_run(interface: Interface, operation: Operation, case: Case, binding: Binding, placement: Placement) -> Run:
    """Lay out ``case`` for ``operation`` with every repeated step as one piece."""
    buffers = _buffers(interface, operation, case, binding, placement)
    index = {buffer.name: position for position, buffer in enumerate(buffers)}
    steps = []
    for step in operation.steps:
        call = interface.calls[step.call]
        words = tuple(_word(arg, case, index, buffers, binding) for arg in call.args)
        steps.append(Step(binding.functions[step.call], words))
    outputs = tuple((b.name, b.length) for b in buffers if b.role in (Role.OUT, Role.INOUT))
    return Run(encode_run(buffers, steps), tuple(buffers), outputs)


def _buffers(
    interface: Interface, operation: Operation, case: Case, binding: Binding, placement: Placement
) -> list[Buffer]:
    used = {arg.role for step in operation.steps for arg in interface.calls[step.call].args if isinstance(arg, Pointer)}
    buffers = []
    for role in operation.inputs:
        value = case.inputs[role]
        if role in used and isinstance(value, bytes):
            kind = Role.INOUT if role in operation.outputs else Role.IN
            buffers.append(Buffer(role, kind, len(value), value, placement.place))
    for role in operation.outputs:
        if role in used and role not in operation.inputs:
            buffers.append(Buffer(role, Role.OUT, output_length(operation, case, role), b"", placement.place))
    for name in interface.states:
        if name in used:
            state = binding.states[name]
            buffers.append(Buffer(name, Role.STATE, state.bytes, b"", placement.place, 0, state.align))
    return buffers


def _word(arg: Argument, case: Case, index: dict[str, int], buffers: list[Buffer], binding: Binding) -> Word:
    if isinstance(arg, Pointer):
        position = index[arg.role]
        return Word(0, position, arg.direction == "in" and buffers[position].role is Role.STATE)
    if isinstance(arg, Length):
        return Word(buffers[index[arg.role]].length, NOTHING)
    assert isinstance(arg, WordArgument)
    value = case.inputs[arg.role]
    assert isinstance(value, int)
    return Word(value | (_DIRT if binding.word_bytes == 8 else 0), NOTHING)


def describe_place(buffers: tuple[Buffer, ...], position: int, offset: int) -> str:
    """An address in a reader's words: ``4 bytes past the end of data``."""
    if position >= len(buffers):
        return "far from every buffer"
    buffer = buffers[position]
    if offset < 0:
        return f"{-offset} bytes before the start of {buffer.name}"
    if offset >= buffer.length:
        return f"{offset - buffer.length + 1} bytes past the end of {buffer.name}"
    return f"byte {offset} of {buffer.name}"
