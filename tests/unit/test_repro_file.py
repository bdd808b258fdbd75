"""Failure files: written and read back; every kind of wrong file is one error; what cannot be told is not "there"."""

import json
import resource
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from matrix.cases.case import Case, Chain
from matrix.checks import every_cell
from matrix.command_line import cli
from matrix.errors import ReproError, StoreError
from matrix.model.catalog import Catalog
from matrix.plan.plan import find
from matrix.report.failures import failure_path, failure_record, forget_failures, repro_command, write_failure
from matrix.run.repro import CANNOT_TELL, Recorded, find_cell, read_failure
from matrix.run.verdict import CRASH, Failure

CASE = Case(
    "edge-1",
    "cipher",
    "xor",
    {"key": bytes(range(32)), "counter": 0xFFFF_FFFF, "data": b"\x01\x02"},
    "boundary",
    "full",
    {"out": b"\x03\x04"},
    number=77,
)
CELL = "x64/hard/ssse3/cipher-ssse3"
Change = Callable[[dict[str, Any]], object]


def _record(small: Catalog, case: Case | None = CASE, cell_id: str = CELL) -> dict[str, Any]:
    cell = find(every_cell(small, None), cell_id)
    assert cell
    failure = Failure(CRASH, "SIGSEGV in f", case.name if case else "", "after" if case else "")
    facts = {"sandbox": "host", "build_id": "b1d"}
    return failure_record(cell, failure, case, facts, {"seed": 7, "exhaustive": True, "placements": "full"})


def _written(folder: Path, record: object) -> Path:
    path = folder / "failure.json"
    path.write_text(json.dumps(record))
    return path


def test_what_is_written_comes_back(small: Catalog, tmp_path: Path) -> None:
    recorded = read_failure(_written(tmp_path, _record(small)))
    case = replace(CASE, tier="full")
    assert recorded == Recorded(
        CELL, "qemu64,+ssse3", "host", 7, True, "full", "b1d", case, "after", CRASH, "SIGSEGV in f"
    )


def test_a_refusal_and_a_whole_cell_come_back(small: Catalog, tmp_path: Path) -> None:
    refusal = read_failure(_written(tmp_path, _record(small, replace(CASE, expected=None))))
    assert refusal.case
    assert refusal.case.expected is None
    whole = read_failure(_written(tmp_path, _record(small, None)))
    assert whole.case is None
    assert whole.placement == ""


@pytest.mark.parametrize("case", [replace(CASE, chain=Chain(("data", "key"), 7)), replace(CASE, total=1 << 33)])
def test_chains_and_repeated_messages_come_back(small: Catalog, tmp_path: Path, case: Case) -> None:
    recorded = read_failure(_written(tmp_path, _record(small, case)))
    assert recorded.case == case


def test_the_file_lies_below_its_cell(small: Catalog, tmp_path: Path) -> None:
    cell = find(every_cell(small, None), CELL)
    assert cell
    failure = Failure(CRASH, "", "edge-1", "before")
    relative = write_failure(tmp_path, cell, failure, _record(small))
    assert relative == Path("failures", CELL, "edge-1-before.json")
    assert read_failure(tmp_path / relative).cell_id == CELL
    assert failure_path(cell, Failure(CRASH, "")) == Path("failures", CELL, "cell.json")


def _set(*keys: str, to: object) -> Change:
    def change(record: dict[str, Any]) -> None:
        for key in keys[:-1]:
            record = record[key]
        record[keys[-1]] = to

    return change


