"""The way to an engine on another machine, with a stub in the place of ssh."""

import os
import socket
import sys
from pathlib import Path

import pytest

from matrix.errors import EngineError
from matrix.sandbox.tunnel import Tunnel

STUB = """#!{python}
import socket, sys
arguments = sys.argv[1:]
open({record!r}, "w").write("\\n".join(arguments))
if "broken" in arguments:
    sys.exit("ssh: no route")
local, _, remote = arguments[arguments.index("-L") + 1].partition(":")
listener = socket.socket(socket.AF_UNIX)
listener.bind(local)
listener.listen()
print("ready", flush=True)
connection, _ = listener.accept()
connection.sendall(remote.encode())
sys.stdin.read()
"""


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the stub writes what it was asked, one argument a line."""
    stub = tmp_path / "bin" / "ssh"
    stub.parent.mkdir()
    stub.write_text(STUB.format(python=sys.executable, record=str(tmp_path / "record")))
    stub.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stub.parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "record"


def through(tunnel: Tunnel) -> str:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(tunnel.address.removeprefix("unix://"))
        return connection.recv(100).decode()


@pytest.mark.parametrize(
    ("address", "remote", "options"),
    [
        ("ssh://box", "/var/run/docker.sock", []),
        ("ssh://me@box:2222", "/var/run/docker.sock", ["-l", "me", "-p", "2222"]),
        ("ssh://box/run/user/1000/docker.sock", "/run/user/1000/docker.sock", []),
    ],
)
def test_a_local_socket_leads_to_the_engines(record: Path, address: str, remote: str, options: list[str]) -> None:
    tunnel = Tunnel(address)
    asked = record.read_text().splitlines()
    assert asked[asked.index("--") + 1] == "box"
    assert asked[asked.index("ExitOnForwardFailure=yes") + 1 : asked.index("-L")] == options
    assert through(tunnel) == remote
    folder = Path(tunnel.address.removeprefix("unix://")).parent
    tunnel.close()
    tunnel.close()
    assert not folder.exists()


def test_ssh_that_fails_is_an_engine_that_does_not_answer(record: Path) -> None:
    with pytest.raises(EngineError, match="ssh fails for ssh://broken"):
        Tunnel("ssh://broken")


def test_no_ssh_is_an_engine_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match="cannot start ssh"):
        Tunnel("ssh://box")


def test_an_address_without_a_machine_is_refused() -> None:
    with pytest.raises(EngineError, match="names no machine"):
        Tunnel("ssh://")
