"""One run of one cell in each environment that a user may have: right verdict, exit code and ledger."""

import subprocess
from pathlib import Path

import pytest

from . import support
from .environments import ENVIRONMENTS, SHADOW, run, shadowed
from .test_repro import CELL, KERNEL, SOUND, WRONG


def _pytest_cache(root: Path) -> dict[str, int]:
    """What the cache of pytest holds in that checkout, and when it was written: these tests themselves may have one."""
    return {str(path): path.stat().st_mtime_ns for path in root.glob(".pytest_cache/**/*")}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environment(tmp_path: Path, name: str) -> None:
    environment = ENVIRONMENTS[name]
    place = environment.make(tmp_path)
    if place.lacking:
        pytest.skip(place.lacking)
    before = _pytest_cache(place.root)
    end = run(place)
    assert end.code == environment.code, end.output
    assert environment.words in end.output
    assert "Traceback" not in end.output
    if environment.code == 0:
        assert end.ledger is not None
        assert (end.ledger["planned"], end.ledger["passed"], end.ledger["exit_code"]) == (1, 1, 0)
    assert not list(place.folder.rglob(".pytest_cache"))
    assert _pytest_cache(place.root) == before


@pytest.mark.parametrize("redirection", [">&-", "2>&-", "<&-"])
def test_a_closed_stream(redirection: str) -> None:
    done = subprocess.run(
        ["bash", "-c", f"capmatrix list arm32-noneon {redirection}"],
        env=support.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert ("arm32-noneon/hard/none/dispatch" in done.stdout) == (redirection != ">&-")


def test_a_failure_is_seen_again_beside_files_with_our_names(tmp_path: Path) -> None:
    """`git bisect run` takes 0 for `gone`: that is what a `matrix.py` in the folder would say."""
    repository = support.copy_repository(tmp_path / "repository")
    support.replace(repository / KERNEL, SOUND, WRONG)
    work = shadowed(tmp_path).folder
    told = support.environment(repository)

    def shell(command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["sh", "-c", command], cwd=work, env=told, capture_output=True, text=True, check=False, timeout=200
        )
        return done.returncode, done.stdout + done.stderr

    status, output = shell(f"capmatrix run {CELL} -n 1 --sandbox host")
    assert status == 1, output
    command = support.repro_lines(output)[0]
    status, output = shell(command)
    assert status == 1, output
    assert "wrong-answer" in output
    assert (work / "matrix.py").read_text() == SHADOW
