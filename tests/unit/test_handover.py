"""The parent reads the journal that its own pytest has written, and no other run has it meanwhile."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from matrix.commands.running import run_ledger
from matrix.errors import StoreError
from matrix.report.handover import Handover
from matrix.report.journal import Journal

_CHILD = """
import sys
from pathlib import Path
from matrix.report.handover import give
from matrix.report.journal import Journal
journal = Journal(Path(sys.argv[1]))
give(journal, int(sys.argv[2]))
journal.write("run", run_id="mine")
journal.write("ledger", run_id="mine", exit_code=0)
"""


def _child(path: Path, handover: Handover) -> None:
    command = [sys.executable, "-c", _CHILD, str(path), str(handover.descriptor)]
    subprocess.run(command, check=True, pass_fds=[handover.descriptor])


def test_no_other_run_takes_the_journal_before_its_ledger_is_read(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Handover() as handover:
        _child(path, handover)
        with pytest.raises(StoreError, match="the journal is in use"):
            Journal(path)
        given = handover.journal()
        assert given
        with pytest.raises(StoreError, match="the journal is in use"):
            Journal(path)
        assert run_ledger(given, "mine") == {"line": "ledger", "run_id": "mine", "exit_code": 0}
    Journal(path).close()


def test_what_is_put_in_its_place_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Handover() as handover:
        _child(path, handover)
        path.unlink()
        path.write_text("another file\n")
        given = handover.journal()
        assert given
        assert run_ledger(given, "mine")


def test_a_child_that_gave_nothing_has_no_ledger(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with Handover() as handover:
        assert handover.journal() is None
    assert len(os.listdir("/proc/self/fd")) == before
    assert not list(tmp_path.iterdir())
