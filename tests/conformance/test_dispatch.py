"""What the dispatcher takes for every call and length class at every mask, against the hand-typed expectation."""

from collections.abc import Callable

from matrix.model.plan import Cell


def test_dispatch(cell: Cell, check_cell: Callable[[Cell], None]) -> None:
    """One cell of the plan."""
    check_cell(cell)
