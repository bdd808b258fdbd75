"""The kinds of cells: each module of ``matrix/checks`` is one, and says all that others ask of it."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import matrix.checks
from matrix.checks import all_checks, check_of, every_cell
from matrix.errors import CheckError
from matrix.model.catalog import Catalog
from matrix.plan.cell import Cell
from matrix.plan.plan import plan
from matrix.plan.planner import Planner
from matrix.run.session import Bench
from matrix.run.verdict import CellResult


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


class _Planless:
    name = "extra"
    guess = 1.0
    what = "does nothing"
    ends_guests = False
    takes_one_case = False


class _Greedy(_Planless):
    """Plans what another check plans."""

    def __init__(self, kind: str) -> None:
        self._planned = next(check for check in all_checks() if check.name == kind)

    def cells(self, planner: Planner) -> Iterator[Cell]:
        yield from self._planned.cells(planner)

    def column(self, _cell: Cell) -> str:
        return "extra"

    def run(self, bench: Bench, result: CellResult) -> None: ...


class _Other(_Greedy):
    name = "other"


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (None, "it has no CHECK"),
        (_Planless(), "its CHECK lacks cells, column, run"),
        (_Other("trap"), "its CHECK is called 'other'; a check is called after its file"),
    ],
)
def test_a_module_that_is_no_check_is_refused(found: object, why: str) -> None:
    module = ModuleType("matrix.checks.extra")
    module.__file__ = "matrix/checks/extra.py"
    if found:
        module.CHECK = found  # type: ignore[attr-defined]
    with pytest.raises(CheckError) as caught:
        matrix.checks._check(module)
    assert (caught.value.where, caught.value.why) == ("matrix/checks/extra.py", why)


def test_two_cells_with_one_id_are_refused(small: Catalog) -> None:
    with pytest.raises(CheckError) as caught:
        plan(small, None, [*all_checks(), _Greedy("trap")])
    assert caught.value.what == "two cells have one id"
    assert caught.value.why == "check extra plans it, and trap too"


def test_a_check_that_raises_while_it_plans_is_named(small: Catalog) -> None:
    class Raises(_Greedy):
        def cells(self, planner: Planner) -> Iterator[Cell]:
            raise KeyError("neon")

    with pytest.raises(CheckError) as caught:
        plan(small, None, [Raises("trap")])
    assert caught.value.what == "check extra cannot plan its cells"
    assert caught.value.why == "KeyError: 'neon'"


def test_a_module_that_cannot_be_loaded_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "unloadable.py").write_text("1 / 0\n")
    monkeypatch.setattr(matrix.checks, "__path__", [str(tmp_path)])
    with pytest.raises(CheckError) as caught:
        matrix.checks._loaded("unloadable")
    assert (caught.value.what, caught.value.where) == ("unloadable cannot be loaded", str(tmp_path / "unloadable.py"))
    assert caught.value.why == "ZeroDivisionError: division by zero"
