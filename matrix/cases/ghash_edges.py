"""Hard inputs of GHASH: H, y and blocks of special form, every number of blocks around unrolled loops."""

from collections.abc import Iterator

from matrix.cases.case import Draft, Tier
from matrix.cases.material import distinct, draw, stream
from matrix.cases.randomized import structured_bytes
from matrix.model.interface import Interface
from matrix.oracles.spec_ghash import ONE, inverse, multiply

_ORIGIN = "ghash edges"
_ZERO, _ONES = bytes(16), b"\xff" * 16

_EVERY_COUNT = 300
"""Every number of blocks up to this one is tried."""
_BOUNDARY_COUNTS = {*range(10), 11, 12, 13, 15, 16, 17, 23, 24, 25, 31, 32, 33, 63, 64, 65, 128, 256, 257}
_SMOKE_COUNTS = {1, 7, 8, 9, 17, 33}
_FEW_COUNTS = (1, 2, 7, 8, 9, 15, 16, 17, 41)
_STRUCTURED_CASES = 96


def edges(interface: Interface) -> Iterator[Draft]:
    """Drafts of the operation ``hash`` (h[16], y[16], whole blocks)."""
    yield from _counts()
    yield from _special_keys()
    yield from _single_bits()
    yield from _results()
    yield from _structured()


def element(number: int) -> bytes:
    """The block of an element: bit 127 of the number is x^0."""
    return number.to_bytes(16, "big")


def special_keys() -> dict[str, bytes]:
    """H by name: 0, powers of x around the halves and the reduction, all ones, one half empty."""
    powers = (0, 1, 2, 6, 7, 8, 31, 32, 57, 62, 63, 64, 65, 95, 96, 120, 121, 126, 127)
    found = {f"x{k}": element(ONE >> k) for k in powers}
    found |= {"zero": _ZERO, "ones": _ONES, "first": b"\xff" * 8 + bytes(8), "last": bytes(8) + b"\xff" * 8}
    found |= {"even": b"\x55" * 16, "odd": b"\xaa" * 16, "inverse": element(inverse(ONE >> 1))}
    # A nibble or a bit of every fourth alone: columns of integer products reach their largest sum.
    found |= {f"every4.{k}": bytes([0x11 << k]) * 16 for k in range(4)}
    return found


def _draft(name: str, h: bytes, y: bytes, data: bytes, tier: Tier) -> Draft:
    return Draft(name, "hash", {"h": h, "y": y, "data": data}, _ORIGIN, tier)


def _counts() -> Iterator[Draft]:
    """Every number of blocks with one key; all blocks differ, so that an exchanged power of H shows."""
    h = distinct("ghash.h", 16)
    for count in range(_EVERY_COUNT + 1):
        tier: Tier = "smoke" if count in _SMOKE_COUNTS else "boundary" if count in _BOUNDARY_COUNTS else "full"
        label = f"blocks-{count:03d}"
        yield _draft(label, h, distinct(f"ghash.{label}.y", 16), stream(f"ghash.{label}", 16 * count), tier)


def _special_keys() -> Iterator[Draft]:
    """Each special H with y and blocks that are zero, all ones, the same special element, and ordinary."""
    keys = special_keys()
    for turn, (name, h) in enumerate(keys.items()):
        for place, count in enumerate(_FEW_COUNTS):
            label = f"key-{name}-b{count:02d}"
            tier: Tier = "boundary" if place == turn % len(_FEW_COUNTS) else "full"
            if name in ("every4.0", "x127") and count == 8:
                tier = "smoke"
            y = (_ONES, _ZERO, h, distinct(f"{label}.y", 16))[(turn + place) % 4]
            yield _draft(f"{label}-ones", h, y, _ONES * count, tier)
            yield _draft(f"{label}-data", h, y, stream(label, 16 * count), tier)
            other = list(keys.values())[(turn + 7 * place + 1) % len(keys)]
            yield _draft(f"{label}-special", h, _ZERO, (other + h) * (count // 2) + other * (count % 2), "full")


def _single_bits() -> Iterator[Draft]:
    """One bit of y or of the last of some blocks, with one bit of H or an ordinary H: each bit's own way."""
    ordinary = distinct("ghash.bits.h", 16)
    for bit in range(128):
        one = element(ONE >> bit)
        tier: Tier = "boundary" if bit % 8 == 5 else "full"
        yield _draft(f"bit-y-{bit:03d}", ordinary, one, _ZERO, tier)
        yield _draft(f"bit-h-{bit:03d}", one, _ZERO, ordinary, "full")
        yield _draft(f"bit-last-{bit:03d}", ordinary, _ZERO, _ZERO * (bit % 17) + one, "full")
        yield _draft(f"bit-first-{bit:03d}", ordinary, _ZERO, one + _ZERO * (bit % 19), tier)
        yield _draft(f"bit-both-{bit:03d}", element(ONE >> (bit * 37 + 5) % 128), one, _ZERO, "full")


def _results() -> Iterator[Draft]:
    """Last values of 0, 1, x^127 and all ones, by a last block that is solved for."""
    for turn, (name, target) in enumerate({"zero": 0, "one": ONE, "x127": 1, "ones": (1 << 128) - 1}.items()):
        for count in _FEW_COUNTS:
            label = f"result-{name}-b{count:02d}"
            h = distinct(f"{label}.h", 16)
            key = int.from_bytes(h, "big")
            head = stream(label, 16 * (count - 1))
            before = 0
            for start in range(0, len(head), 16):
                before = multiply(before ^ int.from_bytes(head[start : start + 16], "big"), key)
            last = element(multiply(target, inverse(key)) ^ before)
            yield _draft(label, h, _ZERO, head + last, "boundary" if count == _FEW_COUNTS[2 * turn] else "full")


def _structured() -> Iterator[Draft]:
    """H, y and blocks made of runs of zeros, ones and random bytes."""
    for index in range(_STRUCTURED_CASES):
        label = f"runs-{index:03d}"
        h, y = structured_bytes(f"ghash.{label}.h", 16), structured_bytes(f"ghash.{label}.y", 16)
        data = structured_bytes(f"ghash.{label}.data", 16 * draw(f"ghash.{label}", 40))
        yield _draft(label, h, y, data, "boundary" if index < 8 else "full")
