"""One guest process: a window of requests in flight, a deadline for each, restart and confirmation after a death."""

import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from matrix.errors import GuestError
from matrix.sandbox.base import Channel
from matrix.worker import outcome as oc
from matrix.worker import protocol as pr
from matrix.worker.outcome import Outcome
from matrix.worker.protocol import Frame, FrameReader, Hello, Op, Status

DEADLINE = 10.0
"""Seconds that one request may take; far above any kernel call, far below a user's patience."""
_START_DEADLINE = 30.0
_MOST_FORGIVEN = 3
"""Deaths without a word of its own that one guest may have and still be believed."""
_KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)
"""How a process ends that was killed: by its status here, and by that of a container."""
_SURPLUS = "does a kernel start a second process, or write to the channel of the worker?"
_INTERRUPT_GRACE = 2.0
_WINDOW_REQUESTS = 256
_WINDOW_BYTES = 1 << 20
"""Requests and bytes in flight. Both ends read and write without blocking, so the bound is for memory only."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a guest is asked. ``seconds`` is how long the answer may take, 0 for the guest's own deadline."""

    op: Op
    payload: bytes
    seconds: float = 0.0


@dataclass
class _InFlight:
    request_id: int
    request: Request


class _Window:
    """The requests in flight, those that wait to be sent again, and the bytes that are still to be written."""

    def __init__(self, source: Iterator[Request]) -> None:
        self._source = source
        self._again: deque[Request] = deque()
        self._bytes = 0
        self.flying: deque[_InFlight] = deque()
        self.outgoing = bytearray()
        self.since = 0.0

    def fill(self, guest: "Guest") -> bool:
        """Take requests up to the window's bounds; False when all are answered."""
        while len(self.flying) < _WINDOW_REQUESTS and self._bytes < _WINDOW_BYTES:
            item = self._again.popleft() if self._again else next(self._source, None)
            if item is None:
                break
            if not self.flying:
                self.since = time.monotonic()
            sent = _InFlight(guest.next_id(), item)
            self.flying.append(sent)
            self.outgoing += pr.frame(sent.request_id, item.op, item.payload)
            self._bytes += len(item.payload)
        return bool(self.flying)

    def answered(self) -> None:
        """The oldest request has its answer; the deadline of the next one starts now."""
        self._bytes -= len(self.flying.popleft().request.payload)
        self.since = time.monotonic()

    def lose_all(self) -> _InFlight:
        """The guest died: return the oldest request, and queue the others to be sent again."""
        victim = self.flying.popleft()
        self._again.extendleft(later.request for later in reversed(self.flying))
        self.flying.clear()
        self.outgoing.clear()
        self._bytes = 0
        return victim


