"""Which engine is asked, who chose it, and what cannot be an address: one error each, with what to do."""

import hashlib
import json
from pathlib import Path

import pytest

from matrix.errors import EngineError
from matrix.sandbox.address import engine_address
from matrix.sandbox.choose import choose_sandbox
from matrix.sandbox.engine import Engine


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A docker configuration folder of this test, and nothing in the environment that chooses an engine."""
    for name in ("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    monkeypatch.setenv("CAPMATRIX_CACHE", str(tmp_path / "cache"))
    return tmp_path


def _context(config: Path, name: str, meta: object) -> Path:
    folder = config / "contexts" / "meta" / hashlib.sha256(name.encode()).hexdigest()
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text(meta if isinstance(meta, str) else json.dumps(meta))
    return folder / "meta.json"


def _to(url: object) -> dict[str, object]:
    return {"Name": "away", "Metadata": {}, "Endpoints": {"docker": {"Host": url, "SkipTLSVerify": False}}}


@pytest.mark.parametrize("by", ["file", "DOCKER_CONTEXT"])
def test_a_context_that_does_not_answer_is_named_with_its_address(
    config: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    url = f"unix://{config}/absent.sock"
    _context(config, "away", _to(url))
    (config / "config.json").write_text(json.dumps({"currentContext": "away"} if by == "file" else {}))
    if by != "file":
        monkeypatch.setenv("DOCKER_CONTEXT", "away")
    with pytest.raises(EngineError, match="does not answer") as caught:
        Engine()
    assert url in caught.value.where
    assert "docker context 'away'" in caught.value.where
    assert (str(config / "config.json") if by == "file" else "DOCKER_CONTEXT") in caught.value.where
    assert "docker context use default" in caught.value.step
    assert "--sandbox host" in caught.value.step
    told: list[str] = []
    assert choose_sandbox("auto", told.append).name == "host"
    assert url in told[0]
    assert "'away'" in told[0]


def test_docker_host_wins_over_a_context_and_is_named(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _context(config, "away", _to("unix:///away.sock"))
    (config / "config.json").write_text('{"currentContext": "away"}')
    monkeypatch.setenv("DOCKER_HOST", f"unix://{config}/own.sock")
    with pytest.raises(EngineError, match="does not answer") as caught:
        Engine()
    assert f"unix://{config}/own.sock, by DOCKER_HOST" in caught.value.where
    assert "away" not in str(caught.value)
    assert "unset DOCKER_HOST" in caught.value.step


def test_without_either_it_is_the_local_socket(config: Path) -> None:
    for text in (None, "{}", '{"currentContext": "default"}', "no json"):
        if text is not None:
            (config / "config.json").write_text(text)
        assert engine_address().url == "unix:///var/run/docker.sock"


@pytest.mark.parametrize(
    "meta",
    [
        "no json",
        "[]",
        '"text"',
        "{}",
        {"Name": "away", "Metadata": {}, "Endpoints": {"docker": []}},
        {"Name": "away", "Metadata": [], "Endpoints": {}},
        {"Name": "away", "Metadata": {}, "Endpoints": {"podman": {}}},
        _to(""),
        _to(5),
    ],
)
def test_a_context_that_is_none_is_named_with_its_file(config: Path, meta: object) -> None:
    file = _context(config, "away", meta)
    (config / "config.json").write_text('{"currentContext": "away"}')
    with pytest.raises(EngineError, match="docker context") as caught:
        Engine()
    assert str(file) in caught.value.where
    assert "'away'" in caught.value.why


@pytest.mark.parametrize("name", ["gone", 5, ["x"]])
def test_a_context_that_there_is_not_is_an_error(config: Path, name: object) -> None:
    """As the docker command says; the SDK alone would take the local socket in silence."""
    (config / "config.json").write_text(json.dumps({"currentContext": name}))
    with pytest.raises(EngineError, match="docker context") as caught:
        Engine()
    assert repr(name) in caught.value.why


@pytest.mark.parametrize(
    "address",
    [
        "http://[::1",
        "tcp://[::1",
        "tcp://[",
        "tcp://",
        "tcp://:",
        "tcp://127.0.0.1:port",
        "tcp://127.0.0.1:99999999",
        "tcp://a..b:1",
        "tcp://" + "a" * 300 + ":1",
        "tcp://\u20ac:1",
        "unix://" + "/x" * 300,
        "unix:///%00",
        "ssh://",
        "ssh://[::1",
        "ssh://host:port",
        "ssh://host:99999999",
        "ssh://user%00@host",
        "ssh://host/%00",
        "npipe:////./pipe/docker",
        "fd://",
        "://",
        ":",
        " ",
        "nonsense",
        "\x1b[31m",
        "http://user:word@[::1",
        "https://127.0.0.1:1/\udcff",
    ],
)
def test_what_is_no_address_is_an_engine_error(config: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("DOCKER_HOST", address)
    monkeypatch.setenv("PATH", str(config))  # no ssh
    with pytest.raises(EngineError) as caught:
        Engine(seconds=2)
    assert caught.value.step
    assert choose_sandbox("auto", lambda _: None).name == "host"


def test_tls_that_cannot_be_set_up_is_an_engine_error(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(config / "absent"))
    with pytest.raises(EngineError, match="TLS") as caught:
        Engine()
    assert "DOCKER_CERT_PATH" in caught.value.step
