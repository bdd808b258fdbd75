"""What every sandbox offers: files below one root, commands, and guests with a byte channel."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from matrix.model.target import Target

SLOW = "run again when the machine has less to do"
"""What to do about a command that does not end."""


@dataclass(frozen=True)
class Completed:
    """A finished command: its exit status and what it printed."""

    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Vitals:
    """A guest seen from outside: the CPU time that it has used, in seconds, and whether it is stopped (SIGSTOP)."""

    cpu_seconds: float
    stopped: bool


@dataclass(frozen=True)
class Cause:
    """Why a guest ended, seen from outside. ``outside`` says what ended it when that is known not to be the guest's own
    doing, ``known`` what else is known; both are words for a message, empty when nothing is known."""

    outside: str = ""
    known: str = ""


class Channel(Protocol):
    """The byte stream of one running guest. Reads and writes never block; a guest's stderr is kept apart."""

    def send(self, data: memoryview) -> int:
        """Write what the guest takes now and return how many bytes that was; 0 when it takes none."""

    def receive(self) -> bytes | None:
        """Bytes that the guest has written, empty when there are none now, None after the end of the stream."""

    def wait_ready(self, writing: bool, seconds: float) -> None:
        """Return when ``receive`` (or with ``writing`` also ``send``) can make progress, or after ``seconds``."""

    def interrupt(self) -> None:
        """Send the guest SIGTERM: a worker answers with what it has and where it is, and ends."""

    def kill(self) -> None:
        """End the guest now and release everything it holds."""

    def finish(self, seconds: float) -> tuple[int, str]:
        """Close its input, wait up to ``seconds``, and return (exit status, the end of its stderr). Whatever else the
        guest has started ends too."""

    def cause(self) -> Cause:
        """After ``finish``, or when it is silent: why."""

    def vitals(self) -> Vitals | None:
        """What the guest is doing now; None where that cannot be seen from here."""

    def strays(self) -> int:
        """How many processes run beside the guest that only it can have started; 0 where that cannot be seen."""

    def outsider(self, pid: int) -> str:
        """Words for process ``pid``, as the guest sees it, when it is known to be neither the guest nor one that the
        guest has started; '' when that is not known."""


class Sandbox(Protocol):
    """One place to build and run. Paths are relative to the sandbox's root."""

    name: str

    def __hash__(self) -> int:
        """Sandboxes are keys of per-process memos."""

    def write(self, files: Mapping[str, bytes]) -> None:
        """Create ``files``, each complete or not at all."""

    def read(self, path: str) -> bytes:
        """The bytes of the file ``path``. Raises FileNotFoundError."""

    def read_all(self, paths: Iterable[str]) -> dict[str, bytes]:
        """The bytes of many files, at the price of one. Raises FileNotFoundError."""

    def missing(self, paths: Iterable[str]) -> set[str]:
        """Those of ``paths`` that do not exist."""

    def run(self, argv: Sequence[str], folder: str = ".", seconds: float = 600) -> Completed:
        """Run a command with no input in ``folder``. Raises ToolError when the program is missing or takes too long."""

    def spawn(self, argv: Sequence[str], bounded: bool = True) -> Channel:
        """Start a guest; ``argv[-1]`` or any path below the root may be relative. Unless it is ``bounded``, it may
        reserve as much memory as it likes, as sanitizers do. Raises ToolError."""

    def ready_for(self, target: Target) -> None:
        """Prepare for ``target``. Raises ToolError naming what is missing and the command that installs it."""
