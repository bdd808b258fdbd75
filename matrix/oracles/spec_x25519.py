"""The second model of X25519: RFC 7748 section 5 line by line, with Python's integers."""

P = (1 << 255) - 19
A24 = 121665
BITS = 255


def decode_scalar(scalar: bytes) -> int:
    """The clamped scalar (decodeScalar25519): a multiple of 8 in 2^254..2^255 - 8."""
    return int.from_bytes(scalar, "little") & ((1 << 255) - 8) | 1 << 254


def decode_u(point: bytes) -> int:
    """The u coordinate modulo P (decodeUCoordinate): bit 255 is ignored, values from P on are accepted."""
    return int.from_bytes(point, "little") % (1 << BITS) % P


def encode_u(u: int) -> bytes:
    """32 bytes, little-endian, of ``u`` reduced modulo P (encodeUCoordinate)."""
    return (u % P).to_bytes(32, "little")


def ladder(k: int, u: int) -> int:
    """The u coordinate of k times the point with the coordinate ``u``, 0 for the neutral element; k below 2^255."""
    x_1 = u
    x_2, z_2, x_3, z_3 = 1, 0, u, 1
    swap = 0
    for t in reversed(range(BITS)):
        k_t = k >> t & 1
        if swap ^ k_t:
            x_2, x_3, z_2, z_3 = x_3, x_2, z_3, z_2
        swap = k_t
        a, b = x_2 + z_2, x_2 - z_2
        aa, bb = a * a % P, b * b % P
        e = aa - bb
        c, d = x_3 + z_3, x_3 - z_3
        da, cb = d * a % P, c * b % P
        x_3 = (da + cb) ** 2 % P
        z_3 = x_1 * (da - cb) ** 2 % P
        x_2 = aa * bb % P
        z_2 = e * (aa + A24 * e) % P
    if swap:
        x_2, z_2 = x_3, z_3
    return x_2 * pow(z_2, P - 2, P) % P


def x25519_scalarmult(scalar: bytes, point: bytes) -> dict[str, bytes]:
    """The function X25519: scalar[32], point[32], the u coordinate of the product, reduced."""
    return {"out": encode_u(ladder(decode_scalar(scalar), decode_u(point)))}
