"""Frames between host and worker: encoding and decoding only, no I/O. The worker's side is kernels/worker/."""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from matrix.errors import GuestError

PROTOCOL = 2
MAX_FRAME = 8 << 20
MAX_BUFFERS = 12
MAX_STEPS = 16384
"""Steps of one RUN; the worker has room for no more (kernels/worker/run.c)."""
SLOT_BYTES = 128 << 10
LINE_BYTES = 64
"""What place OFFSET counts from; offsets are smaller."""
NOTHING = 0xFFFF
"""A function or buffer index that names none; as a step's function it means SET_MASK."""
STACK = 0xFFFE
"""In place of a buffer's index: the kernel's stack, below which an address lies."""
NO_REQUEST = 0xFFFFFFFF
"""The id of a frame that answers no request."""
NO_SENDER = 0xFFFFFFFF
_HEADER = struct.Struct("<IIHH")
_AFTER_LENGTH = _HEADER.size - 4
RUN_LAYOUT = struct.Struct("<HHHH")
"""Buffers, steps, the number of the state at entry (matrix/cases/entry.py), flags."""
RUN_FAULTS = 1
"""Flag of a RUN: a step is to end at an inaccessible page."""
ADDRESS_KEPT, ADDRESS_FIXED = 1, 2
"""Flags of an address: its buffer is compared after the step, or the address is the buffer's read-only one."""
BUFFER_LAYOUT = struct.Struct("<BBHHHI")
STEP_LAYOUT = struct.Struct("<HH")
WORD_LAYOUT = struct.Struct("<BBHIQ")
COUNT_LAYOUT = struct.Struct("<HHI")
_PLACE = struct.Struct("<HHq")
_TEXT = struct.Struct("<HH")
_SIGNAL = struct.Struct("<IiQQHHqIII")


class Op(IntEnum):
    """Operations of a frame."""

    HELLO = 0
    SET_MASK = 1
    CHOOSE = 2
    RUN = 3
    PING = 4
    SELFTEST = 5
    BENCH = 6
    LEFT = 7


class Status(IntEnum):
    """Status of a reply."""

    OK = 0
    UNSUPPORTED = 1
    BAD_REQUEST = 2
    CANARY = 3
    INPUT_MODIFIED = 4
    REGISTER = 5
    SIGNAL = 6
    INTERNAL = 7
    PROCESS = 8
    FAULT = 9


class Role(IntEnum):
    """What a buffer of a RUN is for."""

    IN = 0
    OUT = 1
    INOUT = 2
    STATE = 3


class Place(IntEnum):
    """Where in its slot a buffer lies."""

    FLUSH_AFTER = 0
    FLUSH_BEFORE = 1
    OFFSET = 2


@dataclass(frozen=True, slots=True)
class Buffer:
    """One buffer of a RUN: its role, length in bytes, bytes (in, inout) and place."""

    name: str
    role: Role
    length: int
    data: bytes = b""
    place: Place = Place.FLUSH_AFTER
    offset: int = 0
    align: int = 1


@dataclass(frozen=True, slots=True)
class Word:
    """One argument word: a constant, or the address of byte ``value`` of buffer ``buffer``."""

    value: int
    buffer: int = NOTHING
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One call: the index of the function in the worker's table and its words."""

    function: int
    words: tuple[Word, ...]


@dataclass(frozen=True)
class Hello:
    """What a worker says of itself when it starts."""

    build_id: str
    arch: str
    word_bytes: int
    big_endian: bool
    pid: int
    raw: tuple[int, ...]
    detected: int
    capabilities: tuple[str, ...]
    functions: tuple[tuple[str, bool], ...]

    @property
    def detected_names(self) -> frozenset[str]:
        """Names of the detected capabilities."""
        return frozenset(name for bit, name in enumerate(self.capabilities) if self.detected >> bit & 1)


@dataclass(frozen=True)
class RunReply:
    """A RUN that ended: the steps' return words, how often each function was entered, the output buffers in order."""

    returned: tuple[int, ...]
    entered: dict[int, int]
    outputs: tuple[bytes, ...]


@dataclass(frozen=True)
class Violation:
    """A canary or a read-only input changed: which buffer, in which step, and the first wrong byte's offset."""

    buffer: int
    step: int
    offset: int


@dataclass(frozen=True)
class SignalReply:
    """A signal in the guest; ``buffer`` is the nearest to ``address``, ``offset`` counts from its first byte.

    ``sender`` is the pid of another process that sent it, as the guest sees that: 0 for one outside of its pid
    namespace, NO_SENDER when it was no other process. ``milliseconds`` is how long the request had been worked on.
    """

    number: int
    code: int
    address: int
    pc: int
    step: int
    buffer: int
    offset: int
    buffer_length: int
    sender: int = NO_SENDER
    milliseconds: int = 0

    @property
    def by_another(self) -> bool:
        """Whether another process sent it."""
        return self.sender != NO_SENDER


