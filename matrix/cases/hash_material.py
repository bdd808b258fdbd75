"""Hard inputs that SHA-1, SHA-256 and SHA-512 share: chaining values and messages for ``blocks`` and ``hash``."""

from collections.abc import Iterator
from dataclasses import dataclass

from matrix.cases.case import Draft, Inputs, Tier
from matrix.cases.material import distinct, stream

PADDED_BLOCKS = 3
"""Messages around the end of each of so many blocks are boundary cases."""
LONG_BYTES = (1 << 29) + 73
"""A message whose bit count needs more than 32 bits."""
LONG_PIECE = (1 << 17) - 1
"""Bytes of its pieces: odd, so that every piece begins elsewhere in a block."""
_DISTINCT_BLOCKS = (2, 3, 4, 5, 8, 17, 33, 400)


@dataclass(frozen=True)
class Shape:
    """A hash: bytes of a word, of a block and of the chaining value, and where hashing starts (words little-endian)."""

    name: str
    word: int
    block: int
    start: bytes

    @property
    def length_field(self) -> int:
        """Bytes of the length at the end of the padding."""
        return 2 * self.word


def hash_edges(shape: Shape) -> Iterator[Draft]:
    """Drafts of the operations ``blocks`` (h, data) and ``hash`` (data) of the hash of that shape."""
    yield from _chaining_values(shape)
    yield from _lanes(shape)
    yield from _block_orders(shape)
    yield from _paddings(shape)
    yield long_message("hash", f"{shape.name} edges", {"data": stream(f"{shape.name}.long", LONG_PIECE)})


def long_message(operation: str, origin: str, inputs: Inputs) -> Draft:
    """The message repeats its input until its bit count is beyond 2^32."""
    return Draft(f"{operation}-bits-beyond-2-32", operation, inputs, origin, "long", total=LONG_BYTES)


def _blocks(shape: Shape, name: str, h: bytes, data: bytes, tier: Tier) -> Draft:
    return Draft(f"blocks-{name}", "blocks", {"h": h, "data": data}, f"{shape.name} edges", tier)


def _hash(shape: Shape, name: str, data: bytes, tier: Tier) -> Draft:
    return Draft(f"hash-{name}", "hash", {"data": data}, f"{shape.name} edges", tier)


def _chaining_values(shape: Shape) -> Iterator[Draft]:
    """Chaining values with long carries, with one hot word, and all different, before extreme and ordinary blocks."""
    size, word = len(shape.start), shape.word
    ones, top = b"\xff" * word, bytes(word - 1) + b"\x80"
    values = {
        "start": shape.start,
        "zeros": bytes(size),
        "ones": ones * (size // word),
        "tops": top * (size // word),
        "count": bytes(range(size)),
        **{f"hot{k}": bytes(word * k) + ones + bytes(size - word * (k + 1)) for k in range(size // word)},
    }
    for name, value in values.items():
        for filler, byte in (("00", b"\x00"), ("ff", b"\xff")):
            yield _blocks(shape, f"h-{name}-{filler}", value, byte * shape.block, "boundary")
        label = f"{shape.name}.h-{name}"
        yield _blocks(shape, f"h-{name}-1", value, stream(label, shape.block), "boundary")
        yield _blocks(shape, f"h-{name}-3", value, stream(label, 3 * shape.block), "full")
    yield _blocks(shape, "h-only", distinct(f"{shape.name}.h-only", size), b"", "smoke")


def _lanes(shape: Shape) -> Iterator[Draft]:
    """Blocks with one word that is not zero, in either of two blocks: a schedule that mixes up lanes shows."""
    for position in range(2 * shape.block // shape.word):
        hot = distinct(f"{shape.name}.lane-{position}", shape.word)
        data = bytes(shape.word * position) + hot
        data += bytes(2 * shape.block - len(data))
        yield _blocks(shape, f"lane-{position:02d}", shape.start, data, "boundary")


def _block_orders(shape: Shape) -> Iterator[Draft]:
    """Messages of different blocks, of equal blocks, and of two blocks in both orders."""
    one, other = (stream(f"{shape.name}.order-{k}", shape.block) for k in "ab")
    for name, data in (("ab", one + other), ("ba", other + one), ("aa", one + one), ("abab", 2 * (one + other))):
        yield _blocks(shape, f"order-{name}", shape.start, data, "smoke" if name == "ab" else "boundary")
    for count in _DISTINCT_BLOCKS:
        label = f"{shape.name}.distinct-{count}"
        h = distinct(f"{label}.h", len(shape.start))
        tier: Tier = "boundary" if count != 400 else "full"
        yield _blocks(shape, f"distinct-{count:03d}", h, stream(label, count * shape.block), tier)


def _paddings(shape: Shape) -> Iterator[Draft]:
    """Every length around the ends of the first blocks; messages that look like padding; one of 24 KiB and a bit."""
    room = shape.block - shape.length_field
    for blocks in range(PADDED_BLOCKS):
        for offset in (*range(room - 3, room + 2), *range(shape.block - 2, shape.block + 2)):
            length = blocks * shape.block + offset
            tier: Tier = "smoke" if blocks == 0 and offset in (room - 1, room) else "boundary"
            yield _hash(shape, f"pad-{length:03d}", stream(f"{shape.name}.pad-{length}", length), tier)
            ones = b"\xff" * length
            yield _hash(shape, f"ones-{length:03d}", ones, "full")
            yield _hash(shape, f"like-{length:03d}", ones[:-2] + b"\x80\x00", "full")
    bulk = 24 * 1024 + room
    yield _hash(shape, "bulk", stream(f"{shape.name}.bulk", bulk), "boundary")
