"""The first model of AES, the ``cryptography`` package: ECB, CBC and CTR, the last cut where a 32-bit counter wraps."""

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

_BLOCK = 16
_COUNTERS = 1 << 32


def aes_encrypt_block(key: bytes, block: bytes) -> dict[str, bytes]:
    """The cipher (FIPS 197) on one block[16]; key of 16, 24 or 32 bytes."""
    return {"out": Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)}


def aes_decrypt_block(key: bytes, block: bytes) -> dict[str, bytes]:
    """The inverse cipher (FIPS 197) on one block[16]; key of 16, 24 or 32 bytes."""
    return {"out": Cipher(algorithms.AES(key), modes.ECB()).decryptor().update(block)}


def aes_cbc_encrypt(key: bytes, iv: bytes, data: bytes) -> dict[str, bytes]:
    """CBC encryption (SP 800-38A 6.2) of whole blocks without padding; iv comes back as the last ciphertext block."""
    out = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor().update(data)
    return {"out": out, "iv": out[-_BLOCK:] if out else iv}


def aes_cbc_decrypt(key: bytes, iv: bytes, data: bytes) -> dict[str, bytes]:
    """CBC decryption (SP 800-38A 6.2) of whole blocks without padding; iv comes back as the last ciphertext block."""
    out = Cipher(algorithms.AES(key), modes.CBC(iv)).decryptor().update(data)
    return {"out": out, "iv": data[-_BLOCK:] if data else iv}


def aes_ctr(key: bytes, iv: bytes, data: bytes) -> dict[str, bytes]:
    """CTR (SP 800-38A 6.5) with a 32-bit counter in the last four bytes of iv[16].

    ``cryptography`` counts with all 128 bits, so what lies behind the wrap starts anew with a counter of 0.
    """
    prefix, counter = iv[:12], int.from_bytes(iv[12:], "big")
    room = (_COUNTERS - counter) * _BLOCK
    out = _ctr(key, iv, data[:room])
    if len(data) > room:
        out += _ctr(key, prefix + bytes(4), data[room:])
    used = -(-len(data) // _BLOCK)
    return {"out": out, "iv": prefix + ((counter + used) % _COUNTERS).to_bytes(4, "big")}


def _ctr(key: bytes, iv: bytes, data: bytes) -> bytes:
    return Cipher(algorithms.AES(key), modes.CTR(iv)).encryptor().update(data)
