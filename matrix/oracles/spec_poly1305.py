"""The second model of Poly1305: RFC 8439 section 2.5 line by line, with Python's integers."""

P = (1 << 130) - 5
CLAMP = 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
"""The bits of r that clamping leaves (RFC 8439 2.5.1)."""


def block_number(block: bytes) -> int:
    """What a block of 1 to 16 bytes adds to the accumulator: little-endian, one bit beyond its octets."""
    return int.from_bytes(block + b"\x01", "little")


def accumulate(r: int, data: bytes, accumulator: int = 0) -> int:
    """The accumulator in 0..P-1 after the blocks of ``data``; ``r`` is already clamped."""
    for start in range(0, len(data), 16):
        accumulator = (accumulator + block_number(data[start : start + 16])) * r % P
    return accumulator


def poly1305_mac(key: bytes, data: bytes) -> dict[str, bytes]:
    """The authenticator: key[32] = r | s, a tag of 16 bytes."""
    r = int.from_bytes(key[:16], "little") & CLAMP
    s = int.from_bytes(key[16:], "little")
    return {"tag": ((accumulate(r, data) + s) & ((1 << 128) - 1)).to_bytes(16, "little")}
