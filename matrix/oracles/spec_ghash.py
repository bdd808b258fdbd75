"""The model of GHASH: NIST SP 800-38D sections 6.3 and 6.4, with Python's integers.

A block is the integer of its bytes in big-endian order: the specification's leftmost bit, the coefficient of
x^0, is bit 127.
"""

from functools import lru_cache

R = 0xE1 << 120
"""x^128 modulo the polynomial, 1 + x + x^2 + x^7 (SP 800-38D 6.3)."""
ONE = 1 << 127
"""The element x^0."""

_Rows = tuple[tuple[int, ...], ...]


def times_x(element: int) -> int:
    """``element`` times x: one step of Algorithm 1."""
    return element >> 1 ^ (R if element & 1 else 0)


def multiply(x: int, y: int) -> int:
    """The product of two elements, bit by bit (SP 800-38D 6.3, Algorithm 1)."""
    z, v = 0, y
    for bit in range(127, -1, -1):
        if x >> bit & 1:
            z ^= v
        v = times_x(v)
    return z


def power(base: int, exponent: int) -> int:
    """``base`` to a power of at least 0."""
    result = ONE
    while exponent:
        if exponent & 1:
            result = multiply(result, base)
        base = multiply(base, base)
        exponent >>= 1
    return result


def inverse(element: int) -> int:
    """The element whose product with ``element`` (not 0) is 1: the group has 2^128 - 1 elements."""
    return power(element, (1 << 128) - 2)


@lru_cache(maxsize=64)
def _products(h: int) -> _Rows:
    """Row k holds the products of H and the elements whose byte k is 0 to 255 and whose other bytes are 0."""
    rows, v = [], h
    for _ in range(16):
        row = [0]
        bits = []
        for _ in range(8):
            bits.append(v)
            v = times_x(v)
        for bit in reversed(bits):  # the last of the eight is bit 0 of the byte
            row += [entry ^ bit for entry in row]
        rows.append(tuple(row))
    return tuple(rows)


def ghash(h: bytes, data: bytes, y: bytes = bytes(16)) -> bytes:
    """The hash of whole blocks, starting from ``y`` (SP 800-38D 6.4: y is zero)."""
    rows = _products(int.from_bytes(h, "big"))
    state = int.from_bytes(y, "big")
    for start in range(0, len(data), 16):
        mixed = state ^ int.from_bytes(data[start : start + 16], "big")
        state = 0
        for row, byte in zip(rows, mixed.to_bytes(16, "big"), strict=True):
            state ^= row[byte]
    return state.to_bytes(16, "big")


def ghash_hash(h: bytes, y: bytes, data: bytes) -> dict[str, bytes]:
    """The operation: h[16], y[16] and whole blocks; the new y."""
    return {"y": ghash(h, data, y)}