def frame(request_id: int, op: Op, payload: bytes) -> bytes:
    """A whole frame. Raises GuestError when it is longer than MAX_FRAME."""
    if len(payload) + _AFTER_LENGTH > MAX_FRAME:
        raise GuestError("a request is too long for one frame", why=f"{len(payload)} bytes")
    return _HEADER.pack(len(payload) + _AFTER_LENGTH, request_id, op, 0) + payload


@dataclass(frozen=True, slots=True)
class Frame:
    """A decoded reply."""

    request_id: int
    op: int
    status: int
    payload: bytes


class FrameReader:
    """Cuts a byte stream into frames, however the bytes arrive."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that ``data`` completes. Raises GuestError for a length that no frame can have, when no complete
        frame comes before it."""
        pending = self._pending
        pending += data
        frames: list[Frame] = []
        start = 0
        while len(pending) - start >= _HEADER.size:
            length, request_id, op, status = _HEADER.unpack_from(pending, start)
            if not _AFTER_LENGTH <= length <= MAX_FRAME:
                if frames:
                    break
                raise GuestError(
                    "the guest sent garbage",
                    why=f"a frame of {length} bytes: {bytes(pending[start : start + 16]).hex()}",
                )
            if len(pending) - start < length + 4:
                break
            frames.append(Frame(request_id, op, status, bytes(pending[start + _HEADER.size : start + 4 + length])))
            start += length + 4
        del pending[:start]
        return frames

    @property
    def unfinished(self) -> bytes:
        """Bytes of a frame that is not complete."""
        return bytes(self._pending)


def encode_run(buffers: Iterable[Buffer], steps: Iterable[Step]) -> bytes:
    """The payload of a RUN request."""
    buffers, steps = list(buffers), list(steps)
    parts = [RUN_LAYOUT.pack(len(buffers), len(steps), 0, 0)]
    for buffer in buffers:
        parts.append(BUFFER_LAYOUT.pack(buffer.role, buffer.place, buffer.offset, buffer.align, 0, buffer.length))
        parts.append(buffer.data)
    for step in steps:
        parts.append(STEP_LAYOUT.pack(step.function, len(step.words)))
        for word in step.words:
            parts.append(WORD_LAYOUT.pack(word.buffer != NOTHING, word.read_only, word.buffer, 0, word.value))
    return b"".join(parts)


def step_function(payload: bytes, step: int) -> int:
    """The function that a step of a RUN request calls, by the request's payload, NOTHING for one that sets the mask.

    ``step`` must be one of the request's.
    """
    buffers, *_ = RUN_LAYOUT.unpack_from(payload)
    at = RUN_LAYOUT.size
    for _ in range(buffers):
        role, *_rest, length = BUFFER_LAYOUT.unpack_from(payload, at)
        at += BUFFER_LAYOUT.size + (length if role in (Role.IN, Role.INOUT) else 0)
    for _ in range(step):
        at += STEP_LAYOUT.size + STEP_LAYOUT.unpack_from(payload, at)[1] * WORD_LAYOUT.size
    return int(STEP_LAYOUT.unpack_from(payload, at)[0])


def decode_run(payload: bytes, output_lengths: Iterable[int]) -> RunReply:
    """The payload of a RUN reply with status ok. Raises GuestError when it is not as long as the outputs asked for."""
    try:
        steps, entered = struct.unpack_from("<HH", payload)
        returned = struct.unpack_from(f"<{steps}Q", payload, 4)
        at = 4 + 8 * steps
        counts = {}
        for _ in range(entered):
            function, _zero, count = COUNT_LAYOUT.unpack_from(payload, at)
            counts[function] = count
            at += COUNT_LAYOUT.size
    except struct.error:
        raise GuestError("the guest's answer to RUN is cut short", why=f"{len(payload)} bytes") from None
    outputs = []
    for length in output_lengths:
        outputs.append(payload[at : at + length])
        at += length
    if at != len(payload):
        raise GuestError("the guest's answer to RUN has another size", why=f"{len(payload)} bytes, {at} expected")
    return RunReply(returned, counts, tuple(outputs))


