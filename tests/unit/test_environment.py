"""What the program takes from its environment: misspelt variables, limits, closed streams, missing packages."""

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from matrix.__main__ import LOADED_LATE
from matrix.__main__ import main as started_as_a_module
from matrix.command_line import main
from matrix.environment import VARIABLES, allow_enough_files, check_environment
from matrix.errors import INTERRUPTED, SelectionError, ToolError

ROOT = Path(__file__).parents[2]


def _run(command: list[str], **environment: str) -> "subprocess.CompletedProcess[str]":
    told = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, env=told, capture_output=True, text=True, check=False, timeout=60)


def test_every_variable_that_is_read_anywhere_is_known() -> None:
    """In one place, so that a misspelt name can be told from one that is new."""
    places = [*ROOT.glob("matrix/**/*.py"), *ROOT.glob("tests/*.py"), *ROOT.glob("tests/integration/**/*.py")]
    places += [ROOT / name for name in ("toxw", ".ci/run", "README.md", "CONTRIBUTING.md", "tox.ini")]
    named = {name for path in places for name in re.findall(r"\bCAPMATRIX_[A-Z_]*[A-Z]\b", path.read_text())}
    assert named == set(VARIABLES)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("CAPMATRIX_SANBOX", "host", "did you mean CAPMATRIX_SANDBOX?"),
        ("CAPMATRIX_CASH", "/tmp", "did you mean CAPMATRIX_CACHE?"),
        ("CAPMATRIX_SANDBOX", "dokcer", "the environment variable CAPMATRIX_SANDBOX"),
        ("CAPMATRIX_SANDBOX", "podman", "the environment variable CAPMATRIX_SANDBOX"),
    ],
)
def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SelectionError) as caught:
        check_environment()
    assert words in str(caught.value)
    assert "--sandbox" not in str(caught.value)


def test_a_variable_like_none_of_ours_is_told_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CAPMATRIX_QQQQ", "1")
    check_environment()
    assert capsys.readouterr().err == "warning: CAPMATRIX_QQQQ is no environment variable of capmatrix\n"


def test_the_command_line_looks_at_them(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CAPMATRIX_SANBOX", "host")
    monkeypatch.setattr(sys, "argv", ["capmatrix", "list", "arm32-noneon"])
    with pytest.raises(SystemExit) as caught:
        main()
    said = capsys.readouterr()
    assert (caught.value.code, said.out) == (21, "")
    assert said.err.startswith("error: unknown environment variable CAPMATRIX_SANBOX\n")


@pytest.mark.parametrize(("limits", "after"), [((64, 4096), 128), ((200, 4096), 200), ((64, 64), 0)])
def test_the_number_of_open_files(monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int], after: int) -> None:
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: told.append(pair))
    if not after:
        with pytest.raises(ToolError) as caught:
            allow_enough_files()
        assert "ulimit -n" in caught.value.where
    else:
        allow_enough_files()
        assert told == ([(after, limits[1])] if after != limits[0] else [])


def test_without_its_packages_it_names_the_first(tmp_path: Path) -> None:
    """An interpreter that has none of them."""
    done = _run([sys.executable, "-S", "-E", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); sys.argv = ['x'];"
                 "import runpy; runpy.run_module('matrix', run_name='__main__')"])  # fmt: skip
    assert done.returncode == 16
    assert done.stderr.startswith("error: the Python package ")
    assert f"{sys.executable} -m pip install -e {ROOT}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_package_that_is_loaded_late_is_named_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("matrix.__main__.LOADED_LATE", ("click", "no_such_package"))
    monkeypatch.setattr(sys, "argv", ["capmatrix", "list"])
    with pytest.raises(SystemExit) as caught:
        started_as_a_module()
    said = capsys.readouterr()
    assert (caught.value.code, said.out) == (16, "")
    assert said.err.startswith("error: the Python package no_such_package is missing\n")


@pytest.mark.parametrize(("command", "code"), [("list", INTERRUPTED), ("repro", 128 + INTERRUPTED)])
def test_ctrl_c_while_the_program_is_loaded(command: str, code: int) -> None:
    program = f"""
import sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "matrix.command_line":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
sys.argv = ["capmatrix", {command!r}]
from matrix.__main__ import main
main()
"""
    done = _run([sys.executable, "-c", program])
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "interrupted\n")


def test_the_command_line_loads_no_package_before_it_is_needed() -> None:
    """Each costs a fifth of a second, in every command and in every process of a run."""
    done = _run([sys.executable, "-c", "import sys, matrix.command_line; print(*sys.modules)"])
    assert done.returncode == 0, done.stderr
    assert not {*LOADED_LATE, "requests", "_pytest"} & set(done.stdout.split())


@pytest.mark.parametrize("redirection", ["| head -n 1", "<&- >&- 2>&-"])
def test_streams_that_are_closed(redirection: str) -> None:
    """Each alone is among the environments of the integration tests."""
    shell = f"set -o pipefail; '{sys.executable}' -m matrix list arm32-noneon {redirection}"
    done = _run(["bash", "-c", shell])
    assert done.returncode in ((141, 0) if "head" in redirection else (0,)), done.stderr
    assert done.stderr == ""
