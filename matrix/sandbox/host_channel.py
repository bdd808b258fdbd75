"""A guest of this machine: a child process with pipes, on a leash that ends it and whatever it has started."""

import contextlib
import fcntl
import os
import resource
import select
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from matrix.errors import ToolError
from matrix.sandbox.base import Cause, Vitals

GUEST_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
"""A guest's whole environment: the same on every machine, so that its stack lies the same too."""
MEMORY_BYTES = 768 << 20
"""What a guest may allocate, in every sandbox: one that eats more is refused it before the system has to kill anything.
QEMU takes 130 MiB of it."""
_STDERR_LIMIT = 4000
_PIPE_BYTES = 1 << 20
"""Bytes of a pipe: deep enough that guest and host work at the same time instead of in turn."""
_POLL_SECONDS = 0.002
_TICKS = os.sysconf("SC_CLK_TCK")
_DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")
_UNSHARE = ("unshare", "--pid", "--fork", "--kill-child")
_FIRST = ("--", "sh", "-c", 'exec 3>&2 2>/dev/null; (exec "$@" 2>&3 3>&-); exit $?', "sh")
"""The first process of a pid namespace takes no signal that it does not handle, which would change what a guest does:
this shell is it, and adds no words of its own to the guest's stderr."""
_NAMESPACES = (
    (*_DIES_WITH_US, *_UNSHARE, *_FIRST),
    (*_DIES_WITH_US, *_UNSHARE, "--user", "--map-current-user", *_FIRST),
)


@cache
def dies_with_us() -> tuple[str, ...]:
    """What a process of ours is started by, so that it dies with this one; nothing where there is no such program."""
    return _DIES_WITH_US if shutil.which(_DIES_WITH_US[0]) and _works(_DIES_WITH_US) else ()


@cache
def leash() -> tuple[str, ...]:
    """What a guest is started by, so that it dies with this process: also when that is killed and the guest stopped, or
    busy for ever.

    Where the system allows a pid namespace, to root or to every user, whatever the guest has started dies with it, and
    what a signal from outside is can be told. Else ``setpriv`` alone is used, and nothing where there is none: a guest
    then ends at the end of its input only, as does one whose parent is killed in the moment before it takes effect.

    The kernel watches the thread that starts the guest, which must live as long. To ask for it between fork and exec
    from Python would not be safe with threads.
    """
    if not dies_with_us():
        return ()
    return next((command for command in _NAMESPACES if _works(command)), _DIES_WITH_US)


