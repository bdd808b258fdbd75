"""The command that is printed: the interpreter's own script where there is one, never what a folder could shadow."""

import sys
from pathlib import Path

import pytest

from matrix import invocation
from matrix.invocation import child_environment, command_words

SHORT = "#!{}\n"
LONG = "#!/bin/sh\n'''exec' {} \"$0\" \"$@\"\n' '''\n"
"""What pip writes where the path of the interpreter is too long for the kernel."""


@pytest.fixture
def interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An interpreter in a folder of its own, first in PATH."""
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setenv("PATH", str(python.parent))
    return python


@pytest.mark.parametrize("first", [SHORT, LONG])
def test_its_own_script(interpreter: Path, tmp_path: Path, first: str) -> None:
    script = interpreter.parent / "capmatrix"
    script.write_text(first.format(interpreter))
    script.chmod(0o755)
    assert command_words(tmp_path, here=True) == ["capmatrix"]
    assert command_words(Path("/somewhere"), here=False) == [str(script)]
    assert command_words(tmp_path, here=False) == ["venv/bin/capmatrix"]


def test_no_script_or_that_of_another_interpreter(interpreter: Path, tmp_path: Path) -> None:
    assert command_words(tmp_path, here=True) == ["python", "-P", "-m", "matrix"]
    (interpreter.parent / "capmatrix").write_text("#!/usr/bin/python3\n")
    assert command_words(tmp_path, here=True) == ["python", "-P", "-m", "matrix"]
    tree = Path(invocation.__file__).parents[1]
    assert command_words(tree, here=True) == ["python", "-m", "matrix"], "a tree that is not installed"


def test_a_child_takes_no_warning_filters_and_no_folder_from_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    told = child_environment()
    assert "PYTHONWARNINGS" not in told
    assert told["PYTHONSAFEPATH"] == "1"
    monkeypatch.setattr(sys, "path", [str(Path(invocation.__file__).parents[1])])
    assert child_environment()["PYTHONPATH"].endswith(":/elsewhere")