def _drop(*keys: str) -> Change:
    def change(record: dict[str, Any]) -> None:
        for key in keys[:-1]:
            record = record[key]
        del record[keys[-1]]

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_set("format", to=2), "format 2, 1 expected"),
        (_drop("format"), "format None"),
        (_drop("cell"), "cell"),
        (_drop("cell", "cpu"), "cpu"),
        (_set("cell", to=[1]), "`$.cell`"),
        (_set("cell", "id", to=5), "`$.cell.id`"),
        (_set("cell", "cpu", to=None), "`$.cell.cpu`"),
        (_drop("facts", "sandbox"), "sandbox"),
        (_set("facts", "sandbox", to=1), "`$.facts.sandbox`"),
        (_set("facts", "sandbox", to="cloud"), "'cloud'"),
        (_drop("settings"), "settings"),
        (_set("settings", "seed", to="many"), "`$.settings.seed`"),
        (_set("settings", "exhaustive", to="no"), "`$.settings.exhaustive`"),
        (_drop("settings", "exhaustive"), "exhaustive"),
        (_drop("failure", "kind"), "kind"),
        (_set("failure", "kind", to="krash"), "did you mean 'crash'?"),
        (_set("failure", "placement", to=3), "`$.failure.placement`"),
        (_set("failure", to="crash"), "`$.failure`"),
        (_drop("failure", "case"), "case"),
        (_set("failure", "case", to="edge-2"), "case.name is 'edge-1', failure.case is 'edge-2'"),
        (_set("failure", "case", to=""), "failure.case is ''"),
        (_drop("case"), "it lacks the key `case`, and failure.case names 'edge-1'"),
        (_drop("case", "inputs"), "inputs"),
        (_drop("case", "expected"), "expected"),
        (_set("case", "inputs", to=[]), "`$.case.inputs`"),
        (_set("case", "inputs", "key", to="0g"), "`$.case.inputs.key`"),
        (_set("case", "inputs", "key", to=None), "`$.case.inputs[...]`"),
        (_set("case", "expected", "out", to=5), "`$.case.expected[...]`"),
        (_set("case", "expected", "out", to="0"), "`$.case.expected.out`"),
        (_set("case", "name", to=1), "`$.case.name`"),
        (_set("case", to=None), "`$.case`"),
    ],
)
def test_a_file_that_lacks_something_is_one_clear_error(
    small: Catalog, tmp_path: Path, change: Change, why: str
) -> None:
    record = _record(small)
    change(record)
    path = _written(tmp_path, record)
    with pytest.raises(ReproError) as caught:
        read_failure(path)
    assert str(path) in caught.value.where
    assert why in caught.value.why
    assert caught.value.step


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b"5", b"null"])
def test_a_file_that_is_no_failure_file_is_an_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "failure.json"
    path.write_bytes(content)
    with pytest.raises(ReproError) as caught:
        read_failure(path)
    assert str(path) in caught.value.where


def test_no_file_and_a_folder_are_errors(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.json", tmp_path):
        with pytest.raises(ReproError):
            read_failure(path)


def test_the_cell_is_found_on_the_recorded_cpu(small: Catalog, tmp_path: Path) -> None:
    record = _record(small)
    record["cell"]["cpu"] = "qemu64,+ssse3,-x"
    cell = find_cell(small, read_failure(_written(tmp_path, record)))
    assert (cell.id, cell.cpu) == (CELL, "qemu64,+ssse3,-x")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (_set("cell", "id", to="x64/hard/ssse3/cipher-gone"), "no cell x64/hard/ssse3/cipher-gone"),
        (_set("failure", "placement", to="sideways"), "sideways"),
        (_set("case", "algorithm", to="hush"), "hush.xor"),
        (_set("case", "algorithm", to="hash"), "hash.xor"),
        (_set("case", "operation", to="xorr"), "cipher.xorr"),
        (_drop("case", "inputs", "key"), "key"),
        (_set("case", "inputs", "iv", to="00"), "iv"),
        (_set("case", "inputs", "key", to="00"), "key has 1 bytes"),
        (_set("case", "inputs", "counter", to="00"), "counter must be a 32-bit word"),
        (_set("case", "inputs", "data", to=5), "data must be bytes"),
        (_set("case", "expected", to={}), "outputs"),
        (_set("case", "expected", "out", to="00"), "out has 1 bytes"),
    ],
)
def test_a_case_that_the_cell_does_not_run_cannot_be_told(
    small: Catalog, tmp_path: Path, change: Change, what: str
) -> None:
    record = _record(small)
    change(record)
    with pytest.raises(ReproError) as caught:
        find_cell(small, read_failure(_written(tmp_path, record)))
    assert what in str(caught.value)


def test_a_case_of_another_algorithm_is_fine_in_a_cell_of_all(small: Catalog, tmp_path: Path) -> None:
    record = _record(small, CASE, "x64/hard/ssse3/dispatch")
    assert find_cell(small, read_failure(_written(tmp_path, record))).kind == "dispatch"


