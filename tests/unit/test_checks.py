"""The kinds of cells: each module of ``matrix/checks`` is one, and says all that others ask of it."""

from pathlib import Path

import pytest

import matrix.checks
from matrix.checks import all_checks, check_of, every_cell
from matrix.model.catalog import Catalog


def test_each_module_is_a_kind_of_its_own() -> None:
    modules = {path.stem for path in Path(matrix.checks.__file__).parent.glob("*.py")} - {"__init__"}
    assert [check.name for check in all_checks()] == sorted(modules)


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.name)
def test_a_check_says_what_it_does_and_what_it_costs(check: matrix.checks.Check) -> None:
    assert check.guess > 0
    assert check.what.format(lost="neon") == check.what.replace("{lost}", "neon")
    assert check.what[0].islower()
    assert not check.what.endswith(".")


def test_every_cell_has_the_kind_the_guess_and_a_column_of_its_check(small: Catalog) -> None:
    cells = every_cell(small, None)
    assert {cell.kind for cell in cells} == {check.name for check in all_checks()}
    for cell in cells:
        check = check_of(cell)
        assert (cell.kind, cell.guess) == (check.name, check.guess)
        assert check.column(cell) in ("by name", "native", "hard masks", "soft masks", "trap")


def test_the_guess_is_no_part_of_what_a_cell_is(small: Catalog) -> None:
    """Failure files and comparisons of plans would change with each correction of a guess."""
    for cell in every_cell(small, None):
        assert "guess" not in cell.recorded()
        assert cell.recorded()["id"] == cell.id
