"""How long an answer is waited for: by the clock, and by the CPU time that the guest has used for it."""

from dataclasses import dataclass

from matrix.sandbox.base import Vitals
from matrix.worker.outcome import TimedOut
from matrix.worker.window import InFlight, Window

DEADLINE = 10.0
"""Seconds that one request may take; far above any kernel call, far below a user's patience."""
START = 30.0
"""Seconds that a guest may take to say hello."""
SHORT = 3.0
"""Seconds that are enough in which a guest does nothing but work for one answer, and for all that is only confirmed.

CPU time does not depend on what else the machine does. Ordinary requests take milliseconds of it; all 1,881 of a cell
of X25519, the slowest, take 1.5 s together.
"""
_MUCH_SLOWER = 4
"""A guest that has taken long over other answers has this many times as long before it counts as hung."""


@dataclass
class Patience:
    """The bounds of one guest. ``deadline`` is in seconds by the clock, for requests that do not state their own.

    ``wary`` says that one of the present requests was overdue: from then on they are waited for less long. ``hung``
    says that it was so again in a fresh guest.
    """

    deadline: float
    wary: bool = False
    hung: bool = False
    _slowest: float = 0.0

    def forget(self) -> None:
        """Other requests begin."""
        self.wary = self.hung = False

    def answered(self, seconds: float, oldest: InFlight | None) -> None:
        """An answer came after so much waiting."""
        if oldest and not oldest.request.seconds:
            self._slowest = max(self._slowest, seconds)

    def wall(self, oldest: InFlight | None) -> float:
        """Seconds by the clock for the oldest request, or for the hello when there is none."""
        if oldest is None:
            return START
        if oldest.request.seconds:
            return max(self.deadline, oldest.request.seconds)
        return self._briefly() if self.wary else self.deadline

    def overdue(self, window: Window, vitals: Vitals | None, now: float) -> TimedOut | None:
        """What becomes of the oldest request when its time is over; None when it is not."""
        oldest = window.oldest
        wall = self.wall(oldest)
        if now - window.since >= wall:
            return TimedOut(wall, stopped=bool(vitals and vitals.stopped))
        if vitals is None or oldest is None or oldest.request.seconds:
            return None
        if window.used is None:
            window.used = vitals.cpu_seconds
        limit = self._briefly()
        return TimedOut(limit, cpu=True) if vitals.cpu_seconds - window.used >= limit < self.deadline else None

    def _briefly(self) -> float:
        return min(self.deadline, max(SHORT, _MUCH_SLOWER * self._slowest))