@dataclass
class GuestCounts:
    """How many guests were started, and how many requests were answered, for the run's summary."""

    starts: int = 0
    requests: int = 0
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The form in which an xdist worker sends it home."""
        return {"guests": self.starts, "requests": self.requests, "notes": self.notes}


class Guest:
    """A worker that is restarted as needed; ``start`` gives a new channel to a fresh guest."""

    def __init__(self, start: Callable[[], Channel], counts: GuestCounts, deadline: float = DEADLINE) -> None:
        self._start = start
        self._counts = counts
        self._deadline = deadline
        self._channel: Channel | None = None
        self._reader = FrameReader()
        self._last_id = 0
        self._forgiven = 0
        self._interrupted = False
        self._prelude: Request | None = None
        self.hello = self._fresh()

    def close(self) -> None:
        """End the guest by closing its input; kill it if it does not go."""
        if self._channel:
            self._channel.finish(2.0)
            self._channel = None

    def set_mask(self, bits: int) -> int:
        """SET_MASK, repeated after every restart; returns the effective word. Raises GuestError when refused."""
        payload = pr.encode_mask(bits)
        result = self.one(Op.SET_MASK, payload)
        if not isinstance(result, oc.Answer):
            raise GuestError("the worker refuses the mask", why=str(result))
        self._prelude = Request(Op.SET_MASK, payload)
        return pr.decode_mask(result.payload)

    def clear_mask(self) -> None:
        """Use what was detected again: a fresh guest if a mask had been set."""
        if self._prelude:
            self._prelude = None
            self.close()
            self.hello = self._fresh()

    def one(self, op: Op, payload: bytes) -> Outcome:
        """Send one request and return its outcome."""
        return next(iter(self.many([Request(op, payload)])))

    def many(self, requests: Iterable[Request]) -> Generator[Outcome]:
        """Outcomes of ``requests`` in order. The guest is restarted after a death and the rest is sent again, so that
        no request is lost and none is answered twice."""
        window = _Window(iter(requests))
        try:
            while window.fill(self):
                if self._channel is None:
                    self._restart()
                    window.since = time.monotonic()
                frames, death = self._exchange(window.outgoing, window.since, window.flying[0].request.seconds)
                for reply in frames:
                    result = self._match(reply, window.flying)
                    if isinstance(result, oc.Crashed | oc.TimedOut | oc.Garbage):
                        death = result
                        break
                    window.answered()
                    self._counts.requests += 1
                    yield result
                if death is not None and not window.flying:
                    self._end()
                    raise GuestError("a guest answers what nobody has asked", why=oc.describe(death), step=_SURPLUS)
                if death is not None:
                    yield self._confirmed(death, window.lose_all())
        finally:
            if window.flying:
                self._end()  # the caller stopped early: answers that are still to come must not meet other requests

    def next_id(self) -> int:
        """A request id that is not in flight."""
        self._last_id = self._last_id % 0xFFFFFFFF + 1
        return self._last_id

    def _exchange(self, outgoing: bytearray, since: float, seconds: float = 0.0) -> tuple[list[Frame], Outcome | None]:
        """Move bytes once in each direction; returns complete frames, and how the guest ended if it did.

        The oldest request may take ``seconds``, 0 for the guest's own deadline, from ``since`` on.
        """
        channel = self._channel
        assert channel is not None
        deadline = max(self._deadline, seconds)
        patience = deadline + (_INTERRUPT_GRACE if self._interrupted else 0.0)
        left = since + patience - time.monotonic()
        channel.wait_ready(bool(outgoing), max(0.0, left))
        if outgoing:
            sent = channel.send(memoryview(bytes(outgoing[: 1 << 18])))
            del outgoing[:sent]
        data = channel.receive()
        if data is None:
            return [], self._end_of_stream()
        try:
            frames = self._reader.feed(data)
        except GuestError as problem:
            self._end()
            return [], oc.Garbage(problem.why)
        if not frames and left <= 0:  # only now: a slow caller may come late for an answer that was there in time
            return [], self._overdue(channel, deadline)
        return frames, None

    def _overdue(self, channel: Channel, deadline: float) -> Outcome | None:
        """The deadline has passed: ask the worker where it hangs; kill it when it does not say."""
        if self._interrupted:
            self._end()
            return oc.TimedOut(deadline)
        # The worker answers SIGTERM with the finished replies and with where it hangs.
        self._interrupted = True
        channel.interrupt()
        return None

    def _end_of_stream(self) -> Outcome:
        assert self._channel is not None
        rest = self._reader.unfinished
        status, stderr = self._channel.finish(5.0)
        self._channel = None
        if rest and status not in _KILLED:
            return oc.Garbage(f"the stream ends inside a frame: {rest[:16].hex()}")
        return oc.Died(status, stderr)

    def _match(self, reply: Frame, flying: deque[_InFlight]) -> Outcome:
        """The outcome that ``reply`` means for the oldest unanswered request; Garbage when it answers another."""
        if not flying or reply.request_id != flying[0].request_id:
            return oc.Garbage(f"an answer to request {reply.request_id}, which is not the oldest")
        request = flying[0].request
        if reply.op != request.op:
            return oc.Garbage(f"an answer to operation {reply.op}, not {request.op}")
        try:
            return self._decode(reply, max(self._deadline, request.seconds))
        except (GuestError, ValueError) as problem:
            return oc.Garbage(str(problem))

    def _confirmed(self, death: Outcome, victim: _InFlight) -> Outcome:
        """Run the request alone in a fresh guest; a death that does not repeat is noted as flaky.

        A guest that was killed or paused from outside says nothing, and garbage may belong to another request: they
        are forgiven a few times. A signal or a hang that the guest itself reported, or an exit, stays a failure.
        """
        self._restart()
        again = self._alone(victim.request)
        if oc.is_death(again):
            self._end()
        if not oc.same_death(death, again):
            self._counts.notes.append(f"flaky: {oc.describe(death)}; alone in a fresh guest: {oc.describe(again)}")
            if not oc.is_death(again):
                silent = (
                    isinstance(death, oc.Garbage)
                    or (isinstance(death, oc.Died) and death.status in _KILLED)
                    or (isinstance(death, oc.TimedOut) and death.where is None)
                )
                self._forgiven += silent
                if not silent or self._forgiven > _MOST_FORGIVEN:
                    return oc.Unrepeated(death)
        return again

    def _alone(self, request: Request) -> Outcome:
        """The outcome of one request with nothing else in flight."""
        flying = deque([_InFlight(self.next_id(), request)])
        outgoing = bytearray(pr.frame(flying[0].request_id, request.op, request.payload))
        since = time.monotonic()
        while True:
            frames, death = self._exchange(outgoing, since, request.seconds)
            if frames:
                return self._match(frames[0], flying)
            if death is not None:
                return death

    def _end(self) -> None:
        """Kill the guest; the next request starts another."""
        if self._channel:
            self._channel.kill()
            self._channel = None

    def _restart(self) -> None:
        self._end()
        hello = self._fresh()
        if hello.build_id != self.hello.build_id:
            raise GuestError("a restarted worker is another build", why=f"{hello.build_id}, not {self.hello.build_id}")
        self.hello = hello
        if self._prelude:
            result = self._alone(self._prelude)
            if not isinstance(result, oc.Answer):
                raise GuestError("the worker refuses the mask after a restart", why=str(result))

    def _fresh(self) -> Hello:
        """Start a guest and read its HELLO. Raises GuestError with what it printed when it does not start."""
        self._reader = FrameReader()
        self._interrupted = False
        self._channel = self._start()
        self._counts.starts += 1
        since = time.monotonic() + _START_DEADLINE - self._deadline
        while True:
            frames, death = self._exchange(bytearray(), since)
            if frames:
                return self._hello(frames[0])
            if isinstance(death, oc.TimedOut):
                raise GuestError("the guest does not start", why=f"no hello within {_START_DEADLINE:.0f} s")
            if death is not None:
                raise GuestError("the guest does not start", why=oc.describe(death))

    def _hello(self, first: Frame) -> Hello:
        try:
            return pr.decode_hello(first)
        except GuestError:
            self._end()
            raise

    def _decode(self, reply: Frame, deadline: float) -> Outcome:
        status = Status(reply.status)
        if status is Status.OK:
            return oc.Answer(reply.payload)
        if status is Status.CANARY:
            return oc.Violated("canary", pr.decode_violation(reply.payload))
        if status is Status.INPUT_MODIFIED:
            return oc.Violated("input", pr.decode_violation(reply.payload))
        if status is Status.REGISTER:
            return oc.RegisterClobbered(*pr.decode_registers(reply.payload))
        if status is Status.FAULT:
            return oc.Faulted(pr.decode_signal(reply.payload))
        if status is Status.SIGNAL:
            death = pr.decode_signal(reply.payload)
            if self._interrupted and death.number == signal.SIGTERM:
                return oc.TimedOut(deadline, death)
            return oc.Crashed(death)
        return oc.Refused(status, reply.payload.decode("utf-8", "replace"))
