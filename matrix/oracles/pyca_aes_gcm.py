"""The first model of AES-GCM: the ``cryptography`` package, for the IVs that it takes; the second model for others."""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from matrix.oracles import spec_aes_gcm

_IV_BYTES = range(8, 129)
"""``cryptography`` refuses shorter and longer ones."""


def aes_gcm_seal(key: bytes, data: bytes, iv: bytes, aad: bytes) -> dict[str, bytes]:
    """Authenticated encryption (SP 800-38D 7.1): key[16, 24 or 32]; ciphertext and tag in one."""
    if len(iv) not in _IV_BYTES:
        return spec_aes_gcm.aes_gcm_seal(key, data, iv, aad)
    return {"out": AESGCM(key).encrypt(iv, data, aad)}


def aes_gcm_open(key: bytes, data: bytes, iv: bytes, aad: bytes) -> dict[str, bytes] | None:
    """Authenticated decryption (SP 800-38D 7.2) of ciphertext and tag; None when the tag is wrong."""
    if len(iv) not in _IV_BYTES:
        return spec_aes_gcm.aes_gcm_open(key, data, iv, aad)
    try:
        return {"out": AESGCM(key).decrypt(iv, data, aad)}
    except InvalidTag:
        return None
