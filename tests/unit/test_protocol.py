"""Frames: however bytes arrive; round trips against a reading of the format written here; garbage is a GuestError."""

import struct
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrix.errors import GuestError
from matrix.worker import protocol as pr
from matrix.worker.protocol import Buffer, Frame, FrameReader, Op, Place, Role, Status, Step, Word

U16 = st.integers(0, 0xFFFF)
U32 = st.integers(0, 0xFFFF_FFFF)
U64 = st.integers(0, (1 << 64) - 1)
TEXT = st.text("r10 xé₂", max_size=12)
PAYLOADS = st.binary(max_size=60)


@dataclass
class Reading:
    """Reads a payload front to back with one struct format at a time; independent of the module under test."""

    data: bytes
    at: int = field(default=0)

    def take(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def bytes(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]


def raw_frame(request_id: int, op: int, status: int, payload: bytes) -> bytes:
    """A frame as the worker writes it: length of what follows, id, operation, flags, payload."""
    return struct.pack("<I", 8 + len(payload)) + struct.pack("<IHH", request_id, op, status) + payload


def text(value: str) -> bytes:
    """A string as the worker writes it."""
    data = value.encode()
    return struct.pack("<H", len(data)) + data


@given(
    frames=st.lists(st.tuples(U32, U16, U16, PAYLOADS), max_size=6),
    cuts=st.lists(st.integers(0, 400), max_size=12),
    rest=st.binary(max_size=3),
)
def test_frames_come_out_whole_however_the_bytes_arrive(
    frames: list[tuple[int, int, int, bytes]], cuts: list[int], rest: bytes
) -> None:
    stream = b"".join(raw_frame(*parts) for parts in frames) + rest
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    reader = FrameReader()
    found = [frame for start, end in pairwise(places) for frame in reader.feed(stream[start:end])]
    assert found == [Frame(*parts) for parts in frames]
    assert reader.unfinished == rest


def test_a_frame_arrives_with_its_last_byte_and_not_before() -> None:
    reader = FrameReader()
    stream = raw_frame(7, 3, 0, b"abc")
    for byte in stream[:-1]:
        assert reader.feed(bytes([byte])) == []
    assert reader.feed(stream[-1:]) == [Frame(7, 3, 0, b"abc")]


@pytest.mark.parametrize("length", [0, 7, pr.MAX_FRAME + 1, 0xFFFF_FFFF])
def test_an_impossible_length_is_garbage(length: int) -> None:
    with pytest.raises(GuestError, match=f"a frame of {length} bytes"):
        FrameReader().feed(struct.pack("<IIHH", length, 1, 3, 0))


def test_the_longest_frame_is_taken_and_sent_and_no_longer_one() -> None:
    payload = bytes(pr.MAX_FRAME - 8)
    stream = pr.frame(9, Op.PING, payload)
    assert FrameReader().feed(stream) == [Frame(9, Op.PING, 0, payload)]
    with pytest.raises(GuestError, match="too long"):
        pr.frame(9, Op.PING, payload + b"x")


@given(request_id=U32, op=st.sampled_from(Op), payload=PAYLOADS)
def test_a_request_has_no_flags(request_id: int, op: Op, payload: bytes) -> None:
    assert pr.frame(request_id, op, payload) == raw_frame(request_id, op, 0, payload)


@st.composite
def buffers(draw: st.DrawFn) -> list[Buffer]:
    """Up to twelve buffers; in and inout carry as many bytes as their length says."""
    found = []
    for number in range(draw(st.integers(0, pr.MAX_BUFFERS))):
        role = draw(st.sampled_from(Role))
        data = draw(st.binary(max_size=9)) if role in (Role.IN, Role.INOUT) else b""
        length = len(data) if role in (Role.IN, Role.INOUT) else draw(st.integers(0, pr.SLOT_BYTES))
        place = draw(st.sampled_from(Place))
        offset = draw(st.integers(0, 63)) if place is Place.OFFSET else 0
        align = 1 << draw(st.integers(0, 6))
        found.append(Buffer(f"b{number}", role, length, data, place, offset, align))
    return found


WORDS = st.builds(Word, U64) | st.builds(Word, U64, st.integers(0, 11), st.booleans())
STEPS = st.builds(Step, U16, st.lists(WORDS, max_size=8).map(tuple))


@given(laid_out=buffers(), steps=st.lists(STEPS, max_size=5))
def test_a_run_request_reads_as_the_contract_says(laid_out: list[Buffer], steps: list[Step]) -> None:
    reading = Reading(pr.encode_run(laid_out, steps))
    assert reading.take("HHHH") == (len(laid_out), len(steps), 0, 0)
    for buffer in laid_out:
        role, place, offset, align, zero, length = reading.take("BBHHHI")
        assert (role, place, offset, align, zero) == (buffer.role, buffer.place, buffer.offset, buffer.align, 0)
        assert length == buffer.length
        if role in (0, 2):
            assert reading.bytes(length) == buffer.data
    for step in steps:
        assert reading.take("HH") == (step.function, len(step.words))
        for word in step.words:
            kind, flags, index, zero, value = reading.take("BBHIQ")
            assert (kind, flags, zero) == (int(word.buffer != pr.NOTHING), int(word.read_only), 0)
            assert (index, value) == (word.buffer, word.value)
    assert reading.at == len(reading.data)


@given(
    returned=st.lists(U64, max_size=4),
    entered=st.dictionaries(U16, U32, max_size=4),
    outputs=st.lists(st.binary(max_size=20), max_size=3),
    cut=st.integers(1, 30),
    extra=st.binary(min_size=1, max_size=3),
)
def test_a_run_reply_comes_back_and_no_other_length_does(
    returned: list[int], entered: dict[int, int], outputs: list[bytes], cut: int, extra: bytes
) -> None:
    payload = struct.pack(f"<HH{len(returned)}Q", len(returned), len(entered), *returned)
    payload += b"".join(struct.pack("<HHI", function, 0, count) for function, count in entered.items())
    payload += b"".join(outputs)
    lengths = [len(output) for output in outputs]
    reply = pr.decode_run(payload, lengths)
    assert reply == pr.RunReply(tuple(returned), entered, tuple(outputs))
    for wrong in (payload[:-cut], payload + extra):
        with pytest.raises(GuestError):
            pr.decode_run(wrong, lengths)


@given(payload=st.binary(max_size=80), lengths=st.lists(st.integers(0, 40), max_size=3))
def test_garbage_as_a_run_reply_is_read_or_refused_but_never_breaks(payload: bytes, lengths: list[int]) -> None:
    with suppress(GuestError):
        reply = pr.decode_run(payload, lengths)
        assert [len(output) for output in reply.outputs] == lengths


def hello_payload(**changed: object) -> bytes:
    """A HELLO as the contract lays it out."""
    parts: dict[str, object] = {
        "protocol": struct.pack("<H", 2),
        "build": text("b1d"),
        "arch": text("arm32"),
        "word": struct.pack("<BBI", 4, 0, 4321),
        "raw": struct.pack("<HQQ", 2, 0x1000, 3),
        "detected": struct.pack("<Q", 0b101),
        "capabilities": struct.pack("<H", 3) + text("neon") + text("aes") + text("pmull"),
        "functions": struct.pack("<H", 2) + text("a.b.c") + b"\0" + text("a.b") + b"\1",
    }
    return b"".join(part for part in (parts | changed).values() if isinstance(part, bytes))


def _hello(payload: bytes, op: int = 0, status: int = 0) -> pr.Hello:
    return pr.decode_hello(Frame(0, op, status, payload))


def test_a_hello_comes_back() -> None:
    hello = _hello(hello_payload())
    assert (hello.build_id, hello.arch, hello.word_bytes, hello.big_endian, hello.pid) == (
        "b1d",
        "arm32",
        4,
        False,
        4321,
    )
    assert hello.raw == (0x1000, 3)
    assert hello.capabilities == ("neon", "aes", "pmull")
    assert hello.detected_names == {"neon", "pmull"}
    assert hello.functions == (("a.b.c", False), ("a.b", True))


def test_a_big_endian_guest_says_so() -> None:
    assert _hello(hello_payload(word=struct.pack("<BBI", 8, 1, 1))).big_endian


def test_a_hello_with_nothing_in_it() -> None:
    empty = struct.pack("<H", 0)
    hello = _hello(hello_payload(raw=empty, capabilities=empty, functions=empty))
    assert (hello.raw, hello.capabilities, hello.functions) == ((), (), ())


def test_a_hello_cut_anywhere_is_refused() -> None:
    whole = hello_payload()
    for length in range(len(whole)):
        with pytest.raises(GuestError):
            _hello(whole[:length])
    with pytest.raises(GuestError):
        _hello(whole + b"\0")


@pytest.mark.parametrize(
    ("payload", "op", "status", "why"),
    [
        (hello_payload(protocol=struct.pack("<H", 1)), 0, 0, "version 1"),
        (hello_payload(), 4, 0, "operation 4"),
        (hello_payload(), 0, 7, "status 7"),
        (hello_payload(build=struct.pack("<H", 2) + b"\xff\xfe"), 0, 0, "utf-8"),
    ],
)
def test_another_first_frame_is_refused(payload: bytes, op: int, status: int, why: str) -> None:
    with pytest.raises(GuestError) as caught:
        _hello(payload, op, status)
    assert why in caught.value.why


@given(payload=st.binary(max_size=60))
def test_garbage_as_a_hello_never_breaks(payload: bytes) -> None:
    for data in (payload, struct.pack("<H", 2) + payload):
        with suppress(GuestError):
            _hello(data)


@given(buffer=U16, step=U16, offset=st.integers(-(1 << 63), (1 << 63) - 1))
def test_a_violation_comes_back(buffer: int, step: int, offset: int) -> None:
    payload = struct.pack("<HHq", buffer, step, offset)
    assert pr.decode_violation(payload) == pr.Violation(buffer, step, offset)


@given(step=U16, names=TEXT)
def test_clobbered_registers_come_back(step: int, names: str) -> None:
    payload = struct.pack("<H", step) + text(names)
    assert pr.decode_registers(payload) == (step, names)


@given(st.tuples(U32, st.integers(-5, 5), U64, U64, U16, U16, st.integers(-(1 << 40), 1 << 40), U32, U32, U32))
def test_a_signal_comes_back(fields: tuple[int, int, int, int, int, int, int, int, int, int]) -> None:
    payload = struct.pack("<IiQQHHqIII", *fields)
    assert len(payload) == 4 + 4 + 8 + 8 + 2 + 2 + 8 + 4 + 4 + 4
    assert pr.decode_signal(payload) == pr.SignalReply(*fields)
    assert pr.decode_signal(payload).by_another is (fields[-2] != 0xFFFFFFFF)


@given(function=U16, length=U64, bits=U64)
def test_choose_and_set_mask(function: int, length: int, bits: int) -> None:
    assert struct.unpack("<HHIQ", pr.encode_choose(function, length)) == (function, 0, 0, length)
    assert pr.decode_choose(struct.pack("<H", function)) == function
    assert pr.encode_mask(bits) == bits.to_bytes(8, "little")
    assert pr.decode_mask(bits.to_bytes(8, "little")) == bits


@given(payload=st.binary(max_size=50))
def test_a_payload_of_another_size_is_a_guest_error(payload: bytes) -> None:
    for decode, size in ((pr.decode_violation, 12), (pr.decode_signal, 48), (pr.decode_choose, 2), (pr.decode_mask, 8)):
        if len(payload) != size:
            with pytest.raises(GuestError):
                decode(payload)


@pytest.mark.parametrize("payload", [b"", b"\0", b"\0\0\0", b"\0\0\5\0r4", b"\0\0\1\0r4"])
def test_a_register_reply_of_another_size_is_a_guest_error(payload: bytes) -> None:
    with pytest.raises(GuestError):
        pr.decode_registers(payload)


def test_the_numbers_of_the_format() -> None:
    assert [op.value for op in (Op.HELLO, Op.SET_MASK, Op.CHOOSE, Op.RUN, Op.PING)] == [0, 1, 2, 3, 4]
    assert [status.value for status in (Status.OK, Status.UNSUPPORTED, Status.BAD_REQUEST, Status.CANARY)] == [
        0,
        1,
        2,
        3,
    ]
    assert [status.value for status in (Status.INPUT_MODIFIED, Status.REGISTER, Status.SIGNAL, Status.INTERNAL)] == [
        4,
        5,
        6,
        7,
    ]
    assert [role.value for role in (Role.IN, Role.OUT, Role.INOUT, Role.STATE)] == [0, 1, 2, 3]
    assert [place.value for place in (Place.FLUSH_AFTER, Place.FLUSH_BEFORE, Place.OFFSET)] == [0, 1, 2]