def entered_bytes(payload: bytes, steps: int, outputs: int) -> bytes | None:
    """The part of a RUN reply that says what was entered; equal parts mean the same functions, equally often.

    None when the reply does not have ``steps`` return words and ``outputs`` bytes of output.
    """
    start, end = 4 + 8 * steps, len(payload) - outputs
    entered = (end - start) // COUNT_LAYOUT.size
    if (end - start) % COUNT_LAYOUT.size or payload[:4] != struct.pack("<HH", steps, max(0, entered)):
        return None
    return payload[start:end]


def read_entered(told: bytes) -> dict[int, int]:
    """{function index: count} of such a part."""
    return {function: count for function, _zero, count in COUNT_LAYOUT.iter_unpack(told)}


def decode_violation(payload: bytes) -> Violation:
    """The payload of a canary or input-modified reply. Raises GuestError."""
    return Violation(*_exact(_PLACE, payload))


def decode_registers(payload: bytes) -> tuple[int, str]:
    """The payload of a register-clobbered reply: the step and the registers' names. Raises GuestError."""
    if len(payload) < _TEXT.size:
        raise GuestError("the guest's answer has a wrong size", why=f"{len(payload)} bytes")
    step, length = _TEXT.unpack_from(payload)
    if len(payload) != _TEXT.size + length:
        raise GuestError("the guest's answer has a wrong size", why=f"{len(payload)} bytes, a text of {length} in it")
    return step, payload[_TEXT.size :].decode("utf-8", "replace")


def decode_signal(payload: bytes) -> SignalReply:
    """The payload of a signal reply. Raises GuestError."""
    return SignalReply(*_exact(_SIGNAL, payload))


def _exact(layout: struct.Struct, payload: bytes) -> tuple[int, ...]:
    if len(payload) != layout.size:
        raise GuestError("the guest's answer has a wrong size", why=f"{len(payload)} bytes, {layout.size} expected")
    return layout.unpack(payload)


def encode_choose(function: int, length: int) -> bytes:
    """The payload of CHOOSE: a dispatch function and the length in bytes."""
    return struct.pack("<HHIQ", function, 0, 0, length)


def decode_choose(payload: bytes) -> int:
    """The index of the chosen function, NOTHING when none fits. Raises GuestError."""
    return _exact(struct.Struct("<H"), payload)[0]


def encode_left(stack_bytes: int) -> bytes:
    """The payload of LEFT: how much of the stack is asked for, in bytes."""
    return struct.pack("<I", stack_bytes)


def decode_left(payload: bytes, lengths: Iterable[int]) -> tuple[bytes, ...]:
    """The payload of a LEFT reply in parts of these ``lengths``: the stack, then every state. Raises GuestError."""
    parts, at = [], 0
    for length in lengths:
        parts.append(payload[at : at + length])
        at += length
    if at != len(payload):
        raise GuestError("the guest's answer to LEFT has another size", why=f"{len(payload)} bytes, {at} expected")
    return tuple(parts)


def encode_mask(bits: int) -> bytes:
    """The payload of SET_MASK."""
    return struct.pack("<Q", bits)


def decode_mask(payload: bytes) -> int:
    """The effective mask word. Raises GuestError."""
    return _exact(struct.Struct("<Q"), payload)[0]


def decode_hello(reply: Frame) -> Hello:
    """The worker's first frame. Raises GuestError when it is not a HELLO of this protocol."""
    if reply.op != Op.HELLO or reply.status != Status.OK:
        raise GuestError("the guest did not say hello", why=f"operation {reply.op}, status {reply.status}")
    data, at = reply.payload, 0

    def take(layout: str) -> tuple[int, ...]:
        nonlocal at
        values = struct.unpack_from("<" + layout, data, at)
        at += struct.calcsize("<" + layout)
        return values

    def text() -> str:
        nonlocal at
        (length,) = take("H")
        at += length
        return data[at - length : at].decode("utf-8")

    try:
        (protocol,) = take("H")
        if protocol != PROTOCOL:
            raise GuestError("the worker speaks another protocol", why=f"version {protocol}, {PROTOCOL} expected")
        build_id, arch = text(), text()
        word_bytes, order, pid = take("BBI")
        raw = take(f"{take('H')[0]}Q")
        (detected,) = take("Q")
        capabilities = tuple(text() for _ in range(take("H")[0]))
        functions = tuple((text(), take("B")[0] == 1) for _ in range(take("H")[0]))
    except (struct.error, UnicodeDecodeError) as problem:
        raise GuestError("the guest's hello cannot be read", why=str(problem)) from None
    if at != len(data):
        raise GuestError("the guest's hello cannot be read", why=f"{len(data)} bytes, {at} expected")
    return Hello(build_id, arch, word_bytes, order == 1, pid, raw, detected, capabilities, functions)
