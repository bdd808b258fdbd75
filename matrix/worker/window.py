"""The requests of one guest that are in flight, and how long their answers may take."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from matrix.worker import protocol as pr
from matrix.worker.protocol import Op

_WINDOW_REQUESTS = 256
_WINDOW_BYTES = 1 << 20
"""Requests and bytes in flight. Both ends read and write without blocking, so the bound is for memory only."""
_FOR_GOOD = 1 << 60


@dataclass(frozen=True, slots=True)
class Request:
    """What a guest is asked. ``seconds`` is how long the answer may take, 0 for the guest's own deadline."""

    op: Op
    payload: bytes
    seconds: float = 0.0


@dataclass
class InFlight:
    """A request that was sent, and the id that its answer carries."""

    request_id: int
    request: Request


class Window:
    """The requests in flight, those that wait to be sent again, and the bytes that are still to be written.

    ``since`` is when the oldest request became the oldest: from then on its time is counted. ``used`` is the CPU time
    that the guest had used when it was first looked at for the oldest request, None before. ``one_by_one`` is how many
    of the next requests are sent only when the one before them is answered, ``sent_again`` how many they were at
    first.
    """

    def __init__(self, source: Iterator[Request], next_id: Callable[[], int]) -> None:
        self._source = source
        self._next_id = next_id
        self._again: deque[Request] = deque()
        self._bytes = 0
        self.flying: deque[InFlight] = deque()
        self.outgoing = bytearray()
        self.since = 0.0
        self.used: float | None = None
        self.one_by_one = 0
        self.sent_again = 0

    @property
    def oldest(self) -> InFlight | None:
        """The request whose answer is waited for."""
        return self.flying[0] if self.flying else None

    def fill(self) -> bool:
        """Take requests up to the window's bounds; False when all are answered."""
        most = 1 if self.one_by_one else _WINDOW_REQUESTS
        while len(self.flying) < most and self._bytes < _WINDOW_BYTES:
            item = self._again.popleft() if self._again else next(self._source, None)
            if item is None:
                break
            if not self.flying:
                self.restart_clock()
            sent = InFlight(self._next_id(), item)
            self.flying.append(sent)
            self.outgoing += pr.frame(sent.request_id, item.op, item.payload)
            self._bytes += len(item.payload)
        return bool(self.flying)

    def restart_clock(self) -> None:
        """The time of the oldest request begins now."""
        self.since, self.used = time.monotonic(), None

    def answered(self) -> None:
        """The oldest request has its answer; the time of the next one begins now."""
        self._bytes -= len(self.flying.popleft().request.payload)
        self.one_by_one = max(0, self.one_by_one - 1)
        self.restart_clock()

    def blame_oldest(self) -> Request:
        """The guest ended at the oldest request: return that, and queue the others to be sent again."""
        victim = self.flying.popleft()
        self.send_again()
        return victim.request

    def send_one_by_one(self) -> None:
        """The guest ended without a word. It keeps finished answers for a moment, so that any request in flight may be
        to blame: they are sent again, each when the one before it is answered."""
        self.one_by_one = self.sent_again = len(self.flying)
        self.send_again()

    def slow_down(self, for_good: bool) -> None:
        """Go on as usual; or ``for_good`` one by one, where the next search would take seconds again."""
        self.one_by_one = _FOR_GOOD if for_good else 0

    def send_again(self) -> None:
        """The guest ended, and no request is to blame: queue all of them to be sent again."""
        self._again.extendleft(later.request for later in reversed(self.flying))
        self.flying.clear()
        self.outgoing.clear()
        self._bytes = 0
