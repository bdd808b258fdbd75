"""The pytest of a run as a child process: it gets the signals that this one gets, and is waited for."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import FrameType

from matrix.invocation import child_environment
from matrix.sandbox.host_channel import dies_with_us
from matrix.stopping import SIGNALS, heeded

_SECONDS_TO_END = 60
"""How long after the first signal the child may take: it ends its guests and writes the ledger."""
_PATIENCE = 3
"""The signal at which it is killed."""


@dataclass
class Child:
    """A pytest in a session of its own: what a terminal sends at Ctrl-C reaches this process alone, which hands on one
    signal, to one process. So no pytest-xdist worker is hit while it starts, nor a container while it is removed.
    It inherits ``descriptors``."""

    arguments: Sequence[str]
    descriptors: Sequence[int] = ()
    signal: str = ""
    """Name of the first signal that came meanwhile, '' when none has."""
    _count: int = 0
    _process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    def run(self) -> int:
        """Run it to its end. Returns its status, negative for a signal."""
        # It is born with the signals held back, and lets them through when it is ready to end by them.
        handled = heeded()
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            command = [*dies_with_us(), sys.executable, "-P", "-m", "pytest", *self.arguments]
            process = self._process = subprocess.Popen(
                command, env=child_environment(), start_new_session=True, pass_fds=self.descriptors
            )
            before = {number: signal.signal(number, self._hand_on) for number in handled}
            before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._kill)
            before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._pause)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        try:
            return process.wait()
        finally:
            signal.alarm(0)
            for number, handler in before.items():
                signal.signal(number, handler)

    def _hand_on(self, number: int, _frame: FrameType | None) -> None:
        assert self._process
        self._count += 1
        if self._count == 1:
            self.signal = signal.Signals(number).name
            signal.alarm(_SECONDS_TO_END)
            self._process.send_signal(number)
        elif self._count >= _PATIENCE:
            self._kill()

    def _kill(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        assert self._process
        os.killpg(self._process.pid, signal.SIGKILL)

    def _pause(self, _number: int, _frame: FrameType | None) -> None:
        """Ctrl-Z: a terminal stops only its own session's processes."""
        assert self._process
        os.killpg(self._process.pid, signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        os.killpg(self._process.pid, signal.SIGCONT)
