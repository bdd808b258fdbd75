"""The first model of SHA-1, SHA-256, SHA-512 and HMAC: the ``cryptography`` package.

It has no compression function of its own to call; ``spec_sha.py`` alone answers the operations ``blocks``.
"""

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.hmac import HMAC


def _digest(algorithm: hashes.HashAlgorithm, data: bytes) -> dict[str, bytes]:
    state = hashes.Hash(algorithm)
    state.update(data)
    return {"digest": state.finalize()}


def _tag(algorithm: hashes.HashAlgorithm, key: bytes, data: bytes) -> dict[str, bytes]:
    state = HMAC(key, algorithm)
    state.update(data)
    return {"tag": state.finalize()}


def sha1_hash(data: bytes) -> dict[str, bytes]:
    """SHA-1 (FIPS 180-4): a digest of 20 bytes."""
    return _digest(hashes.SHA1(), data)


def sha256_hash(data: bytes) -> dict[str, bytes]:
    """SHA-256 (FIPS 180-4): a digest of 32 bytes."""
    return _digest(hashes.SHA256(), data)


def sha512_hash(data: bytes) -> dict[str, bytes]:
    """SHA-512 (FIPS 180-4): a digest of 64 bytes."""
    return _digest(hashes.SHA512(), data)


def hmac_sha1(key: bytes, data: bytes) -> dict[str, bytes]:
    """HMAC (FIPS 198-1) with SHA-1: a key of any length, a tag of 20 bytes."""
    return _tag(hashes.SHA1(), key, data)


def hmac_sha256(key: bytes, data: bytes) -> dict[str, bytes]:
    """HMAC (FIPS 198-1) with SHA-256: a key of any length, a tag of 32 bytes."""
    return _tag(hashes.SHA256(), key, data)


def hmac_sha512(key: bytes, data: bytes) -> dict[str, bytes]:
    """HMAC (FIPS 198-1) with SHA-512: a key of any length, a tag of 64 bytes."""
    return _tag(hashes.SHA512(), key, data)
