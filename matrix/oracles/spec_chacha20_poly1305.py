"""The second model of ChaCha20-Poly1305: RFC 8439 sections 2.6 and 2.8 on the models of its two parts."""

import struct

from matrix.oracles.spec_chacha20 import block, chacha20_xor
from matrix.oracles.spec_poly1305 import poly1305_mac


def one_time_key(key: bytes, nonce: bytes) -> bytes:
    """The Poly1305 key of a message: the first 32 bytes of block 0 (RFC 8439 2.6)."""
    return block(key, 0, nonce)[:32]


def mac_data(aad: bytes, ciphertext: bytes) -> bytes:
    """What the tag is computed over: both parts padded to 16 bytes, then both lengths (RFC 8439 2.8)."""
    lengths = struct.pack("<QQ", len(aad), len(ciphertext))
    return aad + bytes(-len(aad) % 16) + ciphertext + bytes(-len(ciphertext) % 16) + lengths


def _tag(key: bytes, nonce: bytes, aad: bytes, ciphertext: bytes) -> bytes:
    return poly1305_mac(one_time_key(key, nonce), mac_data(aad, ciphertext))["tag"]


def chacha20_poly1305_seal(key: bytes, nonce: bytes, aad: bytes, data: bytes) -> dict[str, bytes]:
    """Encryption: key[32], nonce[12], a tag of 16 bytes."""
    out = chacha20_xor(key, nonce, 1, data)["out"]
    return {"out": out, "tag": _tag(key, nonce, aad, out)}


def chacha20_poly1305_open(key: bytes, nonce: bytes, aad: bytes, data: bytes, tag: bytes) -> dict[str, bytes] | None:
    """Decryption of ``data``; None when the tag is wrong."""
    if _tag(key, nonce, aad, data) != tag:
        return None
    return chacha20_xor(key, nonce, 1, data)


def chacha20_poly1305_seal_old(key: bytes, nonce: bytes, aad: bytes, data: bytes) -> dict[str, bytes]:
    """Encryption of draft-agl-tls-chacha20poly1305-04: key[32], nonce[8], a tag of 16 bytes."""
    wide = bytes(4) + nonce
    out = chacha20_xor(key, wide, 1, data)["out"]
    return {"out": out, "tag": poly1305_mac(one_time_key(key, wide), mac_data_old(aad, out))["tag"]}


def chacha20_poly1305_open_old(
    key: bytes, nonce: bytes, aad: bytes, data: bytes, tag: bytes
) -> dict[str, bytes] | None:
    """Decryption of the draft's construction; None when the tag is wrong."""
    wide = bytes(4) + nonce
    if poly1305_mac(one_time_key(key, wide), mac_data_old(aad, data))["tag"] != tag:
        return None
    return chacha20_xor(key, wide, 1, data)


def mac_data_old(aad: bytes, ciphertext: bytes) -> bytes:
    """What the draft's tag is computed over: nothing is padded, each part is followed by its length."""
    return aad + struct.pack("<Q", len(aad)) + ciphertext + struct.pack("<Q", len(ciphertext))
