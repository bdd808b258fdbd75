"""The grid of a run: one table per target, subjects down, kinds of cell across."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from matrix.checks import check_of
from matrix.plan.cell import Cell
from matrix.report.console import styled
from matrix.report.ledger import Entry, Ledger
from matrix.run.verdict import FAILED, PASSED

_FIRST = ("by name", "native", "hard masks", "soft masks")
"""The columns that come first; others follow by name."""


def _column(cell: Cell) -> str:
    return check_of(cell).column(cell)


def _place_of(column: str) -> tuple[int, str]:
    return (_FIRST.index(column) if column in _FIRST else len(_FIRST), column)


def grids(cells: Iterable[Cell], ledger: Ledger) -> list[Table]:
    """A table per target. A place shows ``passed/planned``, with failed, skipped and unreached cells behind it when
    there are any; ``cases`` is how many cases ran."""
    by_target: dict[str, dict[str, list[Cell]]] = {}
    for cell in cells:
        if cell.id in ledger.planned:
            by_target.setdefault(cell.target, {}).setdefault(cell.subject, []).append(cell)
    return [_grid(target, subjects, ledger) for target, subjects in by_target.items()]


def _grid(target: str, subjects: dict[str, list[Cell]], ledger: Ledger) -> Table:
    table = Table(title=target, title_justify="left", header_style="bold")
    table.add_column("subject")
    columns = sorted({_column(cell) for cells in subjects.values() for cell in cells}, key=_place_of)
    for name in (*columns, "cases"):
        table.add_column(name, justify="right")
    for subject in sorted(subjects, key=lambda name: (bool(subjects[name][0].algorithm), name)):
        cells = subjects[subject]
        places = [_place([ledger.entries.get(cell.id) for cell in cells if _column(cell) == name]) for name in columns]
        cases = sum(int(entry.result.get("cases", 0)) for cell in cells if (entry := ledger.entries.get(cell.id)))
        table.add_row(subject, *places, f"{cases:,}")
    return table


def _place(entries: list[Entry | None]) -> Text:
    if not entries:
        return styled()
    passed = sum(entry is not None and entry.verdict == PASSED for entry in entries)
    unreached = sum(entry is None or not entry.reached for entry in entries)
    failed = sum(entry is not None and entry.reached and entry.verdict == FAILED for entry in entries)
    skipped = len(entries) - passed - failed - unreached
    text = f"{passed}/{len(entries)}"
    return styled(
        (f"{text} {failed} FAILED", "bold red") if failed else text,
        (f" {skipped} skipped", "yellow") if skipped else "",
        (f" {unreached} not run", "bold red") if unreached else "",
    )
