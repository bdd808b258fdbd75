"""Hard inputs of HMAC: keys around a block of the hash, keys that meet the pads, data around the ends of padding."""

from collections.abc import Iterator

from matrix.cases.case import Draft, Tier
from matrix.cases.hash_material import LONG_PIECE, Shape, long_message
from matrix.cases.material import stream
from matrix.cases.sha1_edges import SHAPE as SHA1
from matrix.cases.sha256_edges import SHAPE as SHA256
from matrix.cases.sha512_edges import SHAPE as SHA512
from matrix.model.interface import Interface

_DATA_BYTES = 100


def edges(interface: Interface) -> Iterator[Draft]:
    """Drafts of the operations ``sha1``, ``sha256`` and ``sha512`` (key, data)."""
    for shape in (SHA1, SHA256, SHA512):
        yield from _key_lengths(shape)
        yield from _key_bytes(shape)
        yield from _data_lengths(shape)
        label = f"{shape.name}-long"
        inputs = {"key": stream(f"{label}.key", 20), "data": stream(label, LONG_PIECE)}
        yield long_message(shape.name, "hmac edges", {**inputs})


def _draft(shape: Shape, name: str, key: bytes, data: bytes, tier: Tier) -> Draft:
    return Draft(f"{shape.name}-{name}", shape.name, {"key": key, "data": data}, "hmac edges", tier)


def _key_lengths(shape: Shape) -> Iterator[Draft]:
    """Up to a block the key itself is used, beyond it its hash, which has paddings of its own."""
    block, digest = shape.block, len(shape.start)
    room = block - shape.length_field
    lengths = {0, 1, digest - 1, digest, digest + 1, room - 1, room, block - 1, block, block + 1}
    lengths |= {block + room - 1, block + room, 2 * block - 1, 2 * block, 2 * block + 1}
    for length in sorted(lengths):
        label = f"{shape.name}-key-{length:03d}"
        tier: Tier = "smoke" if length in (block, block + 1) else "boundary"
        yield _draft(shape, f"key-{length:03d}", stream(label, length), stream(f"{label}.data", _DATA_BYTES), tier)


def _key_bytes(shape: Shape) -> Iterator[Draft]:
    """Keys that one of the pads turns into zeros, keys of ones, and a key with zeros where padding would be."""
    data = stream(f"{shape.name}-key-bytes", _DATA_BYTES)
    for name, byte in (("ipad", b"\x36"), ("opad", b"\x5c"), ("ones", b"\xff"), ("zeros", b"\x00")):
        yield _draft(shape, f"key-{name}", byte * shape.block, data, "boundary")
        yield _draft(shape, f"key-{name}-long", byte * (shape.block + 3), data, "boundary")
    yield _draft(shape, "key-zero-tail", stream(shape.name, shape.block // 2) + bytes(5), data, "boundary")


def _data_lengths(shape: Shape) -> Iterator[Draft]:
    """The inner hash has already taken a block when the data begins."""
    block, room = shape.block, shape.block - shape.length_field
    for length in (0, 1, room - 1, room, room + 1, block - 1, block, block + 1, 2 * block + room):
        label = f"{shape.name}-data-{length:03d}"
        tier: Tier = "smoke" if length == room else "boundary"
        yield _draft(shape, f"data-{length:03d}", stream(f"{label}.key", 20), stream(label, length), tier)
