"""The exit code of ``capmatrix run`` is what the ledger of this very run says, whatever other plugins do."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from matrix.errors import LedgerError

from . import flaky, support

OTHERS = {
    "blind": """
        def pytest_collection_finish(session):
            ours = [one for one in session.config.pluginmanager.get_plugins() if type(one).__name__ == "Reporter"]
            session.config.pluginmanager.unregister(ours[0])
        """,
    "content": """
        import pytest
        @pytest.hookimpl(wrapper=True, tryfirst=True)
        def pytest_sessionfinish(session):
            yield
            session.exitstatus = 0
        """,
    "impatient": """
        def pytest_runtest_logreport(report):
            if report.when == "call":
                raise_it = pytest_runtest_logreport.session
                raise_it.shouldstop = "seen enough"
        def pytest_sessionstart(session):
            pytest_runtest_logreport.session = session
        """,
}
"""Plugins that a user may have beside ours, at their worst."""


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository in which one call fails: the first one after ``marker`` beside it was deleted."""
    folder = tmp_path_factory.mktemp("broken")
    repository = support.copy_repository(folder / "repository")
    flaky.plant_once(repository, folder / "marker")
    return repository


def _run(folder: Path, *options: str, root: Path, more: dict[str, str] | None = None) -> tuple[int, str]:
    (root.parent / "marker").unlink(missing_ok=True)
    words = ("-m", "matrix", "run", *options, "--sandbox", "host")
    return support.python(folder, *words, root=root, more=more)


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_cell_that_fails_once_has_failed_whatever_its_reruns_do(tmp_path: Path, broken: Path, workers: str) -> None:
    options = ("-n", workers, "--pytest=--reruns=1", "--pytest=--junitxml=report.xml")
    status, output = _run(tmp_path, flaky.CELL, *options, root=broken)
    assert status == 1, output
    rows = support.journal(tmp_path)
    assert [(row["attempt"], row["verdict"]) for row in support.lines(rows, "cell")][:2] == [
        (1, "failed"),
        (2, "passed"),
    ]
    (ledger,) = support.lines(rows, "ledger")
    assert (ledger["planned"], ledger["passed"], ledger["failed"], ledger["exit_code"]) == (1, 0, 1, 1)
    assert "attempts: 1 failed, 2 passed" in output
    report = ElementTree.parse(tmp_path / "report.xml")
    assert [suite.get("failures") for suite in report.iter("testsuite")] == ["1"]
    (file,) = {row["file"] for row in support.lines(rows, "failure")}
    assert json.loads((tmp_path / file).read_text())["cell"]["id"] == flaky.CELL
    assert file in support.repro_lines(output)[0]


@pytest.mark.parametrize(
    ("plugin", "code", "words"),
    [
        ("blind", LedgerError.exit_code, "error: the run left no ledger"),
        ("content", 1, "1 failed (wrong-answer 1)"),
        ("impatient", 1, "stopped: 1 planned cells did not run (seen enough)"),
    ],
)
def test_other_plugins_do_not_make_it_green(tmp_path: Path, broken: Path, plugin: str, code: int, words: str) -> None:
    """An earlier run has left a green journal in the folder."""
    lines = [line.removeprefix("        ") for line in OTHERS[plugin].splitlines()]
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / f"{plugin}.py").write_text("\n".join(lines))
    path = {"PYTHONPATH": f"{broken}:{tmp_path / 'plugins'}"}
    work = tmp_path / "work"
    (work / support.JOURNAL).parent.mkdir(parents=True)
    old = [{"line": "run", "run_id": "0"}, {"line": "ledger", "run_id": "0", "exit_code": 0}]
    (work / support.JOURNAL).write_text("".join(json.dumps(row) + "\n" for row in old))
    cells = [flaky.CELL, flaky.CELL.replace("chacha20-c", "poly1305-c32")][: 2 if plugin == "impatient" else 1]
    status, output = _run(work, *cells, "-n", "0", f"--pytest=-p{plugin}", root=broken, more=path)
    assert status == code, output
    assert words in output


@pytest.mark.parametrize(
    ("options", "code"),
    [("-p no:matrix.plugin -p no:capmatrix-reporter", 0), ("--lf", 21), ("--help", LedgerError.exit_code)],
)
def test_options_of_the_environment_do_not_make_it_green_without_a_ledger(
    tmp_path: Path, options: str, code: int
) -> None:
    """The plugin cannot be kept out; there is no cache to take last failures from; and help is not a run."""
    more = {"PYTEST_ADDOPTS": options}
    status, output = _run(tmp_path, flaky.CELL, "-n", "0", root=support.REPOSITORY, more=more)
    assert status == code, output
    assert (tmp_path / support.JOURNAL).exists() == (code == 0)
    assert output.count("error: the run left no ledger") == (code == LedgerError.exit_code)
