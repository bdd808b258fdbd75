"""The first model of SHA-3 and SHAKE, the ``cryptography`` package."""

from cryptography.hazmat.primitives import hashes


def _hash(algorithm: hashes.HashAlgorithm, data: bytes) -> dict[str, bytes]:
    digest = hashes.Hash(algorithm)
    digest.update(data)
    return {"out": digest.finalize()}


def sha3_sha3_256(data: bytes) -> dict[str, bytes]:
    """SHA3-256: 32 bytes."""
    return _hash(hashes.SHA3_256(), data)


def sha3_sha3_512(data: bytes) -> dict[str, bytes]:
    """SHA3-512: 64 bytes."""
    return _hash(hashes.SHA3_512(), data)


def sha3_shake128(data: bytes, want: bytes) -> dict[str, bytes]:
    """SHAKE128: as many bytes as ``want`` has; ``cryptography`` refuses to make none."""
    return _hash(hashes.SHAKE128(len(want)), data) if want else {"out": b""}


def sha3_shake256(data: bytes, want: bytes) -> dict[str, bytes]:
    """SHAKE256: as many bytes as ``want`` has; ``cryptography`` refuses to make none."""
    return _hash(hashes.SHAKE256(len(want)), data) if want else {"out": b""}
