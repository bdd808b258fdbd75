"""Kinds of cells. Each module here is one: its ``CHECK`` plans the cells, runs one, and says what it does.

A new kind is a new module; nothing else names it.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Protocol

from matrix.build.probe import probe_abilities
from matrix.errors import CheckError
from matrix.model.catalog import Catalog
from matrix.model.target import Target
from matrix.plan.ability import Abilities
from matrix.plan.cell import Cell
from matrix.plan.plan import cpu_strings, plan
from matrix.plan.planner import Planner
from matrix.run.session import Bench
from matrix.run.verdict import CellResult
from matrix.sandbox.base import Sandbox


class Check(Protocol):
    """One kind of cell."""

    name: str
    """The kind; lower-case letters."""
    guess: float
    """Seconds that one of its cells usually takes."""
    what: str
    """What its test does, for `capmatrix explain`; ``{lost}`` stands for the capability that is taken away."""
    ends_guests: bool
    """Whether a sound kernel ends its guest, so that cells of this kind measure no throughput."""
    takes_one_case: bool
    """Whether one case of the corpus can be run alone, as `capmatrix repro` does."""

    def cells(self, planner: Planner) -> Iterator[Cell]:
        """The cells of the planner's provider on its target, each placed on a CPU or skipped with a reason."""
        ...

    def column(self, cell: Cell) -> str:
        """The column of the grid that counts ``cell``."""
        ...

    def run(self, bench: Bench, result: CellResult) -> None:
        """Run the bench's cell and add to ``result`` what it did. Raises MatrixError for what is wrong outside it."""
        ...


@cache
def all_checks() -> tuple[Check, ...]:
    """Every kind, by name. Raises CheckError for a module that is none."""
    return tuple(_check(_loaded(module.name)) for module in iter_modules(__path__))


def _loaded(name: str) -> ModuleType:
    try:
        return import_module(f"{__name__}.{name}")
    except Exception as problem:
        why = f"{type(problem).__name__}: {problem}"
        raise CheckError(f"{name} cannot be loaded", where=f"{__path__[0]}/{name}.py", why=why) from problem


def _check(module: ModuleType) -> Check:
    """The check that ``module`` is. Raises CheckError."""
    where, name = str(module.__file__), module.__name__.rpartition(".")[2]
    check = getattr(module, "CHECK", None)
    if check is None:
        raise CheckError(f"{name} is no check", where=where, why="it has no CHECK")
    if lacking := [one for one in (*Check.__annotations__, "cells", "column", "run") if not hasattr(check, one)]:
        raise CheckError(f"{name} is no check", where=where, why=f"its CHECK lacks {', '.join(lacking)}")
    if check.name != name:
        why = f"its CHECK is called {check.name!r}; a check is called after its file"
        raise CheckError("a check has another name than its file", where=where, why=why)
    found: Check = check
    return found


def check_of(cell: Cell) -> Check:
    """The kind of ``cell``."""
    return next(check for check in all_checks() if check.name == cell.kind)


def probed(sandbox: Sandbox, catalog: Catalog, targets: Iterable[Target]) -> Abilities:
    """What the emulated CPUs can do that cells of ``targets`` may ask for. Raises ToolError, BuildError."""
    targets = tuple(targets)
    return probe_abilities(sandbox, catalog, targets, cpu_strings(catalog, {one.name for one in targets}, all_checks()))


def every_cell(catalog: Catalog, abilities: Abilities | None) -> tuple[Cell, ...]:
    """The plan with the cells of every kind."""
    return plan(catalog, abilities, all_checks())
