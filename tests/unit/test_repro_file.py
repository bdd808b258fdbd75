"""Failure files: written and read back; every kind of wrong file is one error; what cannot be told is not "there"."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from matrix.__main__ import cli
from matrix.cases.case import Case
from matrix.errors import ReproError
from matrix.model.catalog import Catalog
from matrix.model.plan import find, plan
from matrix.report.failures import failure_path, failure_record, write_failure
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
)
CELL = "x64/hard/ssse3/cipher-ssse3"
Change = Callable[[dict[str, Any]], object]


def _record(small: Catalog, case: Case | None = CASE, cell_id: str = CELL) -> dict[str, Any]:
    cell = find(plan(small, None), cell_id)
    assert cell
    failure = Failure(CRASH, "SIGSEGV in f", case.name if case else "", "after" if case else "")
    facts = {"sandbox": "host", "build_id": "b1d"}
    return failure_record(cell, failure, case, facts, {"seed": 7, "exhaustive": True})


def _written(folder: Path, record: object) -> Path:
    path = folder / "failure.json"
    path.write_text(json.dumps(record))
    return path


def test_what_is_written_comes_back(small: Catalog, tmp_path: Path) -> None:
    recorded = read_failure(_written(tmp_path, _record(small)))
    assert recorded == Recorded(
        CELL, "qemu64,+ssse3", "host", 7, True, replace(CASE, tier="full"), "after", CRASH, "SIGSEGV in f"
    )


def test_a_refusal_and_a_whole_cell_come_back(small: Catalog, tmp_path: Path) -> None:
    refusal = read_failure(_written(tmp_path, _record(small, replace(CASE, expected=None))))
    assert refusal.case
    assert refusal.case.expected is None
    whole = read_failure(_written(tmp_path, _record(small, None)))
    assert whole.case is None
    assert whole.placement == ""


def test_the_file_lies_below_its_cell(small: Catalog, tmp_path: Path) -> None:
    cell = find(plan(small, None), CELL)
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
        (_set("cell", to=[1]), "TypeError"),
        (_set("cell", "id", to=5), "5"),
        (_set("cell", "cpu", to=None), "None"),
        (_drop("facts", "sandbox"), "sandbox"),
        (_set("facts", "sandbox", to=1), "1"),
        (_drop("settings"), "settings"),
        (_set("settings", "seed", to="many"), "many"),
        (_drop("settings", "exhaustive"), "exhaustive"),
        (_drop("failure", "kind"), "kind"),
        (_set("failure", "placement", to=3), "3"),
        (_set("failure", to="crash"), "TypeError"),
        (_drop("case", "inputs"), "inputs"),
        (_drop("case", "expected"), "expected"),
        (_set("case", "inputs", to=[]), "AttributeError"),
        (_set("case", "inputs", "key", to="0g"), "hexadecimal"),
        (_set("case", "inputs", "key", to=None), "TypeError"),
        (_set("case", "expected", "out", to=5), "TypeError"),
        (_set("case", "name", to=1), "1"),
        (_set("case", to=None), "TypeError"),
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
