"""Who made a container: labels, and the removal of what dead processes left behind."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path

from matrix.sandbox.engine import Engine

LABEL = "capmatrix"
"""On everything that is made in an engine: ``worker`` or ``build`` on containers, ``image``, ``volume``."""
_OWNER = "capmatrix.owner"


@dataclass(frozen=True)
class Owner:
    """A process: where its pid counts, the pid, and when it started (pids are used again)."""

    machine: str
    pid: int
    started: str

    @classmethod
    def this_process(cls) -> "Owner":
        """The owner of what this process makes."""
        return cls(_machine(), os.getpid(), _started(os.getpid()))

    @classmethod
    def parse(cls, text: str) -> "Owner | None":
        """From the label's text; None when it is no such text."""
        machine, _, rest = text.partition(" ")
        pid, _, started = rest.partition(" ")
        return cls(machine, int(pid), started) if pid.isdigit() else None

    def __str__(self) -> str:
        return f"{self.machine} {self.pid} {self.started}"

    def dead(self) -> bool:
        """Whether this process is known to have ended. Processes of other machines never are."""
        if self.machine != _machine():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass  # it lives and is another user's
        return _started(self.pid) != self.started


def labels(kind: str, owner: Owner | None = None) -> dict[str, str]:
    """Labels of a new ``kind`` of thing; containers have an owner."""
    return {LABEL: kind} | ({_OWNER: str(owner)} if owner else {})


def remove_leftovers(engine: Engine) -> int:
    """Remove the containers whose owner has ended; returns how many. Those of live processes are not touched."""
    removed = 0
    for container in engine.containers(LABEL):
        owner = Owner.parse(container["Labels"].get(_OWNER, ""))
        if owner and owner.dead():
            engine.remove_container(container["Id"])
            removed += 1
    return removed


def _machine() -> str:
    """What tells apart the places in which one pid means one process: a boot of a kernel, and a pid namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return platform.node().replace(" ", "-")


def _started(pid: int) -> str:
    """The start time of a process in clock ticks since boot; empty where the system does not tell."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[19]
