"""``capmatrix run`` is told to stop, by a user or by a CI system that cancels: the ledger is written all the same."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from matrix.errors import INTERRUPTED

from . import support

FEW = ("--algorithm", "chacha20", "--algorithm", "poly1305", "--sandbox", "host", "--pytest=-pno:hypothesispytest")
SLOW = """
import os, select, signal
from pathlib import Path
def pytest_sessionfinish():
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told)  # Python writes there when a signal has come
    Path("ending").touch()
    select.select([heard], [], [], 60)
"""


def _start(folder: Path, *options: str, more: dict[str, str] | None = None) -> "subprocess.Popen[str]":
    """A run in a process group of its own, as a shell starts it."""
    folder.mkdir(parents=True, exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "matrix", "run", support.MAIN_TARGET, *FEW, *options],
        cwd=folder,
        env=support.environment(more=more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        process_group=0,
    )


@pytest.mark.parametrize(("workers", "number"), [("0", signal.SIGTERM), ("2", signal.SIGHUP), ("2", signal.SIGINT)])
def test_a_signal_in_the_middle(tmp_path: Path, workers: str, number: signal.Signals) -> None:
    process = _start(tmp_path, "-n", workers)
    support.wait_for_cells(tmp_path, process, 1)
    family = [pid for pid, _ in support.descendants(process.pid)]
    os.killpg(process.pid, number)
    status, output = support.finish(process)
    assert status == INTERRUPTED, output
    rows = support.journal(tmp_path)
    ledger = support.check_balance(rows)
    assert ledger["interrupted"] == number.name
    assert ledger["passed"] >= 1
    assert set(ledger["kinds"]) == {"not-run"}
    assert f"interrupted by {number.name}: {ledger['failed']} planned cells did not run" in output
    assert "not run" in output
    assert "FAILED" not in output
    assert "Traceback" not in output
    for pid in family:
        support.wait_for_end(pid)


def test_ctrl_c_while_the_workers_start(tmp_path: Path) -> None:
    """A terminal sends the signal to all processes of its foreground group, each in whatever state it is."""
    process = _start(tmp_path, "-n", "2")
    support.wait_until(lambda: _has_a_worker(process.pid), process)
    os.killpg(process.pid, signal.SIGINT)
    status, output = support.finish(process)
    assert status == INTERRUPTED, output
    assert support.check_balance(support.journal(tmp_path))["interrupted"] == "SIGINT"
    assert "Traceback" not in output


def _has_a_worker(pid: int) -> bool:
    """Whether a pytest-xdist worker is there, which execnet starts with a line of code."""
    return any("sys.stdin.readline" in command for _, command in support.descendants(pid))


def test_a_signal_behind_the_last_cell(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "slow.py").write_text(SLOW)
    more = {"PYTHONPATH": f"{support.REPOSITORY}:{tmp_path / 'plugins'}"}
    process = _start(tmp_path, "-n", "0", "--variant", "c", "--pytest=-pslow", more=more)
    support.wait_until((tmp_path / "ending").exists, process)
    os.killpg(process.pid, signal.SIGINT)
    status, output = support.finish(process)
    assert status == INTERRUPTED, output
    ledger = support.check_balance(support.journal(tmp_path))
    assert (ledger["interrupted"], ledger["failed"]) == ("SIGINT", 0)
    assert "interrupted by SIGINT: every planned cell had ended" in output


def test_a_killed_run_leaves_no_process(tmp_path: Path) -> None:
    process = _start(tmp_path, "-n", "2")
    support.wait_for_cells(tmp_path, process, 1)
    family = [pid for pid, _ in support.descendants(process.pid)]
    process.kill()
    support.finish(process)
    for pid in family:
        support.wait_for_end(pid)
