"""The first model, the ``cryptography`` package: one function ``<algorithm>_<operation>`` per operation."""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.poly1305 import Poly1305

_CHACHA20_BLOCK = 64
_TAG = 16


def chacha20_xor(key: bytes, nonce: bytes, counter: int, data: bytes) -> dict[str, bytes]:
    """ChaCha20 (RFC 8439 2.4): key[32], nonce[12], 32-bit block counter that wraps to 0.

    ``cryptography`` refuses a counter that would pass 2^32, so what lies behind the wrap starts anew at 0.
    """
    room = ((1 << 32) - counter) * _CHACHA20_BLOCK
    out = _chacha20(key, nonce, counter, data[:room])
    if len(data) > room:
        out += _chacha20(key, nonce, 0, data[room:])
    return {"out": out}


def _chacha20(key: bytes, nonce: bytes, counter: int, data: bytes) -> bytes:
    algorithm = algorithms.ChaCha20(key, counter.to_bytes(4, "little") + nonce)
    return Cipher(algorithm, mode=None).encryptor().update(data)


def poly1305_mac(key: bytes, data: bytes) -> dict[str, bytes]:
    """Poly1305 (RFC 8439 2.5): key[32] = r | s, a tag of 16 bytes."""
    return {"tag": Poly1305.generate_tag(key, data)}


def chacha20_poly1305_seal(key: bytes, nonce: bytes, aad: bytes, data: bytes) -> dict[str, bytes]:
    """ChaCha20-Poly1305 encryption (RFC 8439 2.8): key[32], nonce[12], a tag of 16 bytes."""
    sealed = ChaCha20Poly1305(key).encrypt(nonce, data, aad)
    return {"out": sealed[:-_TAG], "tag": sealed[-_TAG:]}


def chacha20_poly1305_open(key: bytes, nonce: bytes, aad: bytes, data: bytes, tag: bytes) -> dict[str, bytes] | None:
    """ChaCha20-Poly1305 decryption (RFC 8439 2.8); None when the tag is wrong."""
    try:
        return {"out": ChaCha20Poly1305(key).decrypt(nonce, data + tag, aad)}
    except InvalidTag:
        return None


def chacha20_poly1305_seal_old(key: bytes, nonce: bytes, aad: bytes, data: bytes) -> dict[str, bytes]:
    """Encryption of draft-agl-tls-chacha20poly1305-04: key[32], nonce[8], nothing padded in the authenticated data."""
    wide = bytes(4) + nonce
    out = _chacha20(key, wide, 1, data)
    return {"out": out, "tag": _tag_old(key, wide, aad, out)}


def chacha20_poly1305_open_old(
    key: bytes, nonce: bytes, aad: bytes, data: bytes, tag: bytes
) -> dict[str, bytes] | None:
    """Decryption of draft-agl-tls-chacha20poly1305-04; None when the tag is wrong."""
    wide = bytes(4) + nonce
    return {"out": _chacha20(key, wide, 1, data)} if _tag_old(key, wide, aad, data) == tag else None


def _tag_old(key: bytes, wide: bytes, aad: bytes, ciphertext: bytes) -> bytes:
    """The draft's tag: each part is followed by its length in eight bytes."""
    mac = Poly1305(_chacha20(key, wide, 0, bytes(32)))
    for part in (aad, ciphertext):
        mac.update(part + len(part).to_bytes(8, "little"))
    return mac.finalize()
