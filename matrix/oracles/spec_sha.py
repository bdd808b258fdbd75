"""The second model of SHA-1, SHA-256, SHA-512 and HMAC.

``hashlib`` and ``hmac`` hash messages. The compression functions from any chaining value, which no library
offers, are FIPS 180-4 line by line: its names, its order, its constants computed from their definition. A message
padded by ``padded`` and compressed from ``start_value`` must give hashlib's digest; a test says so.
"""

import hashlib
import hmac
import struct
from collections.abc import Callable
from math import isqrt

MASK32 = (1 << 32) - 1
MASK64 = (1 << 64) - 1

SHA1_START = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0)
"""FIPS 180-4 5.3.1."""


def _primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found


def _cube_root(number: int) -> int:
    """The integer part of the cube root, bit by bit."""
    root = 0
    for bit in reversed(range((number.bit_length() + 2) // 3)):
        if (root | 1 << bit) ** 3 <= number:
            root |= 1 << bit
    return root


SHA256_K = tuple(_cube_root(prime << 96) & MASK32 for prime in _primes(64))
SHA512_K = tuple(_cube_root(prime << 192) & MASK64 for prime in _primes(80))
"""4.2.2 and 4.2.3: the first bits of the fractional parts of the cube roots of the first primes."""
SHA256_START = tuple(isqrt(prime << 64) & MASK32 for prime in _primes(8))
SHA512_START = tuple(isqrt(prime << 128) & MASK64 for prime in _primes(8))
"""5.3.3 and 5.3.5: the same of the square roots of the first eight primes."""


def sha1_compress(h: tuple[int, ...], block: bytes) -> tuple[int, ...]:
    """6.1.2: the chaining value of five words after one block of 64 bytes."""
    w = list(struct.unpack(">16I", block))
    for t in range(16, 80):
        word = w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16]
        w.append((word << 1 | word >> 31) & MASK32)
    a, b, c, d, e = h
    for t in range(80):
        if t < 20:
            f, k = (b & c) ^ (~b & d), 0x5A827999
        elif t < 40:
            f, k = b ^ c ^ d, 0x6ED9EBA1
        elif t < 60:
            f, k = (b & c) ^ (b & d) ^ (c & d), 0x8F1BBCDC
        else:
            f, k = b ^ c ^ d, 0xCA62C1D6
        temporary = ((a << 5 | a >> 27) + f + e + k + w[t]) & MASK32
        a, b, c, d, e = temporary, a, (b << 30 | b >> 2) & MASK32, c, d
    return tuple((x + y) & MASK32 for x, y in zip(h, (a, b, c, d, e), strict=True))


def sha256_compress(h: tuple[int, ...], block: bytes) -> tuple[int, ...]:
    """6.2.2: the chaining value of eight words after one block of 64 bytes.

    A word beside its copy makes each rotation one shift: bits 0 to 31 of ``ww >> n`` are the word rotated right by n.
    """
    w = list(struct.unpack(">16I", block))
    for t in range(16, 64):
        x, y = w[t - 15], w[t - 2]
        xx, yy = x << 32 | x, y << 32 | y
        sigma0 = (xx >> 7) ^ (xx >> 18) ^ (x >> 3)
        sigma1 = (yy >> 17) ^ (yy >> 19) ^ (y >> 10)
        w.append((sigma1 + w[t - 7] + sigma0 + w[t - 16]) & MASK32)
    a, b, c, d, e, f, g, hh = h
    for t in range(64):
        aa, ee = a << 32 | a, e << 32 | e
        t1 = hh + (((ee >> 6) ^ (ee >> 11) ^ (ee >> 25)) & MASK32) + ((e & f) ^ (~e & g)) + SHA256_K[t] + w[t]
        t2 = (((aa >> 2) ^ (aa >> 13) ^ (aa >> 22)) & MASK32) + ((a & b) ^ (a & c) ^ (b & c))
        a, b, c, d, e, f, g, hh = (t1 + t2) & MASK32, a, b, c, (d + t1) & MASK32, e, f, g
    return tuple((x + y) & MASK32 for x, y in zip(h, (a, b, c, d, e, f, g, hh), strict=True))


def sha512_compress(h: tuple[int, ...], block: bytes) -> tuple[int, ...]:
    """6.4.2: the chaining value of eight words after one block of 128 bytes. Rotations as in sha256_compress."""
    w = list(struct.unpack(">16Q", block))
    for t in range(16, 80):
        x, y = w[t - 15], w[t - 2]
        xx, yy = x << 64 | x, y << 64 | y
        sigma0 = (xx >> 1) ^ (xx >> 8) ^ (x >> 7)
        sigma1 = (yy >> 19) ^ (yy >> 61) ^ (y >> 6)
        w.append((sigma1 + w[t - 7] + sigma0 + w[t - 16]) & MASK64)
    a, b, c, d, e, f, g, hh = h
    for t in range(80):
        aa, ee = a << 64 | a, e << 64 | e
        t1 = hh + (((ee >> 14) ^ (ee >> 18) ^ (ee >> 41)) & MASK64) + ((e & f) ^ (~e & g)) + SHA512_K[t] + w[t]
        t2 = (((aa >> 28) ^ (aa >> 34) ^ (aa >> 39)) & MASK64) + ((a & b) ^ (a & c) ^ (b & c))
        a, b, c, d, e, f, g, hh = (t1 + t2) & MASK64, a, b, c, (d + t1) & MASK64, e, f, g
    return tuple((x + y) & MASK64 for x, y in zip(h, (a, b, c, d, e, f, g, hh), strict=True))


def padded(data: bytes, block: int) -> bytes:
    """5.1.1 and 5.1.2: ``data``, a one bit, zeros and the length in bits, in whole blocks of 64 or 128 bytes."""
    length = (8 * len(data)).to_bytes(block // 8, "big")
    return data + b"\x80" + bytes(-(len(data) + 1 + len(length)) % block) + length


def _chained(
    compress: Callable[[tuple[int, ...], bytes], tuple[int, ...]], form: str, block: int, h: bytes, data: bytes
) -> dict[str, bytes]:
    """``h`` (words little-endian, ``form`` of struct) after the blocks of ``data``."""
    value = struct.unpack(form, h)
    for start in range(0, len(data), block):
        value = compress(value, data[start : start + block])
    return {"h": struct.pack(form, *value)}


def sha1_blocks(h: bytes, data: bytes) -> dict[str, bytes]:
    """The chaining value h[20], words little-endian, after the blocks of 64 bytes of ``data``."""
    return _chained(sha1_compress, "<5I", 64, h, data)


def sha256_blocks(h: bytes, data: bytes) -> dict[str, bytes]:
    """The chaining value h[32], words little-endian, after the blocks of 64 bytes of ``data``."""
    return _chained(sha256_compress, "<8I", 64, h, data)


def sha512_blocks(h: bytes, data: bytes) -> dict[str, bytes]:
    """The chaining value h[64], words little-endian, after the blocks of 128 bytes of ``data``."""
    return _chained(sha512_compress, "<8Q", 128, h, data)


def sha1_hash(data: bytes) -> dict[str, bytes]:
    """SHA-1: a digest of 20 bytes."""
    return {"digest": hashlib.sha1(data).digest()}


def sha256_hash(data: bytes) -> dict[str, bytes]:
    """SHA-256: a digest of 32 bytes."""
    return {"digest": hashlib.sha256(data).digest()}


def sha512_hash(data: bytes) -> dict[str, bytes]:
    """SHA-512: a digest of 64 bytes."""
    return {"digest": hashlib.sha512(data).digest()}


def hmac_sha1(key: bytes, data: bytes) -> dict[str, bytes]:
    """HMAC with SHA-1: a key of any length, a tag of 20 bytes."""
    return {"tag": hmac.digest(key, data, "sha1")}


def hmac_sha256(key: bytes, data: bytes) -> dict[str, bytes]:
    """HMAC with SHA-256: a key of any length, a tag of 32 bytes."""
    return {"tag": hmac.digest(key, data, "sha256")}


def hmac_sha512(key: bytes, data: bytes) -> dict[str, bytes]:
    """HMAC with SHA-512: a key of any length, a tag of 64 bytes."""
    return {"tag": hmac.digest(key, data, "sha512")}
