"""The second model of SHA-3 and SHAKE: FIPS 202 sections 3 to 6 step by step, with the tables computed, not typed."""

import struct
from functools import cache

_MASK = (1 << 64) - 1
Lanes = list[int]
"""A[x, y] of 3.1.2 at place x + 5 y, each lane a number below 2^64."""


def _theta(a: Lanes) -> Lanes:
    """3.2.1."""
    c = [a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20] for x in range(5)]
    d = [c[x - 1] ^ (c[(x + 1) % 5] << 1 | c[(x + 1) % 5] >> 63) & _MASK for x in range(5)]
    return [lane ^ more for lane, more in zip(a, d * 5, strict=True)]


@cache
def _offsets() -> dict[tuple[int, int], int]:
    """The rotations of rho modulo 64 (3.2.2)."""
    offsets = {(0, 0): 0}
    x, y = 1, 0
    for t in range(24):
        offsets[x, y] = (t + 1) * (t + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return offsets


@cache
def _moves() -> tuple[tuple[int, int, int], ...]:
    """For each place, the place from which pi (3.2.3) takes its lane, and how far rho shifts that left and right."""
    sources = [((x + 3 * y) % 5, x) for y in range(5) for x in range(5)]
    return tuple((x + 5 * y, _offsets()[x, y], 64 - _offsets()[x, y]) for x, y in sources)


def _rho_and_pi(a: Lanes, moves: tuple[tuple[int, int, int], ...]) -> Lanes:
    """3.2.2 and 3.2.3."""
    return [(a[place] << left | a[place] >> right) & _MASK for place, left, right in moves]


def _chi(a: Lanes) -> Lanes:
    """3.2.4, plane by plane."""
    new: Lanes = []
    for plane in (0, 5, 10, 15, 20):
        p, q, r, s, t = a[plane : plane + 5]
        new += (p ^ ~q & r, q ^ ~r & s, r ^ ~s & t, s ^ ~t & p, t ^ ~p & q)
    return new


@cache
def _constant(round_index: int) -> int:
    """RC of 3.2.5: bit 2^j - 1 is rc(j + 7 i), where rc runs through the register of Algorithm 5."""
    constant = 0
    for j in range(7):
        register = 1
        for _ in range((j + 7 * round_index) % 255):
            register <<= 1
            if register >> 8:
                register ^= 0x171
        constant |= (register & 1) << ((1 << j) - 1)
    return constant


def keccak_f(state: bytes) -> bytes:
    """Keccak-f[1600] (3.3, 3.4) of 200 bytes."""
    a = list(struct.unpack("<25Q", state))
    moves = _moves()
    for round_index in range(24):
        a = _chi(_rho_and_pi(_theta(a), moves))
        a[0] ^= _constant(round_index)
    return struct.pack("<25Q", *a)


def sponge(data: bytes, length: int, rate: int, suffix: int) -> bytes:
    """``length`` bytes of the sponge (4, 5.1, B.2) with ``rate`` in bytes; ``suffix`` are the domain bits and a 1."""
    padded = bytearray(data + bytes([suffix]))
    padded += bytes(-len(padded) % rate)
    padded[-1] ^= 0x80
    state = bytes(200)
    for start in range(0, len(padded), rate):
        block = int.from_bytes(padded[start : start + rate], "little")
        state = keccak_f((int.from_bytes(state, "little") ^ block).to_bytes(200, "little"))
    out = state[:rate]
    while len(out) < length:
        state = keccak_f(state)
        out += state[:rate]
    return out[:length]


def sha3_sha3_256(data: bytes) -> dict[str, bytes]:
    """SHA3-256 (6.1): capacity 512 bits, suffix 01."""
    return {"out": sponge(data, 32, 136, 0x06)}


def sha3_sha3_512(data: bytes) -> dict[str, bytes]:
    """SHA3-512 (6.1): capacity 1024 bits, suffix 01."""
    return {"out": sponge(data, 64, 72, 0x06)}


def sha3_shake128(data: bytes, want: bytes) -> dict[str, bytes]:
    """SHAKE128 (6.2): capacity 256 bits, suffix 1111; as many bytes as ``want`` has."""
    return {"out": sponge(data, len(want), 168, 0x1F)}


def sha3_shake256(data: bytes, want: bytes) -> dict[str, bytes]:
    """SHAKE256 (6.2): capacity 512 bits, suffix 1111; as many bytes as ``want`` has."""
    return {"out": sponge(data, len(want), 136, 0x1F)}
