"""Hard inputs of X25519: coordinates and scalars at every limit where a carry or the last reduction can be lost.

Points whose product is a chosen coordinate are found by inverting the scalar modulo the order of the group; the
answers come from the oracle.
"""

from collections.abc import Iterable, Iterator

from matrix.cases.case import Draft, Tier
from matrix.cases.material import draw, stream
from matrix.cases.x25519_steps import FIRST_STEP, carried_values, multiples_that_carry, point_doubled_to
from matrix.model.interface import Interface
from matrix.oracles.spec_x25519 import BITS, P, decode_scalar, ladder

_ORIGIN = "x25519 edges"

CURVE_ORDER = (1 << 252) + 27742317777372353535851937790883648493
"""The prime that divides the order 8 * CURVE_ORDER of the curve (RFC 7748 4.1)."""
TWIST_ORDER = (2 * (P + 1) - 8 * CURVE_ORDER) // 4
"""The prime that divides the order of the twist: the two orders add up to 2 (P + 1)."""
ORDER_8 = (
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
)
"""The u coordinates of the points of order 8; 0 has order 2, and 1 and P - 1 have order 4."""
RADICES: dict[str, tuple[int, ...]] = {
    "r25": tuple(26 - k % 2 for k in range(10)),
    "r51": (51,) * 5,
    "r64": (64,) * 4,
}
"""Bits of each limb, the lowest first, of published kernels: radix 2^25.5, 2^51 and 2^64."""
_TOP = 1 << BITS
_KNOWN_SCALAR = bytes.fromhex("288796bc5aff4b81a37501757bc0753a3c21964790d38699308debc17a6eaf8d")
"""With u = 2^255 - 16 the last reduction of a published ADX kernel went wrong."""
_SCALARS = 4
_FUZZ_CASES = 32
_ATTEMPTS = 100
"""About three numbers in sixteen are products."""


def edges(interface: Interface) -> Iterator[Draft]:
    """Drafts of the operation ``scalarmult`` (scalar[32], point[32])."""
    yield _draft("known-adx-reduction", _KNOWN_SCALAR, _TOP - 16, "smoke")
    yield from _special_points()
    yield from _chosen_results()
    yield from _result_carries()
    yield from results_near_p(RADICES)
    yield from _first_doubles()
    yield from _first_steps()
    yield from _limb_points()
    yield from _special_scalars()
    yield from _structured()


def point_to(result: int, scalar: bytes) -> int | None:
    """The u coordinate whose product with ``scalar`` is ``result``, or None when no point has that product.

    A clamped scalar is a multiple of 8, so only coordinates of points of prime order are products.
    """
    for order in (CURVE_ORDER, TWIST_ORDER):
        # One more than the order gives the point back. (The order itself gives 0 for twice the order too.)
        if ladder(order + 1, result) == result:
            return ladder(pow(decode_scalar(scalar), -1, order), result)
    return None


def results() -> dict[str, int]:
    """Products to aim at, by name: 1 to 18, which have a second form below 2^255, P-k, and ``limb_values``."""
    return {f"p{k}": k for k in range(1, 19)} | {f"m{k}": P - k for k in range(1, 19)} | limb_values()


def limb_values() -> dict[str, int]:
    """Numbers below 2^255 by name: one limb of all ones, the others 0, and limbs of all ones and 0 in turn."""
    values: dict[str, int] = {}
    for radix, sizes in RADICES.items():
        ones, turns = [], [0, 0]
        at = 0
        for position, bits in enumerate(sizes):
            ones.append(((1 << bits) - 1) << at)
            turns[position % 2] |= ones[-1]
            at += bits
        values |= {f"{radix}-ones{position}": value % _TOP for position, value in enumerate(ones)}
        values |= {f"{radix}-even": turns[0] % _TOP, f"{radix}-odd": turns[1] % _TOP}
    return values


def structured(label: str, sizes: tuple[int, ...]) -> int:
    """A number whose limbs are each 0, 1, all ones, all ones but one, or random."""
    number = at = 0
    for position, bits in enumerate(sizes):
        own = f"{label}.{position}"
        ones = (1 << bits) - 1
        number |= (0, 1, ones, ones - 1, draw(own, 1 << bits))[draw(f"{own}.shape", 5)] << at
        at += bits
    return number


def _scalar(turn: int) -> bytes:
    """One of a few ordinary scalars; the bits that clamping changes differ among them."""
    return stream(f"x25519.scalar{turn % _SCALARS}", 32)


def _draft(name: str, scalar: bytes, point: int, tier: Tier) -> Draft:
    return Draft(name, "scalarmult", {"scalar": scalar, "point": point.to_bytes(32, "little")}, _ORIGIN, tier)


def _special_points() -> Iterator[Draft]:
    """Coordinates around 0 and P, all 19 that are not canonical, points of low order; each also with bit 255."""
    points = {f"p{k}": k for k in range(3)} | {f"m{k}": P - k for k in (2, 1)}
    points |= {f"above{k:02d}": P + k for k in range(19)} | {f"order8-{k}": u for k, u in enumerate(ORDER_8)}
    for turn, (name, point) in enumerate(points.items()):
        smoke = name in ("above00", "order8-0")
        yield _draft(f"point-{name}", _scalar(turn), point, "smoke" if smoke else "boundary")
        tier: Tier = "boundary" if turn % 4 == 0 else "full"
        yield _draft(f"point-{name}-bit255", _scalar(turn + 1), point | _TOP, tier)


