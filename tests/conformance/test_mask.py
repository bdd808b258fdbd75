"""Every algorithm through the dispatcher at every mask."""

from collections.abc import Callable

from matrix.model.plan import Cell


def test_mask(cell: Cell, check_cell: Callable[[Cell], None]) -> None:
    """One cell of the plan."""
    check_cell(cell)
