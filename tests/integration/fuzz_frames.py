"""Random requests for a worker with the toy functions of ``fuzz/``: sound ones, and wrong in every way there is."""

import random
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from matrix.worker.protocol import (
    ADDRESS_FIXED,
    ADDRESS_KEPT,
    BUFFER_LAYOUT,
    MAX_BUFFERS,
    NOTHING,
    RUN_FAULTS,
    RUN_LAYOUT,
    SLOT_BYTES,
    STEP_LAYOUT,
    WORD_LAYOUT,
    Op,
    Place,
    Role,
    Status,
)

TOY_NOTHING, TOY_POKE, TOY_DISPATCH = range(3)
FUNCTIONS = 3
DETECTED = 0b011
"""Mask of the capabilities that the toys' table finds on every machine."""
MAX_STEPS = 16384
MAX_WORDS = 8
_LINE = 64
_MAX_ALIGN = 4096
_LENGTHS = (0, 1, 2, 15, 16, 17, 63, 64, 65, 255)
_EXTREMES = {
    1: (0, 1, 0x7F, 0x80, 0xFF),
    2: (0, 1, 0x7FFF, 0x8000, 0xFFFF),
    4: (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF),
    8: (0, 1, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1),
}
_LAYOUTS = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}
_REMEMBERED = 64
_MOST = 2 << 20
"""Bytes of the longest payload: more than a sound RUN takes; what is broken stays so when it is cut here."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the reply to a sound RUN holds: the number of steps, the entries of each function, the outputs' lengths."""

    steps: int
    entered: dict[int, int]
    outputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One request. ``status`` is the status its reply must have, None when that cannot be told without a decoder."""

    how: str
    op: int
    payload: bytes
    status: Status | None = None
    flags: int = 0
    answer: Answer | None = None


@dataclass(slots=True)
class _Buffer:
    role: int
    place: int
    offset: int
    align: int
    zero: int
    length: int
    data: bytes


@dataclass(slots=True)
class _Word:
    kind: int
    flags: int
    buffer: int
    zero: int
    value: int


@dataclass(slots=True)
class _Step:
    function: int
    words: list[_Word] = field(default_factory=list)
    count: int | None = None
    """What the frame says of the number of words, None: the truth."""


@dataclass(slots=True)
class _Run:
    """A RUN before it is packed; every field may be set to what it must not be."""

    buffers: list[_Buffer]
    steps: list[_Step]
    counts: tuple[int, int] | None = None
    number: int = 0
    flags: int = 0

    def pack(self) -> bytes:
        """The payload."""
        counts = self.counts or (len(self.buffers), len(self.steps))
        parts = [RUN_LAYOUT.pack(*counts, self.number, self.flags)]
        for b in self.buffers:
            parts += (BUFFER_LAYOUT.pack(b.role, b.place, b.offset, b.align, b.zero, b.length), b.data)
        for step in self.steps:
            parts.append(STEP_LAYOUT.pack(step.function, len(step.words) if step.count is None else step.count))
            parts += [WORD_LAYOUT.pack(w.kind, w.flags, w.buffer, w.zero, w.value) for w in step.words]
        return b"".join(parts)

    def status(self) -> Status:
        """What a sound RUN ends with: a poke into a buffer that its step must keep is told, everything else is ok.

        The read-only address of a state is one that toys do not poke at, and it makes no step keep the state.
        """
        for step in self.steps:
            if step.function != TOY_POKE or not step.words or not step.words[0].kind:
                continue
            first = step.words[0]
            buffer = self.buffers[first.buffer]
            compared = (ADDRESS_KEPT,) if buffer.role == Role.STATE else (ADDRESS_KEPT, ADDRESS_FIXED)
            if not any(word.flags in compared and word.buffer == first.buffer for word in step.words):
                continue
            poked = buffer.role != Role.STATE or first.flags != ADDRESS_FIXED
            if buffer.role != Role.IN and first.value < buffer.length and poked:
                return Status.INPUT_MODIFIED
        return Status.OK

    def answer(self) -> Answer:
        """What the reply to a sound RUN holds."""
        entered = Counter(step.function for step in self.steps if step.function != NOTHING)
        if entered[TOY_DISPATCH]:
            entered[TOY_NOTHING] += entered[TOY_DISPATCH]
        outputs = tuple(b.length for b in self.buffers if b.role in (Role.OUT, Role.INOUT))
        return Answer(len(self.steps), {function: n for function, n in entered.items() if n}, outputs)


class Requests:
    """An endless sequence of requests, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random, self._entry = random.Random(seed), random.Random(seed)
        self._sound: list[bytes] = []

    def __iter__(self) -> Iterator[Request]:
        makers = (self._sound_run, self._broken_run, self._mutated_run, self._other, self._broken_other, self._noise)
        pick = self._random.choices
        while True:
            for maker in pick(makers, (25, 32, 23, 8, 6, 6), k=64):
                yield maker()

    # ---- sound RUNs ----

    def _buffer(self) -> _Buffer:
        r = self._random
        role, place = r.randrange(4), r.randrange(3)
        kind = r.random()
        if kind < 0.6:
            length = r.choice(_LENGTHS)
        elif kind < 0.99:
            length = r.randrange(600)
        else:
            length = r.choice((SLOT_BYTES, SLOT_BYTES - 1, SLOT_BYTES - 1024, r.randrange(SLOT_BYTES)))
        align = 1 << r.choice((0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 12))
        offset = r.randrange(0, _LINE, min(align, _LINE)) if place == Place.OFFSET else 0
        if offset + length > SLOT_BYTES:
            offset = 0
        return _Buffer(role, place, offset, align, 0, length, self._data(role, length))

    def _data(self, role: int, length: int) -> bytes:
        return self._random.randbytes(length) if role in (Role.IN, Role.INOUT) else b""

    def _word(self, buffers: list[_Buffer]) -> _Word:
        r = self._random
        if not buffers or r.random() < 0.3:
            value = r.choice(_EXTREMES[8]) if r.random() < 0.5 else r.getrandbits(64)
            return _Word(0, 0, r.choice((0, NOTHING)), 0, value)
        which = r.randrange(len(buffers))
        length = buffers[which].length
        return _Word(
            1,
            r.choices((0, ADDRESS_KEPT, ADDRESS_FIXED), (7, 2, 1))[0],
            which,
            0,
            r.choice((0, length, r.randint(0, length))),
        )

    def _step(self, buffers: list[_Buffer]) -> _Step:
        r = self._random
        if r.random() < 0.1:
            return _Step(NOTHING, [_Word(0, 0, 0, 0, r.randrange(DETECTED + 1))])
        return _Step(r.randrange(FUNCTIONS), [self._word(buffers) for _ in range(r.choice((0, 1, 1, 2, 3, MAX_WORDS)))])

    def _run(self) -> _Run:
        r = self._random
        buffers = [self._buffer() for _ in range(r.choice((0, 1, 1, 1, 2, 2, 2, 3, 3, MAX_BUFFERS)))]
        if r.random() < 0.001:
            steps = [_Step(TOY_NOTHING)] * r.choice((MAX_STEPS, MAX_STEPS - 1))
        else:
            steps = [self._step(buffers) for _ in range(r.choice((0, 1, 1, 1, 2, 2, 3, 6)))]
        return _Run(buffers, steps, number=self._entry.getrandbits(16), flags=self._entry.randrange(RUN_FAULTS + 1))

    def _sound_run(self) -> Request:
        run = self._run()
        payload = run.pack()
        if len(self._sound) < _REMEMBERED:
            self._sound.append(payload)
        else:
            self._sound[self._random.randrange(_REMEMBERED)] = payload
        return Request("sound RUN", Op.RUN, payload, run.status(), answer=run.answer())

    # ---- RUNs with one thing wrong ----

    def _wrong(self, size: int, first: int) -> int:
        """A value of ``size`` bytes that is at least ``first``: just so, or far away."""
        last = (1 << 8 * size) - 1
        far = [value for value in _EXTREMES[size] if value >= first]
        return self._random.choice((first, last, *far, self._random.randint(first, last)))

    def _broken_run(self) -> Request:
        r = self._random
        run = self._run()
        if not run.buffers:
            run.buffers.append(self._buffer())
        if not run.steps or len(run.steps) > 10:
            run.steps = [self._step(run.buffers)]
        what = r.choice((self._break_buffer, self._break_buffer, self._break_step, self._break_word, self._break_whole))
        name = what(run)
        payload = run.pack()
        if name == "cut off":
            payload = payload[: r.randrange(len(payload))]
        elif name == "bytes after the end":
            payload += r.randbytes(r.choice((1, 2, 4, 16, 300)))
        payload = payload[:_MOST]
        # With another number of buffers the rest reads as something else, which may happen to be sound.
        status = None if name == "buffer count" else Status.BAD_REQUEST
        return Request(f"RUN with a wrong {name}", Op.RUN, payload, status)

    def _break_buffer(self, run: _Run) -> str:
        r = self._random
        buffer = r.choice(run.buffers)
        name = r.choice(("role", "place", "align", "offset", "zero", "length", "length and place"))
        if name == "role":
            buffer.role = self._wrong(1, 4)
        elif name == "place":
            buffer.place = self._wrong(1, 3)
        elif name == "align":
            buffer.align = r.choice((0, 3, 6, 24, 0xFFFF, 0x8000, 2 * _MAX_ALIGN, 2 * _MAX_ALIGN - 1, 0x8001))
        elif name == "offset":
            buffer.offset = self._wrong(2, _LINE if buffer.place == Place.OFFSET else 1)
        elif name == "zero":
            buffer.zero = self._wrong(2, 1)
        elif name == "length":
            buffer.length = self._wrong(4, SLOT_BYTES + 1)
        else:
            buffer.role, buffer.place, buffer.align = Role.OUT, Place.OFFSET, 1
            buffer.offset = r.randrange(1, _LINE)
            buffer.length, buffer.data = SLOT_BYTES - r.randrange(buffer.offset), b""
        return name

    def _break_step(self, run: _Run) -> str:
        r = self._random
        step = r.choice(run.steps)
        name = r.choice(("function", "word count", "mask", "mask step"))
        if name == "function":
            step.function = min(self._wrong(2, FUNCTIONS), NOTHING - 1)
        elif name == "word count":
            step.count = self._wrong(2, MAX_WORDS + 1)
            if r.random() < 0.5:
                step.words = [_Word(0, 0, 0, 0, 0)] * min(step.count, 100)
        elif name == "mask":
            step.function, step.words = NOTHING, [_Word(0, 0, 0, 0, self._wrong(8, DETECTED + 1))]
        else:
            step.function = NOTHING
            step.words = r.choice(([], [_Word(0, 0, 0, 0, 1)] * 2, [_Word(1, 0, 0, 0, 0)]))
        return name

    def _break_word(self, run: _Run) -> str:
        r = self._random
        which = r.randrange(len(run.buffers))
        word = _Word(1, 0, which, 0, 0)
        run.steps[0] = _Step(r.randrange(FUNCTIONS), [word])
        name = r.choice(("kind", "flags", "flags of a constant", "buffer", "zero", "address", "address"))
        if name == "kind":
            word.kind = self._wrong(1, 2)
        elif name == "flags":
            word.flags = self._wrong(1, ADDRESS_FIXED + 1)
        elif name == "flags of a constant":
            word.kind, word.flags = 0, self._wrong(1, 1)
        elif name == "buffer":
            word.buffer = self._wrong(2, len(run.buffers))
        elif name == "zero":
            word.zero = self._wrong(4, 1)
        else:
            word.value = self._wrong(8, run.buffers[which].length + 1)
        return name

    def _break_whole(self, run: _Run) -> str:
        r = self._random
        buffers, steps = len(run.buffers), len(run.steps)
        name = r.choice(("flag", "buffer count", "count", "cut off", "bytes after the end"))
        if name == "flag":
            run.flags = self._wrong(2, RUN_FAULTS + 1)
        elif name == "buffer count":
            run.counts = (r.randrange(MAX_BUFFERS + 1), steps)
        elif name == "count":
            kind = r.random()
            if kind < 0.3:  # really that many
                run.buffers = (run.buffers * 0xFF)[: self._wrong(1, MAX_BUFFERS + 1)]
            elif kind < 0.35:
                run.steps = [_Step(TOY_NOTHING)] * r.choice((MAX_STEPS + 1, MAX_STEPS + 2, 2 * MAX_STEPS))
            else:
                wrong = self._wrong(2, MAX_STEPS + 1), steps - 1, steps + 1
                run.counts = r.choice(((self._wrong(2, MAX_BUFFERS + 1), steps), (buffers, r.choice(wrong))))
        return name

    # ---- anything ----

    def _mutated_run(self) -> Request:
        r = self._random
        payload = bytearray(r.choice(self._sound)) if self._sound else bytearray(self._run().pack())
        for _ in range(r.choice((1, 1, 1, 2, 3, 8))):
            kind = r.random()
            size = r.choice((1, 2, 4, 8))
            at = r.randrange(min(len(payload), r.choice((24, 64, len(payload)))) or 1)
            if kind < 0.4 and payload:
                payload[at % len(payload)] ^= 1 << r.randrange(8)
            elif kind < 0.8 and at + size <= len(payload):
                struct.pack_into(_LAYOUTS[size], payload, at - at % size, r.choice(_EXTREMES[size]))
            elif kind < 0.87:
                del payload[at : at + r.choice((1, 2, 4, 12, 16))]
            elif kind < 0.94:
                payload[at:at] = r.randbytes(r.choice((1, 2, 4, 12, 16)))
            else:
                other = r.choice(self._sound) if self._sound else b""
                payload[at:] = other[at:]
        return Request("mutated RUN", Op.RUN, bytes(payload))

    def _other(self) -> Request:
        r = self._random
        op = r.choice((Op.PING, Op.PING, Op.CHOOSE, Op.SET_MASK, Op.HELLO))
        payload = b""
        if op == Op.PING:
            payload = r.randbytes(r.choice((0, 1, 7, r.randrange(400), 70000 if r.random() < 0.05 else 2)))
        elif op == Op.CHOOSE:
            payload = struct.pack("<HHIQ", TOY_DISPATCH, 0, 0, r.choice((*_EXTREMES[8], 15, 16)))
        elif op == Op.SET_MASK:
            payload = struct.pack("<Q", r.randrange(DETECTED + 1))
        return Request(f"sound {op.name}", op, payload, Status.OK)

    def _broken_other(self) -> Request:
        r = self._random
        kind = r.randrange(6)
        op, flags, choose = Op.CHOOSE, 0, [TOY_DISPATCH, 0, 0, r.getrandbits(64)]
        if kind == 2:
            choose[0] = r.choice((0, 1, self._wrong(2, FUNCTIONS)))
        elif kind == 3:
            choose[r.choice((1, 2))] = self._wrong(2, 1)
        payload = struct.pack("<HHIQ", *choose)
        if kind == 0:
            op, flags, payload = Op.PING, self._wrong(2, 1), r.randbytes(9)
        elif kind == 1:
            op, payload = Op.SET_MASK, struct.pack("<Q", self._wrong(8, DETECTED + 1))
        elif kind > 3:
            if kind == 4:
                op, payload = Op.SET_MASK, struct.pack("<Q", r.randrange(DETECTED + 1))
            payload = r.choice((payload + r.randbytes(r.randint(1, 9)), payload[: r.randrange(len(payload))]))
        return Request(f"broken {op.name}", op, payload, Status.BAD_REQUEST, flags)

    def _noise(self) -> Request:
        r = self._random
        op = r.choice((Op.RUN, Op.RUN, Op.SELFTEST, Op.BENCH, Op.LEFT, r.getrandbits(16)))
        size = r.choice((0, 1, 7, 8, 9, r.randrange(400)))
        payload = r.randbytes(size)
        if op == Op.RUN and size > 7 and r.random() < 0.7:  # past the head, or all of it would end there
            payload = RUN_LAYOUT.pack(r.randint(0, MAX_BUFFERS), r.randrange(20), 0, 0) + payload[RUN_LAYOUT.size :]
        return Request("noise", op, payload, None if op <= Op.PING or op == Op.LEFT else Status.UNSUPPORTED)
