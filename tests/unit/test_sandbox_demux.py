"""The engine's stream format, however the connection cuts it."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from matrix.sandbox.demux import Demultiplexer

CHUNKS = st.lists(st.tuples(st.sampled_from([1, 2, 3]), st.binary(max_size=40)), max_size=8)


@given(chunks=CHUNKS, cuts=st.lists(st.integers(1, 30), min_size=1, max_size=30))
def test_streams_are_told_apart_at_any_cut(chunks: list[tuple[int, bytes]], cuts: list[int]) -> None:
    wire = b"".join(struct.pack(">BxxxI", stream, len(data)) + data for stream, data in chunks)
    demux = Demultiplexer()
    out, err = b"", b""
    at = turn = 0
    while at < len(wire):
        size = cuts[turn % len(cuts)]
        more_out, more_err = demux.feed(wire[at : at + size])
        out, err = out + more_out, err + more_err
        at, turn = at + size, turn + 1
    assert out == b"".join(data for stream, data in chunks if stream == 1)
    assert err == b"".join(data for stream, data in chunks if stream != 1)


def test_nothing_comes_before_a_whole_header() -> None:
    demux = Demultiplexer()
    assert demux.feed(b"\x01\0\0\0\0\0\0") == (b"", b"")
    assert demux.feed(b"\x02ab") == (b"ab", b"")
