"""Hard inputs of Poly1305: accumulators at and around every limit where a carry or a reduction can be lost.

Blocks that take the accumulator to a target are solved for modulo P; the answers come from the oracle.
"""

from collections.abc import Iterator

from matrix.cases.case import Draft, Inputs, Tier
from matrix.cases.material import distinct, draw, stream
from matrix.model.interface import Interface
from matrix.oracles.spec_poly1305 import CLAMP, P, accumulate

_ORIGIN = "poly1305 edges"

LIMB_BITS = (26, 32, 44, 64)
"""Limb sizes of published kernels: five of 26 bits, four of 32, three of 44, two of 64 (and two bits)."""
_FIELD = (1 << 130) - 1
_ZERO_S, _ONES_S = bytes(16), b"\xff" * 16

_RAW_LENGTHS = (
    *(
        0,
        1,
        15,
        16,
        17,
        31,
        32,
        33,
        47,
        48,
        49,
        63,
        64,
        65,
        79,
        96,
        112,
        127,
        128,
        129,
        144,
        160,
        191,
        192,
        193,
    ),
    *(255, 256, 257, 320, 384, 511, 512, 513, 640, 768, 912, 1023, 1024, 1025, 1040, 2048, 4096),
)
_RAW_BOUNDARY = {16, 64, 129, 256, 912, 1024}
_BLOCKS = (3, 6, 9, 17, 33)
_LANES = (2, 4, 8)
_POWERS = (2, 3, 4, 8)
_POWER_TRIES = 4096
_STRUCTURED_CASES = 64
_ATTEMPTS = 256


def edges(interface: Interface) -> Iterator[Draft]:
    """Drafts of the operation ``mac`` (key[32] = r | s, data)."""
    yield from _raw_messages()
    yield from _last_reductions()
    yield from _accumulators()
    yield from _lane_accumulators()
    yield from _extreme_powers()
    yield from _structured()
    yield from _cuts()


def targets() -> dict[str, int]:
    """Accumulators in 0..P-1 by name: around 0, P, 2^128 and each limb limit, limbs of all ones and zeros."""
    found = {f"zero.p{k}": k for k in range(6)} | {f"prime.m{k}": P - k for k in range(1, 6)}
    found |= _around("e128", 128, 5)
    for bits in LIMB_BITS:
        ones = (1 << bits) - 1
        for position in range(0, 130, bits):
            if position:
                found |= _around(f"e{position}", position, 1)
            found[f"ones{bits}.{position}"] = ((ones << position) & _FIELD) % P
            found[f"hole{bits}.{position}"] = (_FIELD & ~(ones << position)) % P
        alternating = sum(ones << position for position in range(0, 130, 2 * bits))
        found[f"even{bits}"] = (alternating & _FIELD) % P
        found[f"odd{bits}"] = ((alternating << bits) & _FIELD) % P
    return found


def _around(name: str, exponent: int, reach: int) -> dict[str, int]:
    """2^exponent and its neighbours up to ``reach`` away."""
    offsets = range(-reach, reach + 1)
    return {f"{name}.{'m' if k < 0 else 'p'}{abs(k)}": (1 << exponent) + k for k in offsets}


def multipliers() -> dict[str, int]:
    """Values of r by name: 1 and 2 (products stay near 2^130 unreduced), the clamp limit, ordinary ones."""
    ordinary = {f"r{k}": int.from_bytes(stream(f"poly1305.r{k}", 16), "little") & CLAMP for k in range(3)}
    return {"one": 1, "two": 2, "limit": CLAMP, **ordinary}


def block_to(target: int, accumulator: int, r: int) -> bytes | None:
    """The block of 16 bytes that takes ``accumulator`` to ``target`` modulo P, or None when none does."""
    number = (target * pow(r, -1, P) - accumulator) % P
    return (number - (1 << 128)).to_bytes(16, "little") if number >> 128 == 1 else None


