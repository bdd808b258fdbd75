"""A guest as a command in a hardened container."""

import time
from collections.abc import Sequence

from matrix.sandbox.base import Cause, Vitals
from matrix.sandbox.command import Command
from matrix.sandbox.engine import Engine, Gone
from matrix.sandbox.host_channel import GUEST_ENVIRONMENT, MEMORY_BYTES

_GUEST = 'exec env -i "$@"'
_BOUND = f"ulimit -d {MEMORY_BYTES >> 10}; "
_STDERR_LIMIT = 4000
_SIGNAL_SECONDS = 10.0
_KILLED = -9
_TELLING = ("kill", "pause", "oom")


class DockerChannel:
    """See Channel. The guest is one command of the worker container; stdout and stderr come in one connection."""

    def __init__(self, engine: Engine, container: str, argv: Sequence[str], bounded: bool = True) -> None:
        """Start ``argv``. Raises Gone when the container does not run."""
        environment = [f"{name}={value}" for name, value in GUEST_ENVIRONMENT.items()]
        self._engine = engine
        self._container = container
        self._started = time.monotonic()
        self._ended = False
        self._command = Command(engine, container, _BOUND + _GUEST if bounded else _GUEST, [*environment, *argv])

    def send(self, data: memoryview) -> int:
        """See Channel."""
        return self._command.send(data)

    def receive(self) -> bytes | None:
        """See Channel."""
        self._pump()
        data = bytes(self._command.out)
        self._command.out.clear()
        return None if self._command.ended and not data else data

    def wait_ready(self, writing: bool, seconds: float) -> None:
        """See Channel."""
        if not self._command.out:
            self._command.wait(writing, seconds)

    def interrupt(self) -> None:
        """See Channel."""
        self._signal("TERM")

    def kill(self) -> None:
        """See Channel."""
        try:
            self._signal("KILL")
        finally:
            self._command.close()

    def finish(self, seconds: float) -> tuple[int, str]:
        """See Channel."""
        try:
            self._command.close_input()
            self._command.communicate(b"", seconds)
            status = self._command.status(seconds)
            if status is None:
                self._signal("KILL")
                status = _KILLED
        except Gone:
            self._ended = True
            return _KILLED, self._stderr() + "the guest's container ended\n"
        finally:
            self._command.close()
        return status, self._stderr()

    def cause(self) -> Cause:
        """See Channel. The engine knows who has ended a container, and when one ran out of memory.

        A process in the container can end it too, by killing what keeps it; but nothing in it can ask the engine.
        """
        done = self._engine.happened(self._container, _TELLING, time.monotonic() - self._started + 1)
        if "pause" in done:
            return Cause(outside="somebody who paused its container")
        if self._ended and "kill" in done:
            return Cause(outside="somebody who asked the engine to end its container")
        return Cause(known="its container ran out of memory") if "oom" in done else Cause()

    def vitals(self) -> Vitals | None:
        """See Channel. To look into a container would take a command each time."""
        return None

    def strays(self) -> int:
        """See Channel. They end with the container."""
        return 0

    def outsider(self, pid: int) -> str:
        """See Channel. A process outside of the container is 0 in it."""
        return "" if pid else "a process outside of its container"

    def _pump(self) -> None:
        """Take what has come; of stderr keep only the end."""
        self._command.pump()
        del self._command.err[:-_STDERR_LIMIT]

    def _stderr(self) -> str:
        self._pump()
        return self._command.err[-_STDERR_LIMIT:].decode("utf-8", "replace")

    def _signal(self, name: str) -> None:
        """Send the guest a signal, by a second command in its container; one that has ended needs none."""
        if not self._command.running():
            return
        try:
            messenger = Command(self._engine, self._container, 'kill -s "$1" "$2"', [name, str(self._command.pid)])
        except Gone:
            return
        try:
            messenger.communicate(b"", _SIGNAL_SECONDS)
        finally:
            messenger.close()
