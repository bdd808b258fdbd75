"""``run``: the conformance tests of some targets or cells, spread over the cores by pytest-xdist."""

import os
import secrets
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from matrix.commands.child import Child
from matrix.commands.deselection import require_no_hidden_deselection
from matrix.commands.doctor import Wanted, doctor
from matrix.errors import (
    BUG,
    INTERRUPTED,
    NOTHING_RAN,
    USAGE,
    LedgerError,
    MatrixError,
    SelectionError,
    StoreError,
    TableError,
)
from matrix.model.catalog import every_profile, load_catalog
from matrix.options import PARENT, PREFIX, RUN_ID
from matrix.report.failures import forget_empty_folders
from matrix.report.handover import Handover
from matrix.report.journal import read_journal
from matrix.resources import CELL_TEST, conformance_root, data_root
from matrix.run.cell_ids import cell_named


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))


def pytest_arguments(what: Sequence[str], workers: int, options: Iterable[str]) -> list[str]:
    """pytest's command line for targets (names) and cells (ids with slashes). Raises SelectionError."""
    catalog = every_profile(load_catalog(data_root()))
    root = conformance_root()
    cells = [name for name in what if "/" in name]
    if cells and len(cells) < len(what):
        target = next(name for name in what if name not in cells)
        why = f"{target} is a target, {cells[0]} a cell"
        raise SelectionError("targets and cells cannot be mixed", why=why, step="name targets, or cell ids")
    targets = [catalog.targets.get(name).name for name in what if name not in cells]
    nodes = []
    for cell in (cell_named(catalog, name) for name in cells):
        nodes.append(f"{root / CELL_TEST}[{cell.id}]")
    targets += [name.split("/")[0] for name in cells]  # so that only their QEMU is probed
    arguments = [word for name in dict.fromkeys(targets) for word in (f"{PREFIX}target", name)]
    profiles = dict.fromkeys(name.partition("@")[2] for name in targets if "@" in name)
    arguments += [word for name in profiles for word in (f"{PREFIX}profile", name)]
    return [*(nodes or [str(root)]), *arguments, "-n", str(workers), *options]


def install_compilers(what: Sequence[str], profiles: Sequence[str], sandbox: str, console: Console) -> None:
    """With CAPMATRIX_INSTALL=1, install what the profiles of a run on the host lack; else their cells are skipped.

    Raises ToolError when that fails, SelectionError for a name that there is not.
    """
    if os.environ.get("CAPMATRIX_INSTALL") == "1":
        targets = list(dict.fromkeys(name.split("/")[0] for name in what))
        doctor(load_catalog(data_root()), Wanted(targets, profiles), False, sandbox, console)


def run(what: Sequence[str], workers: int, options: Iterable[str], path: Path) -> int:
    """Run pytest as a child and return the exit code, which comes from the journal of this very run, at ``path``.

    Other plugins may run cells again, stop the session or change its status: they do not change what is written there.
    Raises SelectionError, StoreError, LedgerError.
    """
    if path.exists() and not path.is_file():
        step = "name a file with --journal: it is read again at the end of the run"
        raise StoreError("the journal is no file", where=str(path), why="it is a folder, a device or a pipe", step=step)
    require_no_hidden_deselection()
    run_id = secrets.token_hex(8)
    settings = ["-q", "-rN", "-p", "no:cacheprovider", "-c", str(conformance_root() / "pytest.ini")]
    sys.stdout.flush()
    with Handover() as handover:
        ours = ["-p", "matrix.plugin", f"--capmatrix-journal={path}", f"{RUN_ID}={run_id}"]
        ours.append(f"{PARENT}={handover.descriptor}")
        child = Child([*settings, *pytest_arguments(what, workers, options), *ours], (handover.descriptor,))
        status = child.run()
        forget_empty_folders(Path.cwd())
        journal = handover.journal()
        return exit_code(status, child.signal, run_ledger(journal, run_id) if journal else None, path)


def run_ledger(path: Path, run_id: str) -> dict[str, Any] | None:
    """The ledger line that the run with this id wrote; None when it wrote none, also when an older one is there."""
    try:
        rows = list(read_journal(path))
    except TableError:
        return None
    ends = [rows[0], rows[-1]] if rows else []
    whole = [row.get("line") for row in ends] == ["run", "ledger"] and all(row.get("run_id") == run_id for row in ends)
    return rows[-1] if whole else None


def exit_code(status: int, stopped_by: str, ledger: Mapping[str, Any] | None, path: Path) -> int:
    """The exit code of a run whose pytest ended with ``status`` and left ``ledger``, after the signal ``stopped_by``.

    0 needs both: a ledger in which all is well, and a pytest that is content. Raises LedgerError.
    """
    if ledger is None:
        if stopped_by:
            print(f"interrupted by {stopped_by}: there is no ledger", file=sys.stderr)
            return INTERRUPTED
        if status in _SAID:
            return status
        raise LedgerError("the run left no ledger", where=str(path), why=_ending(status))
    code = int(ledger["exit_code"])
    if code:
        return BUG if status == BUG else code
    if stopped_by:
        return INTERRUPTED
    if status < 0:
        raise LedgerError("pytest died after it had written the ledger", why=_ending(status))
    if status:
        why = f"{_ending(status)}: what it printed above is not about a cell"
        step = "look for the plugin or the option that wants this (--pytest, PYTEST_ADDOPTS, PYTEST_PLUGINS)"
        print(f"error: {MatrixError('every cell passed, but pytest failed', why=why, step=step)}", file=sys.stderr)
    return status


_SAID = (BUG, USAGE, NOTHING_RAN, *range(10, LedgerError.exit_code))
"""Statuses of a pytest that has said by itself why nothing ran."""


def _ending(status: int) -> str:
    return (
        f"pytest was killed by {signal.Signals(-status).name}" if status < 0 else f"pytest ended with status {status}"
    )
