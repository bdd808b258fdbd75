"""Every variant by name on the CPU that has what it requires and nothing more: the full corpus."""

from collections.abc import Callable

from matrix.model.plan import Cell


def test_variant(cell: Cell, check_cell: Callable[[Cell], None]) -> None:
    """One cell of the plan."""
    check_cell(cell)
