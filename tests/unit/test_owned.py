"""Failure files in a user's folder: what is not ours is neither deleted nor written over, and no link is followed."""

import json
import os
import threading
from pathlib import Path

import pytest

from matrix.checks import every_cell
from matrix.errors import StoreError
from matrix.model.catalog import Catalog
from matrix.plan.cell import Cell
from matrix.plan.plan import find
from matrix.report.failures import FOLDER, failure_record, forget_empty_folders, forget_failures, write_failure
from matrix.run.verdict import CRASH, Failure

CELL = "x64/hard/ssse3/cipher-ssse3"
FAILURE = Failure(CRASH, "SIGSEGV in f", "edge-1", "after")
FILE = FOLDER / CELL / "edge-1-after.json"


@pytest.fixture
def cell(small: Catalog) -> Cell:
    found = find(every_cell(small, None), CELL)
    assert found
    return found


def _write(root: Path, cell: Cell) -> None:
    record = failure_record(cell, FAILURE, None, {}, {})
    assert write_failure(root, cell, FAILURE, record) == FILE
    assert json.loads((root / FILE).read_text())["cell"]["id"] == CELL


def test_ours_is_written_over_and_deleted(tmp_path: Path, cell: Cell) -> None:
    _write(tmp_path, cell)
    _write(tmp_path, cell)
    forget_failures(tmp_path, cell)
    assert not (tmp_path / FILE).exists()


def test_folders_that_hold_nothing_are_deleted_and_no_other(tmp_path: Path, cell: Cell) -> None:
    forget_empty_folders(tmp_path)
    elsewhere, theirs = tmp_path / "elsewhere", tmp_path / FOLDER / "x64" / "notes"
    elsewhere.mkdir()
    _write(tmp_path, cell)
    theirs.write_text("")
    (tmp_path / FOLDER / "link").symlink_to(elsewhere)
    forget_failures(tmp_path, cell)
    forget_empty_folders(tmp_path)
    assert sorted((tmp_path / FOLDER).rglob("*")) == [tmp_path / FOLDER / "link", tmp_path / FOLDER / "x64", theirs]
    theirs.unlink()
    (tmp_path / FOLDER / "link").unlink()
    forget_empty_folders(tmp_path)
    assert not (tmp_path / FOLDER).exists()
    (tmp_path / FOLDER).symlink_to(elsewhere)
    forget_empty_folders(tmp_path)
    assert (tmp_path / FOLDER).is_symlink()
    assert elsewhere.exists()


@pytest.mark.parametrize("content", ["{}", '{"format": 1}', "[]", "notes", '{\n "format": 1,\n "shell": {}}'])
def test_a_file_of_somebody_else_stays(tmp_path: Path, cell: Cell, content: str) -> None:
    path = tmp_path / FILE
    path.parent.mkdir(parents=True)
    path.write_text(content)
    forget_failures(tmp_path, cell)
    assert path.read_text() == content
    with pytest.raises(StoreError) as caught:
        write_failure(tmp_path, cell, FAILURE, failure_record(cell, FAILURE, None, {}, {}))
    assert caught.value.where == str(path)
    assert "no failure file of ours" in caught.value.why
    assert path.read_text() == content


@pytest.mark.parametrize("depth", range(1, len(FILE.parts)))
def test_a_folder_behind_a_link_is_left_alone(tmp_path: Path, cell: Cell, depth: int) -> None:
    """``failures`` itself, and every folder in it."""
    elsewhere, root = tmp_path / "elsewhere", tmp_path / "root"
    elsewhere.mkdir()
    _write(elsewhere, cell)
    root.joinpath(*FILE.parts[: depth - 1]).mkdir(parents=True)
    link = root.joinpath(*FILE.parts[:depth])
    link.symlink_to(elsewhere.joinpath(*FILE.parts[:depth]))
    for attempt in (forget_failures, _write):
        with pytest.raises(StoreError) as caught:
            attempt(root, cell)
        assert caught.value.where == str(link)
        assert "it is a link" in caught.value.why
    assert (elsewhere / FILE).exists()


def test_a_link_in_place_of_a_file_is_left_alone(tmp_path: Path, cell: Cell) -> None:
    other = tmp_path / "other.json"
    _write(tmp_path, cell)
    (tmp_path / FILE).rename(other)
    (tmp_path / FILE).symlink_to(other)
    forget_failures(tmp_path, cell)
    with pytest.raises(StoreError):
        _write(tmp_path, cell)
    (tmp_path / FILE).unlink()
    os.mkfifo(tmp_path / FILE)
    forget_failures(tmp_path, cell)
    with pytest.raises(StoreError):
        _write(tmp_path, cell)
    assert other.exists()


def test_processes_of_one_run_do_not_take_the_folders_from_each_other(
    tmp_path: Path, cell: Cell, small: Catalog
) -> None:
    """One deletes files below the folder in which another is about to make its own."""
    other = find(every_cell(small, None), "x64/hard/ssse3/dispatch")
    assert other
    stop = threading.Event()

    def delete() -> None:
        while not stop.is_set():
            forget_failures(tmp_path, other)
            forget_failures(tmp_path, cell)

    thread = threading.Thread(target=delete)
    thread.start()
    try:
        for _ in range(300):
            record = failure_record(cell, FAILURE, None, {}, {})
            assert write_failure(tmp_path, cell, FAILURE, record) == FILE
    finally:
        stop.set()
        thread.join()
