"""The second model of ChaCha20: RFC 8439 sections 2.1 to 2.4 line by line, for every counter."""

import struct

_CONSTANTS = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)
_MASK = 0xFFFFFFFF


def _rotate(word: int, count: int) -> int:
    return ((word << count) & _MASK) | (word >> (32 - count))


def _quarter_round(x: list[int], a: int, b: int, c: int, d: int) -> None:
    """RFC 8439 2.1, on the state words with the indices a, b, c, d (2.2)."""
    x[a] = (x[a] + x[b]) & _MASK
    x[d] = _rotate(x[d] ^ x[a], 16)
    x[c] = (x[c] + x[d]) & _MASK
    x[b] = _rotate(x[b] ^ x[c], 12)
    x[a] = (x[a] + x[b]) & _MASK
    x[d] = _rotate(x[d] ^ x[a], 8)
    x[c] = (x[c] + x[d]) & _MASK
    x[b] = _rotate(x[b] ^ x[c], 7)


def block(key: bytes, counter: int, nonce: bytes) -> bytes:
    """The block function (RFC 8439 2.3): key[32], nonce[12], counter below 2^32; 64 bytes of keystream."""
    initial = [*_CONSTANTS, *struct.unpack("<8L", key), counter, *struct.unpack("<3L", nonce)]
    state = list(initial)
    for _ in range(10):
        _quarter_round(state, 0, 4, 8, 12)
        _quarter_round(state, 1, 5, 9, 13)
        _quarter_round(state, 2, 6, 10, 14)
        _quarter_round(state, 3, 7, 11, 15)
        _quarter_round(state, 0, 5, 10, 15)
        _quarter_round(state, 1, 6, 11, 12)
        _quarter_round(state, 2, 7, 8, 13)
        _quarter_round(state, 3, 4, 9, 14)
    return struct.pack("<16L", *((word + start) & _MASK for word, start in zip(state, initial, strict=True)))


def chacha20_xor(key: bytes, nonce: bytes, counter: int, data: bytes) -> dict[str, bytes]:
    """The cipher (RFC 8439 2.4) with a counter that wraps modulo 2^32 and never carries into the nonce."""
    out = bytearray()
    for start in range(0, len(data), 64):
        piece = data[start : start + 64]
        key_stream = block(key, (counter + start // 64) & _MASK, nonce)
        out += bytes(byte ^ mask for byte, mask in zip(piece, key_stream, strict=False))
    return {"out": bytes(out)}
