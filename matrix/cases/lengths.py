"""Which lengths of an open input are tried, and in which tier."""

from collections.abc import Iterable
from itertools import pairwise

from matrix.cases.case import Tier
from matrix.cases.material import draw
from matrix.worker.protocol import SLOT_BYTES

SWEEP_END = 2100
"""Every length from 0 to this one is tried."""
BULK_END = 64 * 1024
"""No length of a fixed list is longer than this."""
LONGEST = SLOT_BYTES - 4096
"""No generated input is longer than this; an output of some bytes more, and offsets, fit into a worker's slot."""

_STRADDLE = (16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
"""Where kernels change path: block sizes, unrollings of published kernels, multiples of eight blocks."""
_BULK_POINTS = (2304, 2560, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152, 65536)
_BULK_UNROLLS = (192, 320, 384, 640, 768)
"""Unrollings whose multiples are not among the powers of two."""
_FIRST_OCTAVE, _OCTAVES, _PER_OCTAVE = 4096, 4, 6
_BEYOND = 3
"""Drawn lengths between BULK_END and LONGEST."""
_TAILS, _TAIL_STRIDE = 256, 7
"""Remainders by this are drawn evenly, so those by every smaller power of two are; the stride mixes them with sizes."""
_SMOKE = (0, 1, 16, 63, 64, 65, 129, 255, 256, 257, 1031)
_SMOKE_BULK = 4099
_BOUNDARY_BULK = (4095, 4096, 4097, 8191, 16385, 24575, 24576, 24577, 32768)


def sweep_lengths(min_bytes: Iterable[int], unit: int) -> dict[int, Tier]:
    """Every length from 0 to SWEEP_END with its tier. ``unit`` is the bytes of a block of a split message."""
    smoke, boundary = _smoke_lengths(min_bytes), _boundary_lengths(min_bytes, unit)
    return {length: _tier(length, smoke, boundary) for length in range(SWEEP_END + 1)}


def bulk_lengths(min_bytes: Iterable[int], unit: int) -> dict[int, Tier]:
    """Lengths from SWEEP_END to BULK_END around blocks, unrollings and ``min_bytes``, with their tier."""
    lengths = {point + step for point in _BULK_POINTS for step in (-1, 0, 1)}
    lengths |= {point + step for point in _BULK_POINTS if point <= 32768 for step in (-unit, unit)}
    for unroll in _BULK_UNROLLS:
        for above in (SWEEP_END, 4 * SWEEP_END):
            multiple = (above // unroll + 2) * unroll
            lengths |= {multiple - 1, multiple, multiple + 1}
    for limit in min_bytes:
        lengths |= {limit + step for step in (-unit, -1, 0, 1, unit)}
    smoke = {_SMOKE_BULK, *_smoke_lengths(min_bytes)}
    boundary = {*_BOUNDARY_BULK, *_boundary_lengths(min_bytes, unit)}
    lengths |= smoke | boundary
    return {length: _tier(length, smoke, boundary) for length in sorted(lengths) if SWEEP_END < length <= BULK_END}


def drawn_lengths(label: str) -> list[int]:
    """Lengths from 4 KiB to LONGEST fixed by ``label``: as many in each octave up to BULK_END, a few beyond it.

    They are spread over all remainders by _TAILS, other than the lists, which stay around blocks and unrollings.
    """
    starts = []
    for octave in range(_OCTAVES):
        width = (_FIRST_OCTAVE << octave) // _PER_OCTAVE
        starts += [((_FIRST_OCTAVE << octave) + width * part, width) for part in range(_PER_OCTAVE)]
    width = (LONGEST - BULK_END) // _BEYOND
    starts += [(BULK_END + width * part, width) for part in range(_BEYOND)]
    lengths = []
    for index, (start, width) in enumerate(starts):
        tail = (_TAILS * (_TAIL_STRIDE * index % len(starts)) + draw(f"{label}.tail{index}", _TAILS)) // len(starts)
        whole = draw(f"{label}.whole{index}", width // _TAILS)
        lengths.append(_TAILS * (-(-start // _TAILS) + whole) + tail)
    return lengths


def _smoke_lengths(min_bytes: Iterable[int]) -> set[int]:
    """A few lengths for each class: the classes are cut where a variant starts to be chosen."""
    limits = sorted(set(min_bytes) - {0})
    around = {limit + step for limit in limits for step in (-1, 0, 1)}
    between = {(low + high) // 2 for low, high in pairwise(limits)}
    return {*_SMOKE, *around, *between}


def _boundary_lengths(min_bytes: Iterable[int], unit: int) -> set[int]:
    straddled = {point + step for point in _STRADDLE for step in (-1, 0, 1)}
    limits = {limit + step for limit in min_bytes for step in (-unit, -1, 0, 1, unit)}
    return {length for length in straddled | limits | set(range(18)) if length >= 0}


def _tier(length: int, smoke: set[int], boundary: set[int]) -> Tier:
    return "smoke" if length in smoke else "boundary" if length in boundary else "full"
