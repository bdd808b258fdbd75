"""Which sandbox a run uses."""

import sys
from collections.abc import Callable

from matrix.errors import EngineError, SelectionError
from matrix.model.near import known_names
from matrix.resources import data_root
from matrix.sandbox.base import Sandbox
from matrix.sandbox.docker import DockerSandbox
from matrix.sandbox.engine import Engine
from matrix.sandbox.host import HostSandbox
from matrix.sandbox.locks import cache_root

NAMES = ("auto", "docker", "host")


def to_stderr(text: str) -> None:
    """Tell the user something that is no result."""
    print(text, file=sys.stderr, flush=True)


def choose_sandbox(name: str, say: Callable[[str], None] = to_stderr) -> Sandbox:
    """The sandbox called ``name``; ``auto`` is docker when an engine answers, else host, and says which.

    ``say`` is also told what takes long: images that have to be built. Raises EngineError for ``docker`` when no
    engine answers, SelectionError for a name that there is not.
    """
    if name not in NAMES:
        raise SelectionError(f"unknown sandbox {name!r}", why=known_names(name, NAMES), step="`--sandbox` chooses")
    if name == "host":
        return HostSandbox(cache_root() / "host")
    try:
        engine = Engine()
    except EngineError as problem:
        if name == "docker":
            raise
        say(f"sandbox: host, because no container engine answers ({_reason(problem)})")
        return HostSandbox(cache_root() / "host")
    if name == "auto":
        say(f"sandbox: docker, because an engine answers at {engine.address}")
    return DockerSandbox(data_root() / "images", say, engine)


def _reason(problem: EngineError) -> str:
    """Why no engine answers, in one line, with the address and who chose it."""
    return "; ".join(text for text in (problem.why, problem.where) if text)
