"""Every cell of the plan that is selected; what its test does is the check of its kind (``matrix/checks``)."""

from collections.abc import Callable

from matrix.plan.cell import Cell


def test_cell(cell: Cell, check_cell: Callable[[Cell], None]) -> None:
    """One cell of the plan."""
    check_cell(cell)