def _chosen_results() -> Iterator[Draft]:
    """Every result of ``results`` that is a product; those that a missing last reduction spoils with each scalar."""
    for turn, (name, result) in enumerate(results().items()):
        for k in range(_SCALARS if result < 19 else 1):
            scalar = _scalar(turn + k)
            point = point_to(result, scalar)
            if point is not None:
                yield _draft(f"result-{name}-s{k}", scalar, point, "smoke" if k == 0 and result < 19 else "boundary")


def _result_carries() -> Iterator[Draft]:
    """Results of 0 to 18 above the border of two limbs: the 19 of a last reduction carries across the border."""
    borders = {sum(sizes[:count]): radix for radix, sizes in RADICES.items() for count in range(1, len(sizes))}
    for turn, (border, radix) in enumerate(sorted(borders.items())):
        # A number of 256 bits has several forms; which one a kernel ends with changes with the scalar.
        for k in range(_SCALARS if radix == "r64" else 1):
            scalar = _scalar(turn + k)
            points = (point_to((1 << border) + above, scalar) for above in range(19))
            point = next(point for point in points if point is not None)
            yield _draft(f"result-carry{border}-s{k}", scalar, point, "boundary" if k == 0 else "full")


def results_near_p(radices: Iterable[str]) -> Iterator[Draft]:
    """Results of which all limbs are full but one: whoever overlooks that one, or some of its bits, subtracts P.

    Of the one limb all bits are drawn, or all but one or only one are ones: whatever bit alone is looked at, there is
    a result that lacks it, and one that has no other.
    """
    for radix in radices:
        sizes = RADICES[radix]
        for position, size in enumerate(sizes):
            low = sum(sizes[:position])
            bits = min(size, BITS - low)
            ones = (1 << bits) - 1
            for shape in ("drawn", "lacks", "has"):
                name = f"result-near-{radix}-{position}-{shape}"
                scalar = _scalar(position)
                for attempt in range(_ATTEMPTS):
                    bit = 1 << draw(f"{name}.bit{attempt}", bits)
                    limb = {"drawn": draw(f"{name}.{attempt}", ones), "lacks": ones - bit, "has": bit}[shape]
                    result = _TOP - 1 - (ones << low) + (limb << low)
                    point = point_to(result, scalar) if result < P else None
                    if point is not None:
                        yield _draft(name, scalar, point, "boundary" if shape == "lacks" else "full")
                        break


def _first_doubles() -> Iterator[Draft]:
    """Points in whose doubling a sum of products is small: its last carries have odds of 2^-230 otherwise."""
    for turn, value in enumerate((0, 1, 18, 19, 37, 38, 39, 40, 76, 255, 1 << 12, 1 << 16, P - 1, P - 19, P - 38)):
        near = (point_doubled_to((value + step) % P) for step in range(8))
        point = next((found for found in near if found is not None), None)
        if point is not None:
            yield _draft(f"double-{turn:02d}", _scalar(turn), point, "boundary" if turn % 2 else "full")


def _first_steps() -> Iterator[Draft]:
    """Points whose first ladder step brings about values with limbs of all ones or 0, and carries that run far."""
    values = limb_values() | carried_values()
    drafts = [
        (f"step-{name}-{value_name}", point)
        for name, solve in FIRST_STEP.items()
        for value_name, value in values.items()
        if (point := solve(value % P)) is not None
    ]
    drafts += [(f"step-e-{name}", FIRST_STEP["e"](value % P) or 0) for name, value in multiples_that_carry()]
    for turn, (name, point) in enumerate(drafts):
        yield _draft(name, _scalar(turn), point, "boundary" if turn % 8 == 0 else "full")


def _limb_points() -> Iterator[Draft]:
    """Each of ``limb_values`` as the coordinate."""
    for turn, (name, point) in enumerate(limb_values().items()):
        yield _draft(f"limb-{name}", _scalar(turn), point, "boundary" if turn % 3 == 0 else "full")


def _special_scalars() -> Iterator[Draft]:
    """Scalars whose bits decide swaps: none, all, single ones, every other one, runs; at u = 9 and a random u."""
    single = {f"bit{k:03d}": 1 << k for k in (3, 31, 32, 63, 64, 127, 128, 191, 192, 253)}
    patterns = {"55": "55" * 32, "aa": "aa" * 32, "00ff": "00ff" * 16, "33": "33" * 32, "c7": "c7" * 32}
    scalars = {"zero": 0, "ones": (1 << 256) - 1, "low": 7, "bit255": _TOP, **single}
    scalars |= {name: int(text, 16) for name, text in patterns.items()}
    for turn, (name, scalar) in enumerate(scalars.items()):
        point = int.from_bytes(stream(f"x25519.point{turn}", 32), "little") % _TOP if turn % 2 else 9
        tier: Tier = "boundary" if turn % 3 == 0 else "full"
        yield _draft(f"scalar-{name}", scalar.to_bytes(32, "little"), point, tier)


def _structured() -> Iterator[Draft]:
    """Coordinates and scalars whose limbs are each 0, 1, all ones, all ones but one, or random."""
    for index in range(_FUZZ_CASES):
        sizes = list(RADICES.values())[index % len(RADICES)]
        label = f"x25519.limbs-{index:04d}"
        point = structured(label, sizes)
        scalar = structured(f"{label}.scalar", RADICES["r64"]).to_bytes(32, "little")
        yield _draft(f"limbs-{index:04d}", scalar, point, "boundary" if index < 6 else "full")
