"""Hardened containers: one to build in, one that guests run in. Each lives as long as the process that made it."""

import hashlib
import os
import platform
from contextlib import suppress
from pathlib import Path
from typing import Any

from matrix.sandbox.engine import Engine
from matrix.sandbox.locks import cache_root
from matrix.sandbox.owner import Owner, labels

ROOT = "/w"
"""Where the volume with the sandbox's files is mounted."""
BUILD = "build"
WORKER = "worker"
_CACHE_VERSION = 1
"""Part of the volume's name; another one starts with an empty volume."""
_USER = "65534:65534"
_GIB = 1 << 30


def volume_name() -> str:
    """The volume of this machine, user and cache folder: exactly those share the build locks."""
    machine = platform.node()
    with suppress(OSError):
        machine += Path("/etc/machine-id").read_text(encoding="ascii").strip()
    key = f"{machine} {os.getuid()} {cache_root().resolve()}"
    return f"capmatrix-{_CACHE_VERSION}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"


def hardened(kind: str, volume: str) -> dict[str, Any]:
    """Options of a container of ``kind``: no network, read-only root, no privilege to have or to gain, bounded.

    A build container may write to the volume, and has a /tmp for the compiler.
    """
    building = kind == BUILD
    memory = 8 * _GIB if building else _GIB
    return {
        "auto_remove": True,
        "init": True,
        "user": _USER,
        "working_dir": ROOT,
        "environment": {"LC_ALL": "C"},
        "read_only": True,
        "network_mode": "none",
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "pids_limit": 4096 if building else 128,
        "mem_limit": memory,
        "memswap_limit": memory,
        "volumes": {volume: {"bind": ROOT, "mode": "rw" if building else "ro"}},
        "tmpfs": {"/tmp": "size=1g"} if building else {},
    }


class Container:
    """A running container. Its first process reads from us: when this process ends, however, so does the container."""

    def __init__(self, engine: Engine, image: str, kind: str, family: str) -> None:
        """Start one of ``kind``. Raises Gone when the image is not there any more, EngineError."""
        volume = volume_name()
        engine.make_volume(volume, labels("volume"))
        name = f"capmatrix-{kind}-{family}-{os.getpid()}-{os.urandom(4).hex()}"
        options = hardened(kind, volume)
        tags = labels(kind, Owner.this_process())
        self.id, self._stdin = engine.start_container(image, ["cat"], name=name, labels=tags, **options)
        self._engine = engine

    def close(self) -> None:
        """Remove it."""
        try:
            self._engine.remove_container(self.id)
        finally:
            self.release()

    def release(self) -> None:
        """Close its input, which ends it if it still runs."""
        self._stdin.close()
