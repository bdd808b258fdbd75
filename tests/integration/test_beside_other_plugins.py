"""Other plugins have options of the names that ours once had: neither side notices the other."""

from pathlib import Path

import pytest

from . import support
from .environments import CELL

OTHER = """
def pytest_addoption(parser):
    parser.addoption("--target", choices=("esp32", "linux"), default="linux")
    parser.addoption("--profile", action="store_true")
"""


def test_a_run_beside_a_plugin_with_the_same_options(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "other.py").write_text(OTHER)
    more = {"PYTHONPATH": f"{support.REPOSITORY}:{tmp_path / 'plugins'}", "PYTEST_PLUGINS": "other"}
    command = ("-m", "matrix", "run", CELL, "-n", "1", "--sandbox", "host", "--pytest=--target=esp32")
    status, output = support.python(tmp_path / "work", *command, more=more)
    assert status == 0, output
    assert support.check_balance(support.journal(tmp_path / "work"))["passed"] == 1


@pytest.mark.parametrize("name", ["--capmatrix-algorithm", "--algorithm"])
def test_plain_pytest_takes_the_long_and_the_older_names(tmp_path: Path, name: str) -> None:
    options = (name, "chacha20", "--capmatrix-enforcement=soft", "--collect-only", "-q")
    status, output = support.python(tmp_path, *support.conformance(*options))
    assert status == 0, output
    assert support.collected(output) == ["arm32-noneon/soft/none/chacha20"]


def test_another_project_in_the_same_environment(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(OTHER)
    (tmp_path / "test_it.py").write_text("def test_it(pytestconfig):\n    assert pytestconfig.getoption('target')\n")
    status, output = support.python(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--target", "esp32")
    assert status == 0, output
    status, output = support.python(tmp_path, "-m", "pytest", "--help")
    assert "capmatrix" not in output


def test_conformance_tests_that_are_met_on_the_way_are_no_run(tmp_path: Path) -> None:
    tests = support.copy_repository(tmp_path / "repository") / "tests"
    status, output = support.python(tmp_path, "-m", "pytest", str(tests), "-p", "no:cacheprovider")
    assert status == pytest.ExitCode.INTERRUPTED, output
    assert "name them, as in `pytest tests/conformance`" in output
