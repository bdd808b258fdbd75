"""Choose the sandbox that a run asked for."""

from matrix.sandbox.base import Sandbox
from matrix.sandbox.host import HostSandbox
from matrix.sandbox.locks import cache_root


def choose_sandbox(name: str) -> Sandbox:
    """The sandbox called ``name``: ``host``, or ``auto``, which is the host too."""
    return HostSandbox(cache_root() / "host")
