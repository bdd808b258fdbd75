"""Deterministic test bytes: asymmetric, not periodic, the same on every machine and Python version."""

import hashlib
from collections.abc import Callable

from matrix.cases.case import Inputs
from matrix.model.interface import Operation, Size

Maker = Callable[[str, int], bytes]
"""Makes bytes from a label and a length."""

DISTINCT_LIMIT = 64
"""Up to this many bytes all bytes of an input differ from each other."""


def stream(label: str, length: int) -> bytes:
    """``length`` bytes that depend on ``label`` only; no two blocks or lanes repeat."""
    return hashlib.shake_128(label.encode()).digest(length)


def draw(label: str, bound: int) -> int:
    """A number in ``0 <= n < bound`` that depends on ``label`` only (bound far below 2^64)."""
    return int.from_bytes(stream(label, 16), "little") % bound


def distinct(label: str, length: int) -> bytes:
    """``length`` bytes, pairwise different up to DISTINCT_LIMIT of them, so that no swap is invisible."""
    if length > DISTINCT_LIMIT:
        return stream(label, length)
    return bytes(dict.fromkeys(stream(label, 8 * DISTINCT_LIMIT)))[:length]


def open_roles(operation: Operation) -> tuple[str, ...]:
    """The inputs with an open range of lengths, the message first.

    That is the one that is split into pieces, else one that an output is as long as."""
    roles = [role for role, size in operation.inputs.items() if size.minimum is not None]
    followed = {size.like for size in operation.outputs.values()}
    return tuple(sorted(roles, key=lambda role: (role != operation.split_role, role not in followed)))


def clip(size: Size, length: int) -> int:
    """``length`` moved into the range of an open ``size``, down to a multiple of what it must be a multiple of."""
    low = size.minimum or 0
    wanted = max(low, length if size.maximum is None else min(length, size.maximum))
    return wanted - wanted % size.multiple


def fill(
    operation: Operation,
    label: str,
    lengths: dict[str, int],
    words: dict[str, int],
    turn: int,
    makers: tuple[Maker, Maker] = (distinct, stream),
) -> Inputs:
    """Inputs for ``operation``: the given lengths and words, everything else derived from ``label``.

    ``turn`` counts through all combinations of fixed sizes. An open input without a given length has 0 to 79
    bytes. ``makers`` make the bytes of inputs of fixed and of open size.
    """
    inputs: Inputs = {}
    fixed, ranged = makers
    for role, size in operation.inputs.items():
        own = f"{label}.{role}"
        if size.word:
            inputs[role] = words.get(role, draw(own, 1 << 32))
        elif size.choices:
            turn, choice = divmod(turn, len(size.choices))
            inputs[role] = fixed(own, size.choices[choice])
        elif size.minimum is not None:
            inputs[role] = ranged(own, lengths.get(role, clip(size, draw(f"{own}.length", 80))))
    for role, size in operation.inputs.items():
        if size.like:
            inputs[role] = ranged(f"{label}.{role}", byte_count(inputs[size.like]) + size.extra)
    return {role: inputs[role] for role in operation.inputs}


def byte_count(value: bytes | int) -> int:
    """Number of bytes of an input; a word has four."""
    return 4 if isinstance(value, int) else len(value)
