"""Hard inputs of SHA-1: chaining values, lanes of the schedule, orders of blocks, and the ends of padding."""

import struct
from collections.abc import Iterator

from matrix.cases.case import Draft
from matrix.cases.hash_material import Shape, hash_edges
from matrix.model.interface import Interface
from matrix.oracles.spec_sha import SHA1_START

SHAPE = Shape("sha1", word=4, block=64, start=struct.pack("<5I", *SHA1_START))


def edges(interface: Interface) -> Iterator[Draft]:
    """Drafts of the operations ``blocks`` (h[20], data) and ``hash`` (data)."""
    yield from hash_edges(SHAPE)