def _works(command: Sequence[str]) -> bool:
    try:
        tried = subprocess.run([*command, "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError:
        return False
    return not tried.returncode  # busybox has a setpriv that does less


class HostChannel:
    """See Channel."""

    def __init__(self, argv: Sequence[str], folder: Path, bounded: bool = True) -> None:
        if "/" not in argv[0] and not shutil.which(argv[0], path=GUEST_ENVIRONMENT["PATH"]):
            raise ToolError(f"cannot start {argv[0]}", why=f"not found in {GUEST_ENVIRONMENT['PATH']}")
        try:
            self._process = subprocess.Popen(
                [*leash(), *argv],
                cwd=folder,
                env=GUEST_ENVIRONMENT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as problem:
            raise ToolError(f"cannot start {argv[0]}", why=str(problem)) from None
        self._namespace = leash() in _NAMESPACES
        if bounded:
            self._bound()
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._in = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()
        self._err = self._process.stderr.fileno()
        self._said = bytearray()
        self._reading = selectors.DefaultSelector()
        self._both = selectors.DefaultSelector()
        for fd in (self._in, self._out, self._err):
            os.set_blocking(fd, False)
            with contextlib.suppress(OSError):  # over the user's limit: the default of 64 KiB does
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        for fd in (self._out, self._err):
            self._reading.register(fd, selectors.EVENT_READ)
            self._both.register(fd, selectors.EVENT_READ)
        self._both.register(self._in, selectors.EVENT_WRITE)

    def _bound(self) -> None:
        """Limit what the guest may allocate; processes that it starts have the same limit each."""
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        size = MEMORY_BYTES if most == resource.RLIM_INFINITY else min(MEMORY_BYTES, most)
        with contextlib.suppress(OSError):  # it may have ended already
            resource.prlimit(self._process.pid, resource.RLIMIT_DATA, (size, size))

    def send(self, data: memoryview) -> int:
        """See Channel."""
        try:
            return os.write(self._in, data)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            return len(data)  # the guest is gone; its end of stream or exit status says how

    def receive(self) -> bytes | None:
        """See Channel."""
        try:
            return os.read(self._out, _PIPE_BYTES) or None
        except BlockingIOError:
            return b""

    def wait_ready(self, writing: bool, seconds: float) -> None:
        """See Channel."""
        for key, _ in (self._both if writing else self._reading).select(seconds):
            if key.fd == self._err:
                self._hear()

    def _hear(self) -> None:
        """Take what the guest has printed on stderr, and keep the end of it."""
        try:
            text = os.read(self._err, _PIPE_BYTES)
        except BlockingIOError:
            return
        if not text:
            self._reading.unregister(self._err)
            self._both.unregister(self._err)
        self._said = (self._said + text)[-_STDERR_LIMIT:]

    def interrupt(self) -> None:
        """See Channel."""
        if guest := self._guest():
            with contextlib.suppress(ProcessLookupError):
                os.kill(guest, signal.SIGTERM)

    def kill(self) -> None:
        """See Channel."""
        self._kill()
        self._release()

    def finish(self, seconds: float) -> tuple[int, str]:
        """See Channel."""
        assert self._process.stdin
        self._process.stdin.close()
        if not self._ends_within(seconds):
            self._kill()
        self._sweep()
        status = self._process.wait()
        if self._err in self._reading.get_map():
            self._hear()
        text = self._said.decode("utf-8", "replace")
        self._release()
        return 128 - status if status > 128 else status, text  # the shell of the namespace tells signals so

    def cause(self) -> Cause:
        """See Channel. Nobody tells a process of this machine who has sent a SIGKILL."""
        return Cause()

    def vitals(self) -> Vitals | None:
        """See Channel."""
        row = _stat(self._guest())
        return Vitals((int(row[11]) + int(row[12])) / _TICKS, row[0] in "Tt") if row else None

    def strays(self) -> int:
        """See Channel. What loses its parent becomes a child of the namespace's first process."""
        first = _child(self._process.pid) if self._namespace else 0
        return max(0, len(_children(first)) - 1) if first else 0

    def outsider(self, pid: int) -> str:
        """See Channel. In a namespace of its own a guest sees every process outside of it as 0."""
        if self._namespace:
            return "" if pid else "a process outside of it"
        row = _stat(pid)
        if row is None or int(row[3]) == self._process.pid:  # its session
            return ""
        while row is not None and int(row[1]) > 1:
            if int(row[1]) == self._process.pid:
                return ""
            row = _stat(int(row[1]))
        return f"process {pid}"

    def _guest(self) -> int:
        """The guest's pid; 0 while there is none, or when the system does not list children."""
        if not self._namespace:
            return self._process.pid
        return _child(_child(self._process.pid))

    def _ends_within(self, seconds: float) -> bool:
        """Wait for the end of the process that was started, and leave its status to be asked for."""
        try:
            watched = os.pidfd_open(self._process.pid)
        except OSError:
            return self._ends_within_by_asking(seconds)
        try:
            return bool(select.select([watched], [], [], seconds)[0])
        finally:
            os.close(watched)

    def _ends_within_by_asking(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if time.monotonic() > until:
                return False
            time.sleep(_POLL_SECONDS)
        return True

    def _kill(self) -> None:
        """End the guest, and in a namespace all that is in it: what was started waits until that is done."""
        first = _child(self._process.pid) if self._namespace else 0
        with contextlib.suppress(ProcessLookupError):
            if first:
                os.kill(first, signal.SIGKILL)
                self._ends_within(1.0)
        self._sweep()

    def _sweep(self) -> None:
        """Kill the process group, which has its number as long as its first process was not waited for."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _release(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._process.wait()
        self._reading.close()
        self._both.close()
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.stderr.close()


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the state on (proc(5)); None when there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def _children(pid: int) -> list[int]:
    """The children of a process, the oldest first; none when the system does not list them."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(word) for word in text.split()]


def _child(pid: int) -> int:
    """The first child of a process, 0 when it has none."""
    return next(iter(_children(pid)), 0)
