"""Every variant by name on a CPU that lost one capability it requires: it must die of SIGILL inside its own file."""

from collections.abc import Callable

from matrix.model.plan import Cell


def test_trap(cell: Cell, check_cell: Callable[[Cell], None]) -> None:
    """One cell of the plan."""
    check_cell(cell)
