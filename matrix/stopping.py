"""Signals that end a run: Ctrl-C, and SIGTERM and SIGHUP, which a CI system or a closed terminal sends."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 3
"""The signal from which on the ledger is not waited for any more."""


def heeded() -> list[signal.Signals]:
    """Those of SIGNALS that this process was not started to ignore, as ``nohup`` does with SIGHUP."""
    return [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]


class Stopping:
    """The first signal raises KeyboardInterrupt, so that pytest ends as after Ctrl-C; it and a second one never disturb
    the end of the run, in which the ledger is written. A third one ends that too."""

    def __init__(self) -> None:
        self.signal = ""
        """Name of the first signal that came, '' as long as none has."""
        self._count = 0
        self._ending = False
        self._before: dict[signal.Signals, Any] = {}

    def install(self) -> None:
        """Take the signals over, and let through those that the parent process has held back until now."""
        if threading.current_thread() is threading.main_thread():
            for number in heeded():
                self._before[number] = signal.signal(number, self._handle)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def remove(self) -> None:
        """Give the signals back to whom they belonged before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def end_begins(self) -> None:
        """From now on a signal is noted and nothing more."""
        self._ending = True

    def hurry_workers(self) -> None:
        """After a signal, end what pytest-xdist's workers are busy with: else it waits for them for ten seconds, which
        a CI system that cancels may not grant. They are known where this process leads its group, as a child of
        ``capmatrix run`` does."""
        if self.signal and os.getpgrp() == os.getpid():
            own = signal.signal(signal.SIGINT, signal.SIG_IGN)
            os.killpg(0, signal.SIGINT)
            signal.signal(signal.SIGINT, own)

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Signals wait until the end of the block: pytest-xdist starts its workers there, and one whose controller is
        gone before it has said what to do ends in a traceback. Workers are born with the signals held back."""
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        self._count += 1
        first = not self.signal
        self.signal = self.signal or signal.Signals(number).name
        if (first and not self._ending) or self._count >= _PATIENCE:
            raise KeyboardInterrupt


def leave_ending_to_the_controller() -> None:
    """In a pytest-xdist worker: a SIGTERM or SIGHUP that every process of a run gets is the controller's business.
    What was held back while it started comes now.

    A handler, and not SIG_IGN, which guests would inherit. SIGINT stays: execnet ends a busy worker by it.
    """
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            if number in heeded():
                signal.signal(number, _nothing)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def _nothing(_number: int, _frame: FrameType | None) -> None:
    pass
