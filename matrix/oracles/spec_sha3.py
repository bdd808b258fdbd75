"""The second model of SHA-3 and SHAKE: FIPS 202 sections 3 to 6 step by step, with the tables computed, not typed."""

from functools import cache

_MASK = (1 << 64) - 1
Lanes = list[list[int]]
"""A[x][y], each lane a number below 2^64 (3.1.2)."""


def _rotate(lane: int, count: int) -> int:
    return (lane << count | lane >> (64 - count)) & _MASK


def _theta(a: Lanes) -> Lanes:
    """3.2.1."""
    c = [column[0] ^ column[1] ^ column[2] ^ column[3] ^ column[4] for column in a]
    d = [c[x - 1] ^ _rotate(c[(x + 1) % 5], 1) for x in range(5)]
    return [[lane ^ d[x] for lane in a[x]] for x in range(5)]


@cache
def _offsets() -> dict[tuple[int, int], int]:
    """The rotations of rho modulo 64 (3.2.2)."""
    offsets = {(0, 0): 0}
    x, y = 1, 0
    for t in range(24):
        offsets[x, y] = (t + 1) * (t + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return offsets


def _rho(a: Lanes) -> Lanes:
    """3.2.2."""
    offsets = _offsets()
    return [[_rotate(a[x][y], offsets[x, y]) for y in range(5)] for x in range(5)]


def _pi(a: Lanes) -> Lanes:
    """3.2.3."""
    return [[a[(x + 3 * y) % 5][x] for y in range(5)] for x in range(5)]


def _chi(a: Lanes) -> Lanes:
    """3.2.4."""
    return [[a[x][y] ^ (a[(x + 1) % 5][y] ^ _MASK) & a[(x + 2) % 5][y] for y in range(5)] for x in range(5)]


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
    a = [[int.from_bytes(state[8 * (5 * y + x) :][:8], "little") for y in range(5)] for x in range(5)]
    for round_index in range(24):
        a = _chi(_pi(_rho(_theta(a))))
        a[0][0] ^= _constant(round_index)
    return b"".join(a[x][y].to_bytes(8, "little") for y in range(5) for x in range(5))


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
