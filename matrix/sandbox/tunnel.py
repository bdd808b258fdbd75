"""``DOCKER_HOST=ssh://...``: the engine's socket of another machine, brought here by the ssh command."""

import atexit
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

from matrix.errors import EngineError

_SOCKET = "/var/run/docker.sock"
_READY = b"ready\n"


class Tunnel:
    """A local socket that leads to the engine of another machine, for as long as this process lives."""

    def __init__(self, address: str) -> None:
        """``address``: ``ssh://[user@]host[:port][/path/of/the/socket]``; keys and aliases are ssh's own business.

        Raises EngineError when ssh fails; what it has to say or to ask, it says on the terminal.
        """
        try:
            parts = urlsplit(address)
            machine, port = parts.hostname, parts.port
        except ValueError as problem:
            raise _unreadable(address, str(problem)) from None
        if not machine:
            raise _unreadable(address, "it names no machine")
        self._folder = tempfile.mkdtemp(prefix="capmatrix-ssh-")
        path = Path(self._folder) / "engine.sock"
        command = ["ssh", "-T", "-o", "ExitOnForwardFailure=yes"]
        command += ["-l", unquote(parts.username)] if parts.username else []
        command += ["-p", str(port)] if port else []
        remote = unquote(parts.path) if len(parts.path) > 1 else _SOCKET
        # The remote command ends with its input, and so does ssh: however this process ends, nothing stays behind.
        command += ["-L", f"{path}:{remote}", "--", machine, "echo ready && exec cat"]
        try:
            self._ssh = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert self._ssh.stdout
            greeting = self._ssh.stdout.readline()
        except (OSError, ValueError) as problem:  # ValueError: a NUL in the address
            shutil.rmtree(self._folder, ignore_errors=True)
            raise EngineError("the container engine does not answer", why=f"cannot start ssh: {problem}") from None
        if greeting != _READY:
            self.close()
            raise EngineError(
                "the container engine does not answer", why=f"ssh fails for {address}; its words are above"
            )
        self.address = f"unix://{path}"
        atexit.register(self.close)

    def close(self) -> None:
        """End ssh; more than once is fine."""
        assert self._ssh.stdin
        assert self._ssh.stdout
        self._ssh.stdin.close()
        self._ssh.stdout.close()
        self._ssh.terminate()
        self._ssh.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def _unreadable(address: str, why: str) -> EngineError:
    step = "the form is ssh://[user@]host[:port][/socket]"
    return EngineError("the engine's address cannot be read", where=address, why=why, step=step)