def test_repro_exits_with_125_when_the_cell_is_gone(small: Catalog, tmp_path: Path) -> None:
    command = ["repro", str(_written(tmp_path, _record(small))), "--sandbox", "host"]
    done = CliRunner().invoke(cli, command, env={"CAPMATRIX_CACHE": str(tmp_path / "cache")})
    assert done.exit_code == CANNOT_TELL == 125
    assert f"the plan has no cell {CELL}" in done.output


def test_a_wrong_file_has_the_exit_code_of_repro_files(small: Catalog, tmp_path: Path) -> None:
    record = _record(small)
    del record["case"]
    done = CliRunner().invoke(cli, ["repro", str(_written(tmp_path, record))])
    assert isinstance(done.exception, ReproError)
    assert done.exception.exit_code == 15


def test_a_file_that_is_not_there_is_answered_with_where_to_look(tmp_path: Path) -> None:
    with pytest.raises(ReproError) as caught:
        read_failure(tmp_path / "absent.json")
    assert "folder where the run was started, or give the full path" in caught.value.step
    assert "failures/" in caught.value.step


def test_natively_on_another_architecture_is_answered_with_qemu(small: Catalog, tmp_path: Path) -> None:
    with pytest.raises(ReproError) as caught:
        find_cell(small, replace(read_failure(_written(tmp_path, _record(small))), cpu="native"))
    assert "leave out --native" in caught.value.step


def test_files_of_a_cell_that_runs_again_are_deleted_and_no_others(small: Catalog, tmp_path: Path) -> None:
    cells = every_cell(small, None)
    cell, other = find(cells, CELL), find(cells, "x64/hard/ssse3/dispatch")
    assert cell
    assert other
    for about in (cell, other):
        for case in ("edge-1", "edge-2"):
            write_failure(tmp_path, about, Failure(CRASH, "", case, "after"), _record(small))
    forget_failures(tmp_path, cell)
    left = sorted(path.parent.name for path in (tmp_path / "failures").rglob("*.json"))
    assert left == ["dispatch", "dispatch"]
    forget_failures(tmp_path, other)
    assert list((tmp_path / "failures").rglob("*.json")) == []
    forget_failures(tmp_path, other)


def test_a_failure_file_that_cannot_be_written_is_an_error(small: Catalog, tmp_path: Path) -> None:
    cell = find(every_cell(small, None), CELL)
    assert cell
    (tmp_path / "failures").write_text("a file in its place")
    with pytest.raises(StoreError) as caught:
        write_failure(tmp_path, cell, Failure(CRASH, "", "edge-1", "after"), _record(small))
    assert "failures" in caught.value.where


def test_a_file_that_cannot_be_written_to_its_end_is_an_error_that_says_so(small: Catalog, tmp_path: Path) -> None:
    """As on a full disk: no process of this test can write a file of more than 100 bytes."""
    cell = find(every_cell(small, None), CELL)
    assert cell
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(StoreError) as caught:
            write_failure(tmp_path, cell, Failure(CRASH, "", "edge-1", "after"), _record(small))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.why == "File too large"
    assert "free space" in caught.value.step
    forget_failures(tmp_path, cell)
    assert list(tmp_path.rglob("*.json")) == [], "what was written of it is known as ours"


def test_the_printed_command_is_for_the_folder_of_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("TOX_ENV_DIR", "CAPMATRIX_STARTED_IN"):
        monkeypatch.delenv(name, raising=False)
    own = Path(sys.executable).parent
    monkeypatch.setenv("PATH", str(own))
    assert repro_command("failures/x.json") == "capmatrix repro failures/x.json"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert repro_command("failures/x.json") == f"{own}/capmatrix repro failures/x.json"
    monkeypatch.setenv("CAPMATRIX_STARTED_IN", str(tmp_path.parent))
    assert repro_command("failures/x.json").endswith(f"/capmatrix repro {tmp_path.name}/failures/x.json")
    monkeypatch.setenv("CAPMATRIX_STARTED_IN", str(own.parent))
    monkeypatch.setenv("PATH", str(own))
    monkeypatch.setenv("TOX_ENV_DIR", "any")
    assert repro_command("x").startswith(f"{own.name}/capmatrix repro ")
