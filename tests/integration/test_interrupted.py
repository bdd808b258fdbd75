"""Runs that are disturbed: a guest or an xdist worker is killed, a user stops the run, ``-x`` ends it early."""

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from . import support
from .test_repro import KERNEL, SOUND, WRONG

FEW = ("-q", "--algorithm", "chacha20")
"""Four cells, enough for something to come before and after the disturbance."""
ASSEMBLY = "kernels/chacha20/chacha20_armv7_arm32.S"
SOUND_ROW = "        FEED_FORWARD 14, x14, x15, 24\n"
MORE = (*FEW, "--algorithm", "poly1305")


def _wait_for_guest(process: Any, other_than: int = 0) -> int:
    """The pid of a guest of the run, as soon as there is one; ``other_than`` may still be about to end."""
    found: list[int] = []

    def there() -> bool:
        found[:] = [guest for guest in support.guests(process.pid) if guest != other_than]
        return bool(found)

    support.wait_until(there, process)
    return found[0]


def test_a_killed_guest_is_no_pass(tmp_path: Path) -> None:
    """Nobody can tell who sends a SIGKILL: a kernel can. Its cell ends as unreliable, and the others as ever."""
    process = support.start(tmp_path, *support.conformance("-n", "0", *FEW))
    support.wait_for_cells(tmp_path, process, 1)
    os.kill(_wait_for_guest(process), signal.SIGKILL)
    status, output = support.finish(process)
    assert status == 1, output
    ledger = support.check_balance(support.journal(tmp_path))
    assert ledger["kinds"] == {"unreliable": 1}
    assert "the guest was ended by SIGKILL" in output
    assert "run again" in output


def test_signals_and_pauses_from_outside_cost_nothing_but_notes(tmp_path: Path) -> None:
    """The guest sees that another process has sent SIGTERM; a stopped one goes on where it was."""
    process = support.start(tmp_path, *support.conformance("-n", "0", *FEW))
    support.wait_for_cells(tmp_path, process, 1)
    first = _wait_for_guest(process)
    os.kill(first, signal.SIGSTOP)
    time.sleep(0.5)
    os.kill(first, signal.SIGCONT)
    os.kill(first, signal.SIGTERM)
    os.kill(_wait_for_guest(process, other_than=first), signal.SIGINT)
    status, output = support.finish(process)
    assert status == 0, output
    ledger = support.check_balance(support.journal(tmp_path))
    assert ledger["failed"] == 0
    assert len(ledger["notes"]) == 2
    assert ledger["notes"][0].startswith("a guest was ended from outside (signal 15")
    # The second guest may be met while it starts, or before it can say which signal it was.
    assert any(words in ledger["notes"][1] for words in ("signal 2", "status -2", "ended by SIGINT"))


def test_a_killed_xdist_worker_fails_its_cell_only(tmp_path: Path) -> None:
    process = support.start(tmp_path, *support.conformance("-n", "2", *MORE))
    support.wait_for_cells(tmp_path, process, 1)
    guest = _wait_for_guest(process)
    worker = support.owner(guest)
    assert worker != process.pid
    os.kill(worker, signal.SIGKILL)
    status, output = support.finish(process)
    assert status == 1, output
    ledger = support.check_balance(support.journal(tmp_path))
    assert ledger["kinds"] == {"not-run": 1}
    assert ledger["passed"] == ledger["planned"] - 1
    assert "crashed while running" in output
    assert not Path(f"/proc/{guest}").exists(), "the killed worker's guest is still there"


@pytest.mark.parametrize("workers", ["0", "2"])
def test_the_first_failure_ends_the_run(tmp_path: Path, workers: str) -> None:
    """With ``-x`` every planned cell that was not reached is counted as failed. All four would fail, so that neither of
    two processes comes to its second."""
    repository = support.copy_repository(tmp_path / "repository")
    support.replace(repository / KERNEL, SOUND, WRONG)
    support.replace(repository / ASSEMBLY, SOUND_ROW, SOUND_ROW.replace("24", "23"))
    work = tmp_path / "work"
    status, output = support.python(
        work, *support.conformance("-n", workers, "-x", *FEW, root=repository), root=repository
    )
    assert status != 0
    rows = support.journal(work)
    ledger = support.check_balance(rows)
    assert ledger["kinds"]["wrong-answer"] >= 1
    assert ledger["kinds"]["not-run"] >= 1
    assert ledger["passed"] + ledger["failed"] == ledger["planned"]
    not_reached = [row for row in support.lines(rows, "cell") if "not-run" in row["kinds"]]
    assert len(not_reached) == ledger["kinds"]["not-run"]
    assert f"not-run {ledger['kinds']['not-run']}" in output


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_user_stops_the_run(tmp_path: Path, workers: str) -> None:
    """SIGINT: what ran is in the journal, what did not is failed(not-run), and no guest is left behind."""
    process = support.start(tmp_path, *support.conformance("-n", workers, *MORE))
    support.wait_for_cells(tmp_path, process, 1)
    guests = support.guests(process.pid)
    process.send_signal(signal.SIGINT)
    status, output = support.finish(process)
    assert status == pytest.ExitCode.INTERRUPTED, output
    rows = support.journal(tmp_path)
    ledger = support.check_balance(rows)
    assert ledger["passed"] >= 1
    assert set(ledger["kinds"]) == {"not-run"}
    assert f"interrupted by SIGINT: {ledger['kinds']['not-run']} planned cells did not run" in output
    for row in support.lines(rows, "cell"):
        assert row["verdict"] == "failed" or row["runs"] > 0
    assert "ledger: planned" in output
    assert not [guest for guest in guests if Path(f"/proc/{guest}").exists()]


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_stopped_guest_does_not_outlive_a_killed_run(tmp_path: Path, workers: str) -> None:
    """SIGKILL leaves the run no time to end its guests, and a stopped guest never sees the end of its input."""
    process = support.start(tmp_path, *support.conformance("-n", workers, "--placements", "full", *MORE))
    support.wait_for_cells(tmp_path, process, 1)
    guest = _wait_for_guest(process)
    owner = support.owner(guest)
    os.kill(guest, signal.SIGSTOP)
    try:
        os.kill(owner, signal.SIGKILL)
        support.wait_for_end(guest)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(guest, signal.SIGKILL)
        process.kill()
        support.finish(process)
