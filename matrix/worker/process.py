"""One guest process: a window of requests in flight, a deadline for each, restart and confirmation after a death."""

import signal
import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from matrix.errors import GuestError
from matrix.sandbox.base import Channel
from matrix.worker import outcome as oc
from matrix.worker import protocol as pr
from matrix.worker.outcome import Outcome
from matrix.worker.patience import DEADLINE, Patience
from matrix.worker.protocol import Frame, FrameReader, Hello, Op, SignalReply, Status
from matrix.worker.window import InFlight, Request, Window

_MOST_DISTURBED = 20
"""Ends from outside that one guest may have; after so many they count as unexplained, or a run might never end."""
_MOST_STARTS = 3
_SURPLUS = "does a kernel start a second process, or write to the channel of the worker?"
_LOOK_SECONDS = 0.5
"""How long a guest is silent before it is looked at from outside, and how often from then on."""
_INTERRUPT_GRACE = 1.0
"""Seconds in which a guest says where it hangs when it is asked; the answer takes it about a millisecond."""
_ALMOST = 0.9
"""The share of its time that a request must have been worked on to be overdue: guest and host do not start to count in
the same moment."""
_STUCK_FRAME = 2.0
"""Seconds in which not one byte more of a frame comes; a worker writes a frame as fast as the host reads."""


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
        self._disturbed = 0
        self._patience = Patience(deadline)
        self._asked: tuple[int, oc.TimedOut, float] | None = None
        """The request that was overdue when the guest was sent SIGTERM, the outcome for it, and when that was."""
        self._served = 0
        """Requests that this very guest has answered."""
        self._last_byte = self._looked = self._silence = 0.0
        self._prelude: Request | None = None
        self.hello = self._fresh()

    def close(self) -> None:
        """End the guest by closing its input; kill it if it does not go."""
        if self._channel:
            self._channel.finish(2.0)
            self._channel = None

    def set_mask(self, bits: int) -> int | oc.Unrepeated:
        """SET_MASK, repeated after every restart; returns the effective word, or how the guest ended that was told
        first, while it had nothing to do. Raises GuestError when refused."""
        payload = pr.encode_mask(bits)
        result = self.one(Op.SET_MASK, payload)
        if isinstance(result, oc.Unrepeated):
            return result
        if not isinstance(result, oc.Answer):
            raise GuestError("the worker refuses the mask", why=oc.describe(result))
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
        window = Window(iter(requests), self.next_id)
        self._patience.forget()
        suspect: Outcome | None = None
        try:
            while window.fill():
                if self._channel is None:
                    self._restart()
                    window.restart_clock()
                replies, end = self._exchange(window)
                for reply in replies:
                    result = self._match(reply, window.oldest)
                    if isinstance(result, oc.Outside) or oc.is_death(result):
                        end = result
                        break
                    window.answered()
                    self._counts.requests += 1
                    self._served += 1
                    if suspect is not None and not window.one_by_one:
                        result, suspect = self._flaky(suspect, result, window.sent_again), None
                        window.slow_down(oc.is_silent_hang(result.death))
                    yield result
                    if isinstance(result, oc.Violated) and result.kind == oc.PROCESS:
                        end = oc.Outside("")  # with this guest the processes go that a kernel has started
                        break
                self._patience.wary |= isinstance(end, oc.TimedOut)
                if isinstance(end, oc.Outside):
                    self._end()
                    self._note(end)
                    window.send_again()
                elif end is not None and not window.flying:
                    self._end()
                    raise GuestError("a guest answers what nobody has asked", why=oc.describe(end), step=_SURPLUS)
                elif end is not None and not oc.is_exact(end) and len(window.flying) > 1:
                    suspect = end
                    window.send_one_by_one()
                elif end is not None:
                    window.slow_down(oc.is_silent_hang(end))
                    alone = suspect is not None and not self._served and oc.same_death(suspect, end)
                    suspect = None
                    yield self._confirmed(end, window.blame_oldest(), alone)
        finally:
            if window.flying:
                self._end()  # the caller stopped early: answers that are still to come must not meet other requests

    def strays(self) -> int:
        """How many processes the guest has left behind; it is ended with them when there are any."""
        count = self._channel.strays() if self._channel else 0
        if count:
            self._end()
        return count

    def next_id(self) -> int:
        """A request id that is not in flight."""
        self._last_id = self._last_id % (pr.NO_REQUEST - 1) + 1
        return self._last_id

    def _exchange(self, window: Window) -> tuple[list[Frame], Outcome | oc.Outside | None]:
        """Move bytes once in each direction; returns complete frames, and how the guest ended if it did."""
        channel = self._channel
        assert channel is not None
        before = time.monotonic()
        channel.wait_ready(bool(window.outgoing), max(0.0, min(_LOOK_SECONDS, self._left(window, before))))
        if window.outgoing:
            sent = channel.send(memoryview(bytes(window.outgoing[: 1 << 18])))
            del window.outgoing[:sent]
        data = channel.receive()
        now = time.monotonic()
        if data is None:
            return [], self._end_of_stream(window)
        frames: list[Frame] = []
        try:
            frames = self._reader.feed(data)
            if frames:
                self._reader.feed(b"")  # what follows them
        except GuestError as problem:
            self._end()
            return frames, oc.Garbage(problem.why)
        if data:
            self._last_byte = now
        silence, self._silence = self._silence + now - before, 0.0
        if frames:
            self._looked = now
            if not self._asked:  # else it may be the word of one that hangs
                self._patience.answered(silence, window.oldest)
            return frames, None
        self._silence = silence
        if now - max(self._looked, window.since) >= _LOOK_SECONDS or self._left(window, before) <= 0:
            # Only when nothing has come: a slow caller may be late for an answer that was there in time.
            self._looked = now
            return [], self._silent(channel, window, now)
        return [], None

    def _left(self, window: Window, now: float) -> float:
        """Seconds until something has to be done about a guest that says nothing."""
        if self._asked:
            return self._asked[2] + _INTERRUPT_GRACE - now
        return window.since + self._patience.wall(window.oldest) - now

    def _silent(self, channel: Channel, window: Window, now: float) -> Outcome | oc.Outside | None:
        """A guest has said nothing for a while: look at it, ask it where it hangs when its time is over, and kill it
        when it does not say."""
        if self._asked:
            return self._unheard(window) if self._left(window, now) <= 0 else None
        unfinished = self._reader.unfinished
        if unfinished and now - self._last_byte >= _STUCK_FRAME:
            self._end()
            return oc.Garbage(f"{len(unfinished)} bytes of an answer, and no more: {unfinished[:16].hex()}", slow=True)
        vitals = channel.vitals()
        overdue = self._patience.overdue(window, vitals, now)
        if overdue is None:
            return None
        if overdue.stopped or unfinished:  # it cannot say anything
            self._end()
            return overdue
        # The worker answers SIGTERM with the finished replies and with where it hangs.
        oldest = window.oldest
        self._asked = (oldest.request_id if oldest else pr.NO_REQUEST, overdue, now)
        channel.interrupt()
        return None

    def _unheard(self, window: Window) -> Outcome | oc.Outside:
        """The guest was asked to end and has not."""
        assert self._asked is not None
        who = self._channel.cause().outside if self._channel else ""
        self._end()
        if not self._is_asked(window.oldest):
            return oc.Outside("")
        return self._from_outside(self._asked[1], who) if who else self._asked[1]

    def _is_asked(self, oldest: InFlight | None) -> bool:
        """Whether it is for this request that the guest was asked to end; else that one was answered after all."""
        assert self._asked is not None
        return self._asked[0] == (oldest.request_id if oldest else pr.NO_REQUEST)

    def _end_of_stream(self, window: Window) -> Outcome | oc.Outside:
        assert self._channel is not None
        channel, self._channel = self._channel, None
        rest = self._reader.unfinished
        status, stderr = channel.finish(5.0)
        if self._asked:
            return self._asked[1] if self._is_asked(window.oldest) else oc.Outside("")
        cause = channel.cause()
        if cause.outside:
            return self._from_outside(oc.Died(status, stderr, cause.known), cause.outside)
        if rest and status >= 0:
            return oc.Garbage(f"the stream ends inside a frame: {rest[:16].hex()}")
        return oc.Died(status, stderr, cause.known)

    def _from_outside(self, death: Outcome, who: str) -> Outcome | oc.Outside:
        """``death`` was caused by ``who``: it is nobody's fault, unless that never ends."""
        self._disturbed += 1
        if self._disturbed > _MOST_DISTURBED:
            return death
        return oc.Outside(f"{oc.describe(death)}, by {who}")

    def _note(self, end: oc.Outside) -> None:
        if end.why:
            self._counts.notes.append(f"a guest was ended from outside ({end.why}); its requests were sent again")

    def _match(self, reply: Frame, oldest: InFlight | None) -> Outcome | oc.Outside:
        """What ``reply`` means for the oldest unanswered request; Garbage when it answers another."""
        if reply.request_id == pr.NO_REQUEST and reply.status == Status.SIGNAL:
            return self._signalled(reply, None)
        if oldest is None or reply.request_id != oldest.request_id:
            return oc.Garbage(f"an answer to request {reply.request_id}, which is not the oldest")
        if reply.op != oldest.request.op:
            return oc.Garbage(f"an answer to operation {reply.op}, not {oldest.request.op}")
        if reply.status == Status.SIGNAL:
            return self._signalled(reply, oldest)
        try:
            return oc.of_reply(reply)
        except (GuestError, ValueError) as problem:
            return oc.Garbage(str(problem))

    def _signalled(self, reply: Frame, oldest: InFlight | None) -> Outcome | oc.Outside:
        """A signal ended the guest at ``oldest``, None between two requests: ours, a kernel's, or one from outside."""
        try:
            death = pr.decode_signal(reply.payload)
        except GuestError as problem:
            return oc.Garbage(str(problem))
        if self._asked and death.number == signal.SIGTERM:
            return self._stopped_at(death, oldest)
        crash = oc.Crashed(death)
        who = self._channel.outsider(death.sender) if self._channel and death.by_another else ""
        return self._from_outside(crash, who) if who else crash

    def _stopped_at(self, death: SignalReply, oldest: InFlight | None) -> Outcome | oc.Outside:
        """The guest was asked to end, and says at which request. Answers that it had finished before and not yet sent
        have come first, so that it need not be the one that was waited for: its own time counts."""
        assert self._asked is not None
        asked = self._asked[1]
        own = oldest.request.seconds if oldest else 0.0
        seconds = max(asked.seconds, own)
        if oldest is None:
            return oc.Outside("")
        if death.milliseconds < 1000 * seconds * _ALMOST and self._disturbed < _MOST_DISTURBED:
            self._disturbed += 1
            return oc.Outside("")
        return oc.TimedOut(seconds, replace(death, sender=pr.NO_SENDER), asked.cpu and seconds == asked.seconds)

    def _confirmed(self, death: Outcome, victim: Request, alone: bool) -> Outcome:
        """Run the request alone in a fresh guest, unless the guest has died like that ``alone`` already."""
        if alone and isinstance(death, oc.TimedOut):
            self._patience.hung = True
        if alone or (isinstance(death, oc.TimedOut) and self._patience.hung):
            self._end()
            return death  # one hang of these requests was confirmed; each costs seconds
        again = self._alone(victim)
        if oc.is_death(again):
            self._end()
        if not oc.same_death(death, again):
            if not oc.is_death(again):
                return self._flaky(death, again)
            self._counts.notes.append(f"flaky: {oc.describe(death)}; alone in a fresh guest: {oc.describe(again)}")
        if isinstance(again, oc.TimedOut):
            self._patience.hung = True
            if isinstance(death, oc.TimedOut) and (death.where or not again.where):
                return death  # it was waited for longer
        return again

    def _flaky(self, death: Outcome, again: Outcome, among: int = 1) -> oc.Unrepeated:
        """What does not repeat is a failure all the same, of another kind."""
        self._counts.notes.append(f"flaky: {oc.describe(death)}; alone in a fresh guest: {oc.describe(again)}")
        return oc.Unrepeated(death, among)

    def _alone(self, request: Request) -> Outcome:
        """The outcome of one request in a fresh guest with nothing else in flight."""
        self._restart()
        window = Window(iter([request]), self.next_id)
        window.fill()
        while True:
            replies, end = self._exchange(window)
            if replies:
                end = self._match(replies[0], window.oldest)
            if isinstance(end, oc.Outside):
                self._note(end)
                self._restart()
                window.send_again()
                window.fill()
            elif end is not None:
                return end

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
            window = Window(iter([self._prelude]), self.next_id)
            window.fill()
            result = self._first(window)
            if not isinstance(result, oc.Answer):
                raise GuestError("the worker refuses the mask after a restart", why=oc.describe(result))

    def _first(self, window: Window) -> Outcome | oc.Outside:
        """What comes of the only request of ``window``."""
        while True:
            replies, end = self._exchange(window)
            if replies:
                return self._match(replies[0], window.oldest)
            if end is not None:
                return end

    def _fresh(self) -> Hello:
        """Start a guest and read its HELLO. Raises GuestError with what it printed when it does not start.

        One that a signal ends before its first word is started again: no kernel has run in it yet.
        """
        end: Outcome | oc.Outside | None = None
        for _ in range(_MOST_STARTS):
            self._reader = FrameReader()
            self._asked = None
            self._served, self._silence = 0, 0.0
            self._channel = self._start()
            self._counts.starts += 1
            window = Window(iter(()), self.next_id)
            window.restart_clock()
            replies, end = self._exchange(window)
            while not replies and end is None:
                replies, end = self._exchange(window)
            if replies:
                try:
                    return pr.decode_hello(replies[0])
                except GuestError:
                    self._end()
                    raise
            self._end()
            if not isinstance(end, oc.Outside) and not (isinstance(end, oc.Died) and end.status < 0):
                break
            self._counts.notes.append(f"a guest was ended while it started: {oc.describe(end)}")
        raise GuestError("the guest does not start", why=oc.describe(end) if end else "")
