"""Placements: where the buffers of a case lie, whether output and input are one, and where a message is cut."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from matrix.cases.case import Case
from matrix.cases.material import draw
from matrix.model.interface import Interface, Length, Operation, Pointer, Size
from matrix.worker.protocol import Place

OFFSETS = (*range(1, 16), 16, 32, 48)
"""Distances of a first byte from a 64-byte boundary; 16, 32 and 48 leave 16- and 32-byte accesses misaligned."""
CUTS = (0, 1, 15, 16, 17, 63, 64, 65, 71, 72, 73, 127, 128, 129, 135, 136, 137, 167, 168, 169)
"""Where a message is cut in two, in bytes: nothing, one byte, around the blocks of published kernels and SHA-3."""
CHUNKS = (1, 3, 16, 33, 64, 97, 160, 1031)
"""Lengths in bytes of the pieces of a message that is cut into many; at most MOST_PIECES of them.

The last two make three and more pieces that are each long enough for the widest loops of published kernels."""
MOST_PIECES = 300
BEYOND = 1 << 32
"""A length that is told too long, by so much that 32 bits of it are the true one: who drops the others returns."""
_LAST, _RANDOM = "last", "random"
_OWN_CUT = re.compile(r"(cut|chunks)-([1-9]\d{0,5})")
_EMPTY_LAST, _EMPTY_MIDDLE = "empty-last", "empty-middle"


@dataclass(frozen=True)
class Placement:
    """One way to run a case.

    ``place`` holds for every buffer, ``offsets`` (by role) for some; ``alias`` puts an output where its input lies.
    ``odd_states`` puts every state at an odd multiple of its alignment, so that it has no more than it asks for.
    ``cut`` is where the message is cut in two (bytes, 'last' or 'random'), ``chunk`` the length of equal pieces;
    ``empty`` puts a piece of no bytes behind all of it, or between two pieces ('empty-last', 'empty-middle').
    ``again`` runs all steps twice on the same state; ``unmask`` takes every capability away between two pieces.
    ``starter`` is another variant that starts the states, which have the same layout there.
    ``beyond`` is a role whose length is told with BEYOND bytes more than there are: the call must end at the
    inaccessible page behind them.
    """

    name: str
    place: Place = Place.FLUSH_AFTER
    offsets: dict[str, int] = field(default_factory=dict)
    odd_states: bool = False
    alias: bool = False
    cut: int | str | None = None
    chunk: int = 0
    empty: str = ""
    again: bool = False
    unmask: bool = False
    starter: str = ""
    beyond: str = ""

    @property
    def whole(self) -> bool:
        """Whether the message is one piece."""
        return self.cut is None and not self.chunk and not self.empty

    def pieces(self, case: Case, length: int, unit: int) -> list[int] | None:
        """Lengths of the pieces of a message of ``length`` bytes, all but the last multiples of ``unit``.

        None when this placement would not cut it.
        """
        if self.whole:
            return [length]
        if self.chunk:
            size = max(unit, self.chunk - self.chunk % unit)
            count = -(-length // size)
            return [size] * (count - 1) + [length - size * (count - 1)] if 1 < count <= MOST_PIECES else None
        if self.empty:
            return self._around_nothing(case, length, unit)
        if self.cut == _LAST:
            at = length - 1
        elif self.cut == _RANDOM:
            at = draw(f"{case.algorithm}.{case.name}.cut", length) if length else 0
        else:
            assert isinstance(self.cut, int)
            at = self.cut
        at -= at % unit
        return [at, length - at] if 0 <= at < length or (at == 0 and self.cut == 0) else None

    def _around_nothing(self, case: Case, length: int, unit: int) -> list[int] | None:
        """Pieces of which the last or the middle one is empty and the one before it is not; None when none fit."""
        if self.empty == _EMPTY_LAST:
            return [length, 0] if length and length % unit == 0 else None
        places = (length - 1) // unit  # between two pieces that both have bytes
        if places < 1:
            return None
        at = unit * (1 + draw(f"{case.algorithm}.{case.name}.empty", places))
        return [at, 0, length - at]


QUICK = (Placement("after"), Placement("before", Place.FLUSH_BEFORE))
"""Every buffer against the guard page behind it, and against the one before it: what every case gets."""


CUTS_OF_QUICK = (
    Placement(f"cut-{_RANDOM}-before", Place.FLUSH_BEFORE, cut=_RANDOM),
    Placement(f"cut-{_RANDOM}", cut=_RANDOM),
)
"""One cut somewhere, on the other side than the placement of QUICK with the same index: every case gets one."""


def named(name: str, every: Mapping[str, Placement]) -> Placement | None:
    """The placement called ``name``, of ``every`` by name, or a cut (``cut-N``, ``chunks-N``) that is not in there."""
    match = _OWN_CUT.fullmatch(name)
    if name in every or not match:
        return every.get(name)
    kind, size = match.group(1), int(match.group(2))
    return Placement(name, cut=size) if kind == "cut" else Placement(name, chunk=size)


def pointer_roles(interface: Interface, operation: Operation) -> tuple[str, ...]:
    """The roles of an operation's buffers that may lie anywhere: all but the states, whose alignment is theirs."""
    calls = (interface.calls[step.call] for step in operation.steps)
    roles = dict.fromkeys(arg.role for call in calls for arg in call.args if isinstance(arg, Pointer))
    return tuple(role for role in roles if role not in interface.states)


