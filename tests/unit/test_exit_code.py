"""The exit code of a run: what its own ledger says, and never 0 without one."""

import json
from pathlib import Path

import pytest

from matrix.commands.running import exit_code, run_ledger
from matrix.errors import LedgerError
from matrix.report.recorder import Recorder
from matrix.run.verdict import CellResult, Failure

PATH = Path("journal.jsonl")


@pytest.mark.parametrize(
    ("status", "signal", "ledger", "code"),
    [
        (0, "", 0, 0),
        (0, "", 1, 1),  # a plugin has changed pytest's mind
        (5, "", 1, 1),
        (1, "", 22, 22),
        (3, "", 1, 3),  # pytest's own traceback is above
        (2, "", 1, 1),  # -x, which pytest takes for an interrupt
        (0, "", 5, 5),
        (2, "SIGTERM", 2, 2),
        (0, "SIGINT", 0, 2),  # it came behind the ledger
        (6, "", 0, 6),
        (1, "", 0, 1),
        (16, "", None, 16),
        (4, "", None, 4),
        (5, "", None, 5),
        (-15, "SIGTERM", None, 2),
    ],
)
def test_the_code(status: int, signal: str, ledger: int | None, code: int) -> None:
    assert exit_code(status, signal, None if ledger is None else {"exit_code": ledger}, PATH) == code


@pytest.mark.parametrize(("status", "ledger"), [(0, None), (1, None), (2, None), (-9, None), (-11, 0)])
def test_no_ledger_is_an_error_of_its_own(status: int, ledger: int | None) -> None:
    with pytest.raises(LedgerError) as caught:
        exit_code(status, "", None if ledger is None else {"exit_code": ledger}, PATH)
    assert caught.value.why.startswith(
        "pytest was killed by SIG" if status < 0 else f"pytest ended with status {status}"
    )


def test_pytest_is_not_overruled_in_silence(capsys: pytest.CaptureFixture[str]) -> None:
    exit_code(1, "", {"exit_code": 0}, PATH)
    assert capsys.readouterr().err.startswith("error: every cell passed, but pytest failed\n")


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [("run", "old"), ("ledger", "old")],
        [("run", "mine")],
        [("run", "mine"), ("cell", "")],
        [("run", "mine"), ("ledger", "old")],
        [("run", "old"), ("ledger", "mine")],
    ],
)
def test_a_ledger_of_another_run_is_not_believed(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    path = tmp_path / "journal.jsonl"
    assert run_ledger(path, "mine") is None
    path.write_text("".join(json.dumps({"line": line, "run_id": name}) + "\n" for line, name in rows))
    assert run_ledger(path, "mine") is None
    path.write_text("no journal\n")
    assert run_ledger(path, "mine") is None


def _recorder(folder: Path, *planned: str) -> Recorder:
    recorder = Recorder(folder / "journal.jsonl", [], {"run_id": "mine"})
    recorder.plan(list(planned))
    return recorder


def _result(cell_id: str, *kinds: str) -> dict[str, object]:
    failures = [Failure(kind, "what happened") for kind in kinds]
    return {**CellResult(cell_id, failures=failures).as_json(), "attempt": 1}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPMATRIX_CACHE", str(tmp_path / "cache"))


def test_the_codes_of_ledgers(tmp_path: Path) -> None:
    def code(name: str, *planned: str, interrupted: str = "", **ends: object) -> int:
        recorder = _recorder(tmp_path / name, *planned)
        recorder.interrupted = interrupted
        for cell, end in ends.items():
            if isinstance(end, int):
                recorder.broken(cell, "text", end)
            elif end == "skipped":
                recorder.skipped(cell, "reason", "")
            else:
                recorder.result(_result(cell, *([] if end == "passed" else [str(end)])))
        recorder.close()
        ledger = run_ledger(recorder.path, "mine")
        assert ledger is not None
        assert ledger["exit_code"] == recorder.exit_code
        return recorder.exit_code

    assert code("green", "a", "b", a="passed", b="skipped") == 0
    assert code("red", "a", "b", a="passed", b="crash") == 1
    assert code("not reached", "a", "b", a="passed") == 1
    assert code("nothing planned") == 5
    assert code("all skipped", "a", a="skipped") == 5
    assert code("interrupted", "a", "b", a="passed", interrupted="SIGTERM") == 2
    assert code("interrupted at the end", "a", a="passed", interrupted="SIGTERM") == 2
    assert code("outside", "a", "b", a="passed", b=22) == 22
    assert code("outside, and the rest was not reached", "a", "b", "c", a="passed", b=22) == 22
    assert code("outside and a failure", "a", "b", a="crash", b=22) == 1
    assert code("a worker died", "a", "b", a="passed", b=0) == 1


def test_a_cell_that_failed_once_has_failed_and_each_attempt_is_in_the_journal(tmp_path: Path) -> None:
    recorder = _recorder(tmp_path, "a")
    recorder.result(_result("a", "crash"))
    recorder.result(_result("a"))
    recorder.close()
    assert recorder.exit_code == 1
    rows = [json.loads(line) for line in recorder.path.read_text().splitlines()]
    assert [row["line"] for row in rows] == ["run", "cell", "failure", "cell", "ledger"]
    assert rows[-1]["failed"] == 1
