"""A new kind of check is one new file: plan, run, grid, list, explain, journal and repro take it up by themselves."""

from pathlib import Path

import pytest

from matrix.run.repro import BAD

from . import support

CELL = "arm32-noneon/hard/none/portable"
CHECK = '''
"""Check ``portable``: without any capability, the dispatcher takes C alone."""

from collections.abc import Iterator
from dataclasses import replace

from matrix.plan.cell import Cell, Enforcement
from matrix.plan.planner import Planner
from matrix.run import verdict as vd
from matrix.run.jobs import jobs
from matrix.run.session import Bench
from matrix.run.stream import Collector, Subject, run_jobs
from matrix.run.verdict import CellResult, Failure


class PortableCheck:
    """One cell per target, at the empty mask."""

    name = "portable"
    guess = 1.0
    what = "runs every algorithm at this mask; no assembly may be entered"
    ends_guests = False
    takes_one_case = True

    def column(self, _cell: Cell) -> str:
        return "portable"

    def cells(self, planner: Planner) -> Iterator[Cell]:
        empty = next(mask for mask in planner.masks if not mask.names)
        yield replace(planner.placed(planner.cell(Enforcement.HARD, empty)), tier="smoke")

    def run(self, bench: Bench, result: CellResult) -> None:
        def check(_about: Subject, _length: int, entered: dict[int, int], _whole: bool) -> Failure | None:
            functions = [bench.built.functions[index] for index in entered]
            found = sorted(f.name for f in functions if f.variant and f.variant.assembly)
            return Failure(vd.WRONG_VARIANT, f"entered {found[0]}, which is assembly") if found else None

        run_jobs(bench, Collector(result), jobs(bench, bench.bind_dispatch, result), check)


CHECK = PortableCheck()
'''


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository with one more file."""
    root = support.copy_repository(tmp_path_factory.mktemp("another") / "repository")
    (root / "matrix" / "checks" / "portable.py").write_text(CHECK)
    return root


def test_it_is_planned_listed_and_explained(tmp_path: Path, repository: Path) -> None:
    status, output = support.python(tmp_path, "-m", "matrix", "list", "arm32-noneon", root=repository)
    assert status == 0, output
    assert CELL in output.splitlines()
    assert "portable" in next(line for line in output.splitlines() if "variants" in line)
    status, output = support.python(tmp_path, "-m", "matrix", "explain", CELL, root=repository)
    assert status == 0, output
    assert "  check      portable: runs every algorithm at this mask; no assembly may be entered" in output


def test_it_is_run_counted_and_reproduced(tmp_path: Path, repository: Path) -> None:
    """ARM assembly that needs no capability is there, so that the cell fails: that must be seen everywhere."""
    run = ("-m", "matrix", "run", CELL, "-n", "0", "--sandbox", "host")
    status, output = support.python(tmp_path, *run, root=repository)
    assert status == 1, output
    assert "entered chacha20.xor.armv7, which is assembly" in output
    assert any("portable" in line and "subject" in line for line in output.splitlines()), "a column of the grid"
    rows = support.journal(tmp_path)
    assert support.check_balance(rows)["kinds"] == {"wrong-variant": 1}
    file = next(path for path in (tmp_path / "failures" / CELL).iterdir() if '"chacha20"' in path.read_text())
    status, output = support.python(tmp_path, "-m", "matrix", "repro", str(file), root=repository)
    assert status == BAD, output
    assert "wrong-variant: entered chacha20.xor.armv7, which is assembly" in output
