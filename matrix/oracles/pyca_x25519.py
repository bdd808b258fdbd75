"""The first model of X25519, the ``cryptography`` package; where it refuses to answer, the second one does."""

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from matrix.oracles import spec_x25519


def x25519_scalarmult(scalar: bytes, point: bytes) -> dict[str, bytes]:
    """X25519 (RFC 7748 5): scalar[32], point[32], the reduced u coordinate of the product.

    ``cryptography`` raises ValueError on an all-zero result, where our function reports it. The second model
    then answers; another answer of it than 0 is an error, since both refuse and zero must coincide.
    """
    private = X25519PrivateKey.from_private_bytes(scalar)
    try:
        return {"out": private.exchange(X25519PublicKey.from_public_bytes(point))}
    except ValueError:
        answer = spec_x25519.x25519_scalarmult(scalar, point)
        if any(answer["out"]):
            raise
        return answer
