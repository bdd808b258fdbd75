"""Random cases: inputs and lengths drawn from a seed, half of them from runs of extreme bytes."""

from collections.abc import Iterator

from matrix.cases.case import Draft, Inputs, Tier
from matrix.cases.lengths import drawn_lengths
from matrix.cases.material import clip, draw, fill, open_roles, stream
from matrix.model.interface import Interface, Operation

DEFAULT_COUNT = 200
EXHAUSTIVE_COUNT = 2000
_LENGTH_BITS = 13
"""Lengths are below 2^13, small ones as likely as large ones; long messages are cases of their own."""
_LONG_SECOND = 9
"""Of an open input beside the message, one in this many of the drawn lengths is tried."""
_SMOKE, _BOUNDARY = 2, 12


def random_cases(interface: Interface, seed: int, exhaustive: bool) -> Iterator[Draft]:
    """DEFAULT_COUNT cases of each operation (EXHAUSTIVE_COUNT when ``exhaustive``) and long ones, fixed by ``seed``."""
    for operation in interface.operations.values():
        prefix = f"{operation.name}-" if len(interface.operations) > 1 else ""
        for index in range(EXHAUSTIVE_COUNT if exhaustive else DEFAULT_COUNT):
            name = f"{prefix}rand-{index:04d}"
            inputs = _inputs(operation, f"{seed}.{interface.algorithm}.{name}", structured=index % 2 == 1)
            tier: Tier = "smoke" if index < _SMOKE else "boundary" if index < _BOUNDARY else "full"
            yield Draft(name, operation.name, inputs, f"random seed={seed}", tier)
        yield from _long_cases(interface, operation, prefix, seed)


def _long_cases(interface: Interface, operation: Operation, prefix: str, seed: int) -> Iterator[Draft]:
    """Inputs of 4 KiB to LONGEST, one at a time: the message in every drawn length, the others in a few."""
    for position, role in enumerate(open_roles(operation)):
        size, which = operation.inputs[role], f"{role}-" if position else ""
        lengths = drawn_lengths(f"{seed}.{interface.algorithm}.{prefix}bulk-{which}")
        for index in range(position and _LONG_SECOND // 2, len(lengths), _LONG_SECOND if position else 1):
            length = lengths[index] - lengths[index] % size.multiple
            if length == clip(size, length):
                name = f"{prefix}bulk-{which}{index:02d}"
                label = f"{seed}.{interface.algorithm}.{name}"
                words = {word: _word(f"{label}.{word}") for word, kind in operation.inputs.items() if kind.word}
                inputs = fill(operation, label, {role: length}, words, draw(label, 1 << 16))
                yield Draft(name, operation.name, inputs, f"random seed={seed}", "full")


def _inputs(operation: Operation, label: str, structured: bool) -> Inputs:
    lengths, words = {}, {}
    for role, size in operation.inputs.items():
        own = f"{label}.{role}"
        if size.word:
            words[role] = _word(own)
        elif size.minimum is not None:
            lengths[role] = clip(size, draw(f"{own}.low", 1 << draw(f"{own}.bits", _LENGTH_BITS + 1)))
    maker = structured_bytes if structured else stream
    return fill(operation, label, lengths, words, draw(label, 1 << 16), (maker, maker))


def _word(label: str) -> int:
    """A 32-bit number; every fourth lies within 64 of a multiple of 2^31."""
    if draw(f"{label}.near", 4):
        return draw(label, 1 << 32)
    return ((draw(f"{label}.top", 2) << 31) + draw(label, 129) - 64) % (1 << 32)


def structured_bytes(label: str, length: int) -> bytes:
    """``length`` bytes made of runs of 1 to 16: all zero, all ones, or random."""
    noise, shape = stream(label, length), stream(f"{label}.shape", length)
    out = bytearray()
    for byte in shape:
        run = 1 + byte % 16
        filler = (b"\x00" * run, b"\xff" * run, noise[len(out) : len(out) + run])[byte // 16 % 3]
        out += filler
        if len(out) >= length:
            break
    return bytes(out[:length])
