"""The second model of AES-GCM: NIST SP 800-38D section 7 on AES in ECB mode and the model of GHASH, for every IV."""

import struct

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from matrix.oracles.spec_ghash import ghash

_TAG = 16


def encrypt_blocks(key: bytes, blocks: bytes) -> bytes:
    """AES of whole blocks, each on its own."""
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(blocks)


def hash_key(key: bytes) -> bytes:
    """H: the block of zeros, encrypted."""
    return encrypt_blocks(key, bytes(16))


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 16)


def first_counter(h: bytes, iv: bytes) -> bytes:
    """J0 (7.1 step 2)."""
    if len(iv) == 12:
        return iv + b"\x00\x00\x00\x01"
    return ghash(h, _padded(iv) + struct.pack(">QQ", 0, 8 * len(iv)))


def _crypt(key: bytes, j0: bytes, data: bytes) -> bytes:
    """GCTR from inc32(J0) on (6.5): a counter of 32 bits, the rest of the block stays."""
    start = int.from_bytes(j0[12:], "big") + 1
    count = -(-len(data) // 16)
    blocks = b"".join(j0[:12] + ((start + k) & 0xFFFFFFFF).to_bytes(4, "big") for k in range(count))
    stream = encrypt_blocks(key, blocks)[: len(data)]
    return (int.from_bytes(data, "big") ^ int.from_bytes(stream, "big")).to_bytes(len(data), "big")


def _tag(key: bytes, h: bytes, j0: bytes, aad: bytes, ciphertext: bytes) -> bytes:
    lengths = struct.pack(">QQ", 8 * len(aad), 8 * len(ciphertext))
    s = ghash(h, _padded(aad) + _padded(ciphertext) + lengths)
    return (int.from_bytes(s, "big") ^ int.from_bytes(encrypt_blocks(key, j0), "big")).to_bytes(16, "big")


def aes_gcm_seal(key: bytes, data: bytes, iv: bytes, aad: bytes) -> dict[str, bytes]:
    """Authenticated encryption (7.1): key[16, 24 or 32], an IV of at least one byte; ciphertext and tag in one."""
    h = hash_key(key)
    j0 = first_counter(h, iv)
    ciphertext = _crypt(key, j0, data)
    return {"out": ciphertext + _tag(key, h, j0, aad, ciphertext)}


def aes_gcm_open(key: bytes, data: bytes, iv: bytes, aad: bytes) -> dict[str, bytes] | None:
    """Authenticated decryption (7.2) of ciphertext and tag; None when the tag is wrong."""
    h = hash_key(key)
    j0 = first_counter(h, iv)
    ciphertext, tag = data[:-_TAG], data[-_TAG:]
    if _tag(key, h, j0, aad, ciphertext) != tag:
        return None
    return {"out": _crypt(key, j0, ciphertext)}
