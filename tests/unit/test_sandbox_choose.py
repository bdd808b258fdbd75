"""The choice of a sandbox where no engine answers."""

import socket
from pathlib import Path

import pytest

from matrix.errors import EngineError, SelectionError
from matrix.sandbox.choose import choose_sandbox


@pytest.fixture(params=["absent", "refused", "nonsense"])
def no_engine(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    path = tmp_path / "engine.sock"
    if request.param == "refused":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    address = "nonsense://" if request.param == "nonsense" else f"unix://{path}"
    monkeypatch.setenv("DOCKER_HOST", address)
    monkeypatch.setenv("CAPMATRIX_CACHE", str(tmp_path / "cache"))
    return address


def test_auto_is_the_host_and_says_why(no_engine: str) -> None:
    told: list[str] = []
    assert choose_sandbox("auto", told.append).name == "host"
    assert len(told) == 1
    assert "host" in told[0]
    assert no_engine in told[0]


def test_docker_asked_for_is_an_error(no_engine: str) -> None:
    with pytest.raises(EngineError, match="does not answer") as caught:
        choose_sandbox("docker")
    assert no_engine in caught.value.why
    assert "--sandbox host" in caught.value.step


def test_the_host_asked_for_asks_no_engine(no_engine: str) -> None:
    told: list[str] = []
    assert choose_sandbox("host", told.append).name == "host"
    assert not told


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(SelectionError, match="auto, docker, host"):
        choose_sandbox("podman")