def message_to(target: int, r: int, before: int, label: str) -> bytes:
    """At least ``before`` blocks and one more, after which the accumulator is ``target``.

    Only about one accumulator in four allows a whole block, so the blocks before are drawn anew until one
    does; with small r two of them are needed, so later attempts have more. ValueError when none is found.
    """
    for attempt in range(_ATTEMPTS):
        head = stream(f"{label}.{attempt}", 16 * (before + attempt // 64))
        last = block_to(target, accumulate(r, head), r)
        if last is not None:
            return head + last
    raise ValueError(f"no message found that takes the accumulator to {target:#x} with r = {r:#x}")


def lanes_to(target: int, r: int, lanes: int, label: str) -> bytes:
    """Two rounds of ``lanes`` blocks after which each lane, which multiplies by r^lanes, holds ``target``."""
    power = pow(r, lanes, P)
    rounds = [message_to(target, power, 1, f"{label}.lane{lane}") for lane in range(lanes)]
    length = max(map(len, rounds))
    if any(len(lane) != length for lane in rounds):
        raise ValueError(f"lanes of unequal length for r = {r:#x}")
    return b"".join(lane[start : start + 16] for start in range(0, length, 16) for lane in rounds)


def limbs(label: str, bits: int) -> int:
    """A number of 128 bits whose limbs of ``bits`` bits are each 0, all ones or random."""
    number = 0
    for index, position in enumerate(range(0, 128, bits)):
        own = f"{label}.{index}"
        limb = (0, (1 << bits) - 1, draw(own, 1 << bits))[draw(f"{own}.shape", 3)]
        number |= limb << position
    return number & ((1 << 128) - 1)


def _draft(name: str, r: int, s: bytes, data: bytes, tier: Tier) -> Draft:
    return Draft(name, "mac", {"key": r.to_bytes(16, "little") + s, "data": data}, _ORIGIN, tier)


def _cuts() -> Iterator[Draft]:
    """Messages cut behind each number of whole blocks up to 16, two blocks before their end: 208 as 176 and 32, ...

    What a kernel has begun with wide steps it must go on with narrow ones, and the first piece decides how wide.
    """
    for blocks in range(1, 17):
        key = distinct(f"poly1305.cut-{blocks}.key", 32)
        inputs: Inputs = {"key": key, "data": stream(f"poly1305.cut-{blocks}", 16 * blocks + 32)}
        yield Draft(f"cut-{16 * blocks:03d}", "mac", inputs, _ORIGIN, "boundary", extra=(f"cut-{16 * blocks}",))


def _raw_messages() -> Iterator[Draft]:
    """Messages of one repeated byte at the clamp limit, with r = 1, with r = 0 and with an ordinary key."""
    keys = {
        "limit": (CLAMP, _ZERO_S),
        "one": (1, _ONES_S),
        "zero": (0, _ONES_S),
        "key": (multipliers()["r0"], distinct("poly1305.s", 16)),
    }
    for key, (r, s) in keys.items():
        for fill in (0x00, 0xFF):
            for length in _RAW_LENGTHS:
                hard = (key, fill) == ("limit", 0xFF)
                tier: Tier = "smoke" if hard and length in (256, 912) else "full"
                if tier == "full" and (hard or (key, fill) == ("one", 0xFF)) and length in _RAW_BOUNDARY:
                    tier = "boundary"
                yield _draft(f"raw-{key}-{fill:02x}-{length:04d}", r, s, bytes([fill]) * length, tier)


def _last_reductions() -> Iterator[Draft]:
    """Last accumulators of 0 to 5 with each r and several lengths: before the last reduction, P to 2^130."""
    turn = 0
    for target in range(6):
        for r_name, r in multipliers().items():
            for blocks in _BLOCKS:
                label = f"last-p{target}-{r_name}-b{blocks:02d}"
                s = (_ZERO_S, _ONES_S, distinct(label, 16))[turn % 3]
                tier: Tier = "smoke" if turn in (44, 168) else "boundary" if turn % 6 == 2 else "full"
                yield _draft(label, r, s, message_to(target, r, max(1, blocks - 1), label), tier)
                turn += 1


def _accumulators() -> Iterator[Draft]:
    """Each target at the end, and one and four blocks before the end, so that the carries after it matter."""
    rs = list(multipliers().items())
    for turn, (name, target) in enumerate(targets().items()):
        for place, after in enumerate((0, 16, 1 + turn % 15, 64)):
            r_name, r = rs[(turn + place) % len(rs)]
            label = f"acc-{name}-{('end', 'last1', 'ragged', 'last4')[place]}-{r_name}"
            before = max(1, _BLOCKS[(turn + 2 * place) % len(_BLOCKS)] - 1 - after // 16)
            data = message_to(target, r, before, label) + stream(f"{label}.after", after)
            s = (_ZERO_S, _ONES_S, distinct(label, 16))[(turn + place) % 3]
            tier: Tier = "boundary" if place == turn % 4 else "full"
            if place == 1 and name in ("ones26.104", "e128.m1"):
                tier = "smoke"
            yield _draft(label, r, s, data, tier)


def _lane_accumulators() -> Iterator[Draft]:
    """Each target in all lanes at once, for kernels that keep one accumulator for each lane."""
    rs = [r for r in multipliers().values() if r > 2]
    for turn, (name, target) in enumerate(targets().items()):
        for lanes in _LANES:
            label = f"lane{lanes}-{name}"
            r = rs[(turn + lanes) % len(rs)]
            data = lanes_to(target, r, lanes, label) + stream(f"{label}.after", 16 * lanes + turn % 17)
            tier: Tier = "boundary" if turn % 4 == 0 and lanes == 4 else "full"
            yield _draft(label, r, distinct(label, 16), data, tier)


def _extreme_powers() -> Iterator[Draft]:
    """r whose powers are the closest to P, the closest to 0, or have the largest limbs, of many tried."""
    pool = stream("poly1305.powers", 16 * _POWER_TRIES)
    tried = [int.from_bytes(pool[at : at + 16], "little") & CLAMP for at in range(0, len(pool), 16)]
    for power in _POWERS:
        powers = {pow(r, power, P): r for r in tried}
        chosen = {"max": powers[max(powers)], "min": powers[min(powers)]}
        for position in range(0, 130, 26):
            top = max(powers, key=lambda value, at=position: (value >> at) & ((1 << 26) - 1))  # type: ignore[misc]
            chosen[f"limb{position}"] = powers[top]
        for name, r in chosen.items():
            label = f"power{power}-{name}"
            tier: Tier = "boundary" if power == 4 else "full"
            yield _draft(f"{label}-ones", r, _ZERO_S, b"\xff" * 1029, tier)
            yield _draft(f"{label}-data", r, distinct(label, 16), stream(label, 640), "full")


def _structured() -> Iterator[Draft]:
    """Keys and blocks whose limbs are each 0, all ones or random."""
    for index in range(_STRUCTURED_CASES):
        label = f"limbs-{index:04d}"
        bits = LIMB_BITS[index % len(LIMB_BITS)]
        blocks = [limbs(f"{label}.{k}", bits).to_bytes(16, "little") for k in range(1 + draw(label, 40))]
        s = limbs(f"{label}.s", bits).to_bytes(16, "little")
        data = b"".join(blocks) + b"\xff" * (index % 16)
        yield _draft(label, limbs(f"{label}.r", bits) & CLAMP, s, data, "boundary" if index < 8 else "full")
