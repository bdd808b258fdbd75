"""Hard inputs of SHA-512: chaining values, lanes of the schedule, orders of blocks, and the ends of padding."""

import struct
from collections.abc import Iterator

from matrix.cases.case import Draft
from matrix.cases.hash_material import Shape, hash_edges
from matrix.model.interface import Interface
from matrix.oracles.spec_sha import SHA512_START

SHAPE = Shape("sha512", word=8, block=128, start=struct.pack("<8Q", *SHA512_START))


def edges(interface: Interface) -> Iterator[Draft]:
    """Drafts of the operations ``blocks`` (h[64], data) and ``hash`` (data)."""
    yield from hash_edges(SHAPE)
