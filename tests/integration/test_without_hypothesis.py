"""Where hypothesis is not installed, only a collection of unit tests says so; pytest itself works."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ABSENT = "raise ModuleNotFoundError(\"No module named 'hypothesis'\", name='hypothesis')\n"


def _pytest(tmp_path: Path, *options: str) -> tuple[int, str]:
    """pytest in the repository with a hypothesis that cannot be imported."""
    (tmp_path / "hypothesis.py").write_text(ABSENT)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *options]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_help_works(tmp_path: Path) -> None:
    code, said = _pytest(tmp_path, "--help")
    assert code == 0, said
    assert "usage: " in said


@pytest.mark.parametrize("what", ["tests/unit/test_errors.py", "tests/unit"])
def test_a_collection_says_what_to_install(tmp_path: Path, what: str) -> None:
    code, said = _pytest(tmp_path, what, "--collect-only", "-q")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "need hypothesis: `pip install hypothesis`" in said
    assert "Traceback" not in said
