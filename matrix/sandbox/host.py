"""The host sandbox: qemu-user and cross compilers that are installed on this machine."""

import contextlib
import fcntl
import os
import platform
import selectors
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import ninja

from matrix.errors import ToolError, storing
from matrix.model.target import Target
from matrix.sandbox.base import SLOW, Completed

GUEST_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
"""A guest's whole environment: the same on every machine, so that its stack lies the same too."""
_STDERR_LIMIT = 4000
_PIPE_BYTES = 1 << 20
"""Bytes of a pipe: deep enough that guest and host work at the same time instead of in turn."""


def tool_environment() -> dict[str, str]:
    """The whole environment of compilers and ninja: of the user's own only where tools are and where temporary files
    go. CPATH, LIBRARY_PATH, GCC_EXEC_PREFIX, LD_PRELOAD and the like would make another worker of the same sources."""
    own = os.environ.get("PATH", os.defpath).split(os.pathsep)
    folders = [ninja.BIN_DIR, *(folder for folder in own if os.path.isabs(folder))]
    scratch = os.environ.get("TMPDIR", "")
    kept = {"TMPDIR": scratch} if scratch.split() == [scratch] else {}  # with spaces, lists of files cannot be read
    return {"PATH": os.pathsep.join(folders), "LC_ALL": "C", **kept}


def needed_packages(target: Target) -> list[str]:
    """The Debian packages that the host sandbox needs for ``target`` on this machine."""
    native = platform.machine() == target.arch
    return list(target.native_packages if native and target.native_packages else target.packages)


def programs(target: Target) -> list[str]:
    """The programs that a target needs: compilers and QEMU."""
    return [name for name in (target.compiler, target.c_compiler, target.qemu) if name]


@cache
def leash() -> tuple[str, ...]:
    """What a guest is started by, so that it dies with this process: also when that is killed and the guest stopped, or
    busy for ever. Empty where there is no such program: a guest then ends at the end of its input only, as does one
    whose parent is killed in the moment before it takes effect.

    The kernel watches the thread that starts the guest, which must live as long. To ask for it between fork and exec
    from Python would not be safe with threads.
    """
    program = shutil.which("setpriv")
    command = (program, "--pdeathsig", "KILL", "--") if program else ()
    try:
        tried = subprocess.run([*command, "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError:
        return ()
    return () if tried.returncode else command  # busybox has one that does less


class HostChannel:
    """A guest as a child process with pipes."""

    def __init__(self, argv: Sequence[str], folder: Path) -> None:
        if "/" not in argv[0] and not shutil.which(argv[0], path=GUEST_ENVIRONMENT["PATH"]):
            raise ToolError(f"cannot start {argv[0]}", why=f"not found in {GUEST_ENVIRONMENT['PATH']}")
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the guest
        try:
            self._process = subprocess.Popen(
                [*leash(), *argv],
                cwd=folder,
                env=GUEST_ENVIRONMENT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                start_new_session=True,
            )
        except OSError as problem:
            raise ToolError(f"cannot start {argv[0]}", why=str(problem)) from None
        assert self._process.stdin
        assert self._process.stdout
        self._in = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()
        self._reading = selectors.DefaultSelector()
        self._both = selectors.DefaultSelector()
        for fd in (self._in, self._out):
            os.set_blocking(fd, False)
            with contextlib.suppress(OSError):  # over the user's limit: the default of 64 KiB does
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._reading.register(self._out, selectors.EVENT_READ)
        self._both.register(self._out, selectors.EVENT_READ)
        self._both.register(self._in, selectors.EVENT_WRITE)

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
        (self._both if writing else self._reading).select(seconds)

    def interrupt(self) -> None:
        """See Channel."""
        self._process.terminate()

    def kill(self) -> None:
        """See Channel."""
        self._process.kill()
        self._release()

    def finish(self, seconds: float) -> tuple[int, str]:
        """See Channel."""
        assert self._process.stdin
        self._process.stdin.close()
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self._stderr.seek(0)
        text = self._stderr.read()[-_STDERR_LIMIT:].decode("utf-8", "replace")
        self._release()
        return status, text

    def _release(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.wait()
        self._reading.close()
        self._both.close()
        self._process.stdin.close()
        self._process.stdout.close()
        self._stderr.close()


class HostSandbox:
    """Commands and guests of this machine; files below one folder of the user's cache."""

    name = "host"

    def __init__(self, root: Path) -> None:
        """Raises StoreError when the folder cannot be made."""
        self.root = root
        with storing("the cache", root):
            root.mkdir(parents=True, exist_ok=True)

    def write(self, files: Mapping[str, bytes]) -> None:
        """See Sandbox."""
        for name, data in files.items():
            path = self.root / name
            scratch = path.with_name(f"{path.name}.{os.getpid()}.tmp")
            with storing("the cache", path):
                path.parent.mkdir(parents=True, exist_ok=True)
                scratch.write_bytes(data)
                scratch.replace(path)

    def read(self, path: str) -> bytes:
        """See Sandbox."""
        return (self.root / path).read_bytes()

    def read_all(self, paths: Iterable[str]) -> dict[str, bytes]:
        """See Sandbox."""
        return {path: self.read(path) for path in paths}

    def missing(self, paths: Iterable[str]) -> set[str]:
        """See Sandbox."""
        return {path for path in paths if not (self.root / path).exists()}

    def run(self, argv: Sequence[str], folder: str = ".", seconds: float = 600) -> Completed:
        """See Sandbox."""
        try:
            done = subprocess.run(
                argv,
                env=tool_environment(),
                cwd=self.root / folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except OSError as problem:
            raise ToolError(f"cannot start {argv[0]}", why=str(problem)) from None
        except subprocess.TimeoutExpired:
            raise ToolError(
                f"{argv[0]} did not end", why=f"no end after {seconds:g} s: {' '.join(argv)}", step=SLOW
            ) from None
        return Completed(
            done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        )

    def spawn(self, argv: Sequence[str]) -> HostChannel:
        """See Sandbox."""
        return HostChannel(argv, self.root)

    def ready_for(self, target: Target) -> None:
        """See Sandbox."""
        lacking = [program for program in (target.compiler, target.qemu) if not shutil.which(program)]
        if lacking:
            plain = target.name.partition("@")[0]
            step = (
                f"run `./toxw --install -e {plain}` or `python -m matrix doctor --install {target.name}`; "
                f"by hand: apt-get install --no-install-recommends {' '.join(needed_packages(target))}"
            )
            raise ToolError(
                f"target {target.name} cannot be built and run here", why=f"{', '.join(lacking)} not found", step=step
            )