def all_placements(interface: Interface, operation: Operation, dispatched: bool) -> tuple[Placement, ...]:
    """Every placement that makes sense for ``operation``; ``dispatched`` when it goes through dispatch functions."""
    return (
        *QUICK,
        *_offsets(interface, operation),
        *_aliases(operation),
        *_cuts(interface, operation, dispatched),
        *beyond_placements(interface, operation),
    )


def beyond_placements(interface: Interface, operation: Operation) -> tuple[Placement, ...]:
    """One for each input or output of any length whose length a call of ``operation`` is told.

    An output that is longer or shorter than its input is left out: its length follows from the input's.
    """
    calls = (interface.calls[step.call] for step in operation.steps)
    roles = dict.fromkeys(arg.role for call in calls for arg in call.args if isinstance(arg, Length))
    return tuple(Placement(f"beyond-{role}", beyond=role) for role in roles if _open(operation, role))


def _open(operation: Operation, role: str) -> bool:
    size = operation.inputs.get(role) or operation.outputs[role]
    if size.like:
        return not size.extra and _open(operation, size.like)
    return size.minimum is not None and size.maximum is None


def _offsets(interface: Interface, operation: Operation) -> Iterator[Placement]:
    roles = pointer_roles(interface, operation)
    for offset in OFFSETS:
        yield Placement(f"all-offset-{offset}", Place.OFFSET, dict.fromkeys(roles, offset), odd_states=True)
        if len(roles) > 1:
            for role in roles:
                yield Placement(f"{role}-offset-{offset}", Place.OFFSET, {role: offset})


def _aliases(operation: Operation) -> Iterator[Placement]:
    if operation.alias:
        yield Placement("in-place-after", alias=True)
        yield Placement("in-place-before", Place.FLUSH_BEFORE, alias=True)
        inputs = [role for _, role in operation.alias]
        for offset in (1, 8, 15, 16, 32):
            yield Placement(f"in-place-offset-{offset}", Place.OFFSET, dict.fromkeys(inputs, offset), alias=True)


def _cuts(interface: Interface, operation: Operation, dispatched: bool) -> Iterator[Placement]:
    calls = [interface.calls[step.call] for step in operation.steps]
    stateful = any(arg.role in interface.states for call in calls for arg in call.args)
    ambiguous = any(role in operation.outputs for role in operation.inputs)
    if operation.split_role:
        unit = operation.split_unit
        cuts: list[int | str] = [*(at - at % unit for at in CUTS), _LAST, _RANDOM]
        for cut in dict.fromkeys(cuts):
            yield Placement(f"cut-{cut}", cut=cut)
        yield CUTS_OF_QUICK[0]
        for chunk in dict.fromkeys(max(unit, size - size % unit) for size in CHUNKS):
            yield Placement(f"chunks-{chunk}", chunk=chunk)
        if all(_may_be_empty(operation.inputs[role]) for role, _ in operation.splits):
            yield Placement(_EMPTY_LAST, empty=_EMPTY_LAST)
            yield Placement(_EMPTY_MIDDLE, empty=_EMPTY_MIDDLE)
        if operation.alias:
            yield Placement("in-place-cut-random", alias=True, cut=_RANDOM)
        if dispatched and stateful:
            yield Placement("unmask-random", cut=_RANDOM, unmask=True)
    if stateful and not ambiguous:
        yield Placement("again", again=True)


def _may_be_empty(size: Size) -> bool:
    """Whether an input, and so a piece of it, may have no bytes."""
    return size.minimum == 0 or 0 in size.choices


def rotating(placements: Sequence[Placement], turn: int, count: int) -> list[Placement]:
    """``count`` of ``placements``, others for each ``turn``, so that every one meets many cases."""
    return [placements[(turn * count + i) % len(placements)] for i in range(min(count, len(placements)))]
