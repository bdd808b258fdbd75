"""Generic edges: what the types of an operation's inputs alone call for (lengths, counters, fixed sizes)."""

from collections.abc import Iterable, Iterator

from matrix.cases.case import Draft, Tier
from matrix.cases.lengths import bulk_lengths, sweep_lengths
from matrix.cases.material import clip, fill, open_roles
from matrix.cases.placement import MOST_PIECES
from matrix.model.interface import Interface, Operation, Word

_ORIGIN = "edges"
_FIXED_CASES = 24
"""Cases of an operation that has neither an open range nor a word."""

BEYOND_16_BITS = (1 << 16) + 256 + 77
"""An input so long, down to a multiple of its unit, is counted wrong by 16 bits."""

MAX_BLOCKS = 33
"""A counter case is 1 to this many blocks long: one more than 8 lanes unrolled by four."""

SECOND_SWEEP_END = 300
"""Open inputs beside the one that is split (additional data, an HMAC key) are swept to this length only."""

COUNTERS = (
    *(0, 1, 1 << 31),
    *((1 << 31) - k for k in range(1, 9)),
    *((1 << 32) - k for k in range(1, 9)),
    # Low bytes 0xf0 to 0xff: a kernel that adds lane numbers to bytes or halves of a word loses a carry.
    *((0x5A00_FF00 if low % 2 else 0x00C0_FE00) | low for low in range(0xF0, 0x100)),
)
_SMOKE_COUNTERS = {
    (0xFFFFFFFE, 5),
    (0xFFFFFFFF, 2),
    (0xFFFFFFF8, 17),
    (0x7FFFFFFE, 9),
    (0x00C0FEFE, 4),
    (0xFFFFFFFD, 33),
}
_BOUNDARY_STARTS = {0, (1 << 31) - 1, (1 << 31) - 3, 0x5A00FFFF, *((1 << 32) - k for k in (1, 2, 3, 5, 8))}
_BOUNDARY_BLOCKS = {1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 17}


def generic_edges(interface: Interface, min_bytes: Iterable[int], exhaustive: bool) -> Iterator[Draft]:
    """The edges of every operation. ``min_bytes`` are the lengths from which variants are chosen.

    ``exhaustive`` gives every pair of counter and block count four endings instead of one.
    """
    limits = tuple(sorted(set(min_bytes)))
    for operation in interface.operations.values():
        prefix = f"{operation.name}-" if len(interface.operations) > 1 else ""
        yield from _length_edges(interface, operation, prefix, limits)
        yield from beyond_16_bits(interface, operation, prefix)
        yield from many_pieces(interface, operation, prefix)
        for role, size in operation.inputs.items():
            if size.word:
                yield from _word_edges(interface, operation, prefix, role, exhaustive)
        if not open_roles(operation):
            yield from _fixed_edges(interface, operation, prefix)


def _length_edges(interface: Interface, operation: Operation, prefix: str, limits: tuple[int, ...]) -> Iterator[Draft]:
    for position, role in enumerate(open_roles(operation)):
        size = operation.inputs[role]
        unit = operation.split_unit if role == operation.split_role else 1
        which = f"{role}-" if position else ""
        lengths = sweep_lengths(limits, unit) | bulk_lengths(limits, unit)
        for turn, (length, tier) in enumerate(lengths.items()):
            if position and length > SECOND_SWEEP_END and tier == "full":
                continue
            if length == clip(size, length):
                name = f"{prefix}len-{which}{length:04d}"
                label = f"{interface.algorithm}.{name}"
                yield Draft(name, operation.name, fill(operation, label, {role: length}, {}, turn), _ORIGIN, tier)


def beyond_16_bits(interface: Interface, operation: Operation, prefix: str) -> Iterator[Draft]:
    """Each open input with more bytes than 16 bits count: what they leave of the length is a short message."""
    for turn, role in enumerate(open_roles(operation)):
        length = clip(operation.inputs[role], BEYOND_16_BITS)
        if length >> 16:
            name = f"{prefix}long-{role}"
            inputs = fill(operation, f"{interface.algorithm}.{name}", {role: length}, {}, turn)
            yield Draft(name, operation.name, inputs, _ORIGIN, "full")


def many_pieces(interface: Interface, operation: Operation, prefix: str) -> Iterator[Draft]:
    """A message in more pieces than a byte counts, each as short as a piece may be."""
    if operation.splits:
        name, (_, unit) = f"{prefix}many-pieces", operation.splits[0]
        lengths = {role: MOST_PIECES * own for role, own in operation.splits}
        inputs = fill(operation, f"{interface.algorithm}.{name}", lengths, {}, 0)
        yield Draft(name, operation.name, inputs, _ORIGIN, "full", extra=(f"chunks-{unit}",))


def _word_edges(
    interface: Interface, operation: Operation, prefix: str, role: str, exhaustive: bool
) -> Iterator[Draft]:
    which = "ctr" if role == "counter" else role
    data, unit = _advanced_by(interface, operation, role)
    for turn, counter in enumerate(COUNTERS):
        for blocks in range(1, MAX_BLOCKS + 1) if data else (1,):
            for ending in range(4) if exhaustive else (0,):
                name = f"{prefix}{which}-{counter:08x}-b{blocks:02d}" + (f"-e{ending}" if ending else "")
                # Endings differ from one case to the next: whole, one byte short, one byte long, ragged.
                missing = (0, 1, unit - 1, (5 * turn + 7 * blocks) % unit)[(turn + blocks + ending) % 4]
                lengths = {data: max(0, blocks * unit - missing)} if data else {}
                inputs = fill(operation, f"{interface.algorithm}.{name}", lengths, {role: counter}, turn + blocks)
                tier = "full" if ending else _counter_tier(counter, blocks)
                yield Draft(name, operation.name, inputs, _ORIGIN, tier)


def _advanced_by(interface: Interface, operation: Operation, role: str) -> tuple[str, int]:
    """The input whose bytes move the word ``role`` on, and the bytes of one count; ('', 1) when none does."""
    for step in operation.steps:
        for arg in interface.calls[step.call].args:
            if isinstance(arg, Word) and arg.role == role and arg.advance_by:
                return arg.advance_by, arg.unit
    return "", 1


def _counter_tier(counter: int, blocks: int) -> Tier:
    if (counter, blocks) in _SMOKE_COUNTERS:
        return "smoke"
    return "boundary" if counter in _BOUNDARY_STARTS and blocks in _BOUNDARY_BLOCKS else "full"


def _fixed_edges(interface: Interface, operation: Operation, prefix: str) -> Iterator[Draft]:
    for turn in range(_FIXED_CASES):
        name = f"{prefix}fix-{turn:04d}"
        tier: Tier = "smoke" if turn < 4 else "boundary"
        inputs = fill(operation, f"{interface.algorithm}.{name}", {}, {}, turn)
        yield Draft(name, operation.name, inputs, _ORIGIN, tier)
