"""``run``: the conformance tests of some targets or cells, spread over the cores by pytest-xdist."""

import os
import sys
from collections.abc import Iterable, Sequence

import pytest
from rich.console import Console

from matrix.commands.doctor import doctor
from matrix.errors import SelectionError
from matrix.model.catalog import every_profile, load_catalog
from matrix.model.cell_ids import cell_named
from matrix.resources import conformance_root, data_root


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
        nodes.append(f"{root / f'test_{cell.kind}.py'}::test_{cell.kind}[{cell.id}]")
    targets += [name.split("/")[0] for name in cells]  # so that only their QEMU is probed
    arguments = [word for name in dict.fromkeys(targets) for word in ("--target", name)]
    profiles = dict.fromkeys(name.partition("@")[2] for name in targets if "@" in name)
    arguments += [word for name in profiles for word in ("--profile", name)]
    return [*(nodes or [str(root)]), *arguments, "-n", str(workers), *options]


def install_compilers(what: Sequence[str], profiles: Sequence[str], sandbox: str, console: Console) -> None:
    """With CAPMATRIX_INSTALL=1, install what the profiles of a run on the host lack; else their cells are skipped.

    Raises ToolError when that fails, SelectionError for a name that there is not.
    """
    if os.environ.get("CAPMATRIX_INSTALL") == "1":
        targets = list(dict.fromkeys(name.split("/")[0] for name in what))
        doctor(load_catalog(data_root()), targets, profiles, False, sandbox, False, console)


class _Witness:
    """Sees whether a cell came to its end, well or badly or skipped, and whether one failed."""

    def __init__(self) -> None:
        self.saw_an_end = False
        self.saw_a_failure = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test was called, not only collected or set up; one failed in whatever phase."""
        self.saw_a_failure = self.saw_a_failure or report.failed
        self.saw_an_end = self.saw_an_end or report.when == "call"


def run(what: Sequence[str], workers: int, options: Iterable[str]) -> int:
    """Run pytest in this process and return its exit code; where pytest is content without a run (``--collect-only``,
    also from PYTEST_ADDOPTS or a configuration file) the code of nothing ran."""
    sys.stdout.flush()
    witness = _Witness()
    code = int(pytest.main(["-q", "-rN", *pytest_arguments(what, workers, options)], plugins=[witness]))
    if code == pytest.ExitCode.OK and not witness.saw_an_end:
        where = "PYTEST_ADDOPTS, --pytest, or addopts of a configuration file"
        why = "pytest was told to do something else, such as --collect-only"
        step = "take that option away; `python -m matrix list` prints cells without running them"
        print(f"error: {SelectionError('nothing ran', where=where, why=why, step=step)}", file=sys.stderr)
        return int(pytest.ExitCode.NO_TESTS_COLLECTED)
    if code == pytest.ExitCode.INTERRUPTED and witness.saw_a_failure and "-x" in options:
        return int(pytest.ExitCode.TESTS_FAILED)  # so pytest says of -x itself; with pytest-xdist it says interrupted
    return code
