"""One command in a running container: bytes to its stdin, bytes of its stdout and stderr, its exit status."""

import selectors
import signal
import socket
import ssl
import time
from collections.abc import Sequence
from contextlib import suppress

from matrix.sandbox.demux import Demultiplexer
from matrix.sandbox.engine import Engine, Gone

_RECEIVE_BYTES = 1 << 20
_POLL_SECONDS = 0.005
_WOULD_BLOCK = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
_START_SECONDS = 30.0
_SETTLE_SECONDS = 1.0
_START = 'read -r go\necho "$$" >&2\n'
"""Every command's shell waits for one line: nothing is written before its streams are in our hands, for what the SDK
reads together with the engine's answer it keeps to itself. Then it says its pid in the container: what comes instead
is the engine's complaint, and with a signal to the pid a command can be ended, which closing its stream does not do."""


class Command:
    """A shell script started in a container. Nothing blocks but ``status``; ``out`` and ``err`` gather what came."""

    def __init__(self, engine: Engine, container: str, script: str, arguments: Sequence[str]) -> None:
        """Start ``sh -c script sh arguments...``, and wait until it runs. Raises Gone when the container cannot."""
        self._engine = engine
        self._container = container
        self._id, self._stream = engine.start_command(container, ["sh", "-c", _START + script, "sh", *arguments])
        self._socket = self._stream.socket
        self._demux = Demultiplexer()
        self._reading = selectors.DefaultSelector()
        self._both = selectors.DefaultSelector()
        self._reading.register(self._socket, selectors.EVENT_READ)
        self._both.register(self._socket, selectors.EVENT_READ | selectors.EVENT_WRITE)
        self.out = bytearray()
        self.err = bytearray()
        self.ended = False
        try:
            self.pid = self._started()
        except BaseException:
            self.close()
            raise

    def _started(self) -> int:
        """Let the script begin and return its pid, the first line on stderr."""
        self.send(memoryview(b"\n"))
        deadline = time.monotonic() + _START_SECONDS
        # The two streams are not in step: some of stdout may come first. A complaint is followed by the end.
        while b"\n" not in self.err and not self.ended and time.monotonic() < deadline:
            self.wait(False, deadline - time.monotonic())
            self.pump()
        line, mark, rest = bytes(self.err).partition(b"\n")
        if not mark or not line.isdigit():
            words = bytes(self.out + self.err).decode("utf-8", "replace").strip()
            raise Gone(words or "no command starts in the container")
        self.err[:] = rest
        return int(line)

    def send(self, data: memoryview) -> int:
        """Write what the connection takes now and return how many bytes that was."""
        try:
            return self._socket.send(data)
        except _WOULD_BLOCK:
            return 0
        except OSError:
            return len(data)  # the command is gone; its end of stream and exit status say how

    def pump(self) -> None:
        """Take what has come, into ``out`` and ``err``; sets ``ended`` at the end of the stream."""
        if self.ended:
            return
        try:
            data = self._socket.recv(_RECEIVE_BYTES)
        except _WOULD_BLOCK:
            return
        except OSError:
            data = b""
        if not data:
            self.ended = True
            return
        out, err = self._demux.feed(data)
        self.out += out
        self.err += err

    def wait(self, writing: bool, seconds: float) -> None:
        """Return when ``pump`` (or with ``writing`` also ``send``) can make progress, or after ``seconds``."""
        if self.ended or (isinstance(self._socket, ssl.SSLSocket) and self._socket.pending()):
            return
        (self._both if writing else self._reading).select(max(0.0, seconds))

    def close_input(self) -> None:
        """Tell the command that no more input comes."""
        if not self.ended:
            with suppress(OSError):  # it may end in this moment
                # Under TLS too only this direction of the connection: SSLSocket.shutdown would give up decrypting.
                socket.socket.shutdown(self._socket, socket.SHUT_WR)

    def communicate(self, data: bytes, seconds: float) -> bool:
        """Send ``data`` and gather output until the command ends; False when it has not after ``seconds``."""
        deadline = time.monotonic() + seconds
        left = memoryview(data)
        while not self.ended:
            if time.monotonic() > deadline:
                return False
            self.wait(bool(left), deadline - time.monotonic())
            if left:
                left = left[self.send(left) :]
            self.pump()
        return True

    def status(self, seconds: float) -> int | None:
        """The exit status, negative for a signal as in subprocess, or None when there is none after ``seconds``.

        Raises Gone when the container went away under the command, EngineError when the engine does not answer.
        """
        deadline = time.monotonic() + seconds
        while (status := self._engine.command_status(self._id)) is None:
            if time.monotonic() > deadline:
                self.require_container()
                return None
            time.sleep(_POLL_SECONDS)
        if status == 128 + signal.SIGKILL:
            self._settle()
        return 128 - status if status > 128 else status

    def running(self) -> bool:
        """Whether the command still runs."""
        try:
            return self._engine.command_status(self._id) is None
        except Gone:
            return False

    def require_container(self) -> None:
        """Raises Gone when the container does not run any more."""
        if not self._engine.runs(self._container):
            raise Gone("the container ended")

    def _settle(self) -> None:
        """A command that was killed may be the first sign of its container's end: give the engine time to see it."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while time.monotonic() < deadline:
            self.require_container()
            time.sleep(_SETTLE_SECONDS / 20)

    def close(self) -> None:
        """Give the connection up; the command itself goes on if it still runs."""
        self.ended = True
        self._reading.close()
        self._both.close()
        self._stream.close()
