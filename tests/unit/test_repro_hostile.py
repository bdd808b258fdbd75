"""Failure files that somebody else may have written: whatever stands in them, reading them is an error or a case."""

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from matrix.cases.case import Case
from matrix.cases.chain import layout_of
from matrix.cases.layout import Binding
from matrix.cases.placement import all_placements
from matrix.checks import every_cell
from matrix.command_line import cli
from matrix.errors import ReproError
from matrix.model.catalog import Catalog
from matrix.plan.plan import find
from matrix.report.failures import failure_record
from matrix.run.repro import find_cell, read_failure
from matrix.run.verdict import CRASH, Failure

CELL = "x64/hard/ssse3/cipher-ssse3"
INPUTS: dict[str, bytes | int] = {"key": bytes(32), "counter": 1, "data": bytes(64)}
CASE = Case("edge-1", "cipher", "xor", INPUTS, "RFC 0", "full", {"out": bytes(64)})

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([1 << 70, -1, 10**4000, 0xFFFFFFFF, 1 << 32]),
    st.floats(),
    st.text(st.characters(), max_size=40),
    st.sampled_from(
        ["\x00", "\ud800", "[/x]", "[bold]", "\x1b[2J", "../../x", "-h", "after", "chunks-1", "00" * 200_000]
    ),
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner))


@pytest.fixture(scope="module")
def record(small: Catalog) -> dict[str, Any]:
    cell = find(every_cell(small, None), CELL)
    assert cell
    failure = Failure(CRASH, "SIGSEGV in f", CASE.name, "after")
    facts = {"sandbox": "host", "build_id": "b1d", "commit": "c0", "dirty": ["kernels/x.c"], "sources": {"a": "b"}}
    return failure_record(cell, failure, CASE, facts, {"seed": 7, "exhaustive": True, "placements": "full"})


def _paths(value: object, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The keys that lead to every value in nested objects."""
    inner = value.items() if isinstance(value, dict) else ()
    return [path, *(deep for key, row in inner for deep in _paths(row, (*path, key)))]


def _refusal(catalog: Catalog, path: Path) -> str:
    """How a file is refused, '' when it is taken: as far as a command goes before it builds anything, and the request
    that a worker would get."""
    try:
        _take(catalog, path)
    except ReproError as problem:
        return str(problem)
    return ""


def _take(catalog: Catalog, path: Path) -> None:
    recorded = read_failure(path)
    cell = find_cell(catalog, recorded)
    case = recorded.case
    if case:
        interface = catalog.provider(cell.provider).interfaces[case.algorithm]
        operation = interface.operations[case.operation]
        binding = Binding(dict.fromkeys((step.call for step in operation.steps), 0), {}, 8)
        for placement in all_placements(interface, operation, False):
            if placement.name == recorded.placement and not interface.states:
                layout_of(interface, operation, binding, placement, case.chain).run(case)


@given(data=st.data())
def test_any_value_anywhere_is_read_or_refused(
    small: Catalog, record: dict[str, Any], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    changed = copy.deepcopy(record)
    for _ in range(data.draw(st.integers(1, 3))):
        *before, key = data.draw(st.sampled_from([path for path in _paths(changed) if path]))
        place = changed
        for name in before:
            place = place[name]
        place[key] = data.draw(VALUES)
    path = tmp_path_factory.getbasetemp() / "changed.json"
    path.write_text(json.dumps(changed))
    said = _refusal(small, path)
    assert all(c.isprintable() or c == "\n" for c in said)
    assert len(said) < 5000


@given(data=st.data())
def test_any_damage_is_read_or_refused(
    small: Catalog, record: dict[str, Any], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(json.dumps(record, indent=1).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    path = tmp_path_factory.getbasetemp() / "damaged.json"
    path.write_bytes(content)
    said = _refusal(small, path)
    assert all(c.isprintable() or c == "\n" for c in said)


def _digits(text: str) -> str:
    return text.replace('"seed": 7', f'"seed": {"7" * 5000}')


def _nested(text: str) -> str:
    return text.replace('"RFC 0"', "[" * 2000 + "]" * 2000)


@pytest.mark.parametrize(
    "change", [_digits, _nested, lambda text: text.replace('"format": 1', f'"format": {"[" * 900 + "]" * 900}')]
)
def test_limits_of_the_parser_are_one_error(record: dict[str, Any], tmp_path: Path, change: Any) -> None:
    path = tmp_path / "failure.json"
    path.write_text(change(json.dumps(record)))
    with pytest.raises(ReproError) as caught:
        read_failure(path)
    assert str(path) in caught.value.where
    assert len(str(caught.value)) < 2000


def test_what_is_no_regular_file_or_too_large_is_refused(tmp_path: Path) -> None:
    """A FIFO without a writer would never end."""
    fifo, large = tmp_path / "fifo", tmp_path / "large"
    os.mkfifo(fifo)
    large.touch()
    os.truncate(large, (64 << 20) + 1)
    for path in (fifo, tmp_path, large, Path("/dev/zero"), tmp_path / "no\x00name"):
        with pytest.raises(ReproError) as caught:
            read_failure(path)
        assert caught.value.where == str(path)
        assert caught.value.step


@pytest.mark.parametrize("text", ["x64/[/x]/none/hash-c", "a\x00b", "\ud800", "\x1b]0;x\x07", "x" * 100_000])
def test_the_command_line_answers_a_hostile_file_with_one_error(
    record: dict[str, Any], tmp_path: Path, text: str
) -> None:
    for key, name in (("cell", "id"), ("cell", "cpu"), ("failure", "placement")):
        path = tmp_path / "failure.json"
        path.write_text(json.dumps({**record, key: {**record[key], name: text}}))
        done = CliRunner().invoke(cli, ["repro", str(path), "--sandbox", "host"])
        assert isinstance(done.exception, ReproError), done.output
        assert str(done.exception).isprintable() or "\n" in str(done.exception)


def test_a_refusal_that_the_operation_has_not_and_a_buffer_that_the_worker_has_not(
    small: Catalog, record: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "failure.json"
    long = "00" * 200_000
    for change, words in (
        ({"expected": None}, "a refusal is expected, and the operation has none"),
        ({"inputs": {**record["case"]["inputs"], "data": long}, "expected": {"out": long}}, "data has 200000 bytes"),
    ):
        path.write_text(json.dumps({**record, "case": {**record["case"], **change}}))
        with pytest.raises(ReproError) as caught:
            find_cell(small, read_failure(path))
        assert words in caught.value.why
