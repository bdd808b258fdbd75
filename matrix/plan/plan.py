"""The plan: a pure function from (tables, headers, abilities, checks) to cells; it alone decides run or skip with a
reason."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from matrix.errors import CheckError, MatrixError
from matrix.model.catalog import Catalog
from matrix.model.target import Target
from matrix.plan.ability import Abilities
from matrix.plan.cell import NATIVE, Cell
from matrix.plan.planner import Planner


class Plans(Protocol):
    """What plans cells of one kind: a check."""

    name: str
    """The kind of its cells."""
    guess: float
    """Seconds that one of its cells usually takes."""

    def cells(self, planner: Planner) -> Iterator[Cell]:
        """The cells of the planner's provider on its target, each placed on a CPU or skipped with a reason."""
        ...


def plan(catalog: Catalog, abilities: Abilities | None, checks: Sequence[Plans]) -> tuple[Cell, ...]:
    """Every cell, in deterministic order. Without abilities nothing is known to be inexpressible and all cells run;
    the ids are the same. Raises CheckError when two cells have one id."""
    cells: list[Cell] = []
    for target in catalog.targets.targets:
        for provider in catalog.providers:
            cells.extend(planned(Planner(catalog, target, provider, abilities), checks))
    _require_unique(cells)
    return tuple(cells)


def _require_unique(cells: Iterable[Cell]) -> None:
    known: dict[str, str] = {}
    for cell in cells:
        if cell.id in known:
            why = f"check {cell.kind} plans it" + (
                f", and {other} too" if (other := known[cell.id]) != cell.kind else " twice"
            )
            raise CheckError("two cells have one id", where=cell.id, why=why)
        known[cell.id] = cell.kind


def planned(planner: Planner, checks: Sequence[Plans]) -> Iterator[Cell]:
    """The cells of one provider on one target."""
    for check in checks:
        try:
            cells = [replace(cell, kind=check.name, guess=check.guess) for cell in check.cells(planner)]
        except MatrixError:
            raise
        except Exception as problem:
            what, where = f"check {check.name} cannot plan its cells", f"target {planner.target.name}"
            raise CheckError(what, where=where, why=f"{type(problem).__name__}: {problem}") from problem
        yield from cells


def cpu_strings(catalog: Catalog, wanted: set[str], checks: Sequence[Plans]) -> tuple[tuple[Target, str], ...]:
    """Every (target, CPU string) that a cell of the ``wanted`` targets may use under QEMU, once per program and string:
    what is to be probed."""
    found: dict[tuple[str, str], tuple[Target, str]] = {}
    for target in (target for target in catalog.targets.targets if target.name in wanted):
        for provider in catalog.providers:
            planner = Planner(catalog, target, provider, None)
            emulated = (cell for cell in planned(planner, checks) if cell.enforcement != NATIVE)
            cpus = [planner.soft, *(cpu for cell in emulated if (cpu := planner.cpu(cell)))]
            for text in dict.fromkeys(text for cpu in cpus for text in cpu.strings):
                found.setdefault((target.qemu, text), (target, text))
    return tuple(found.values())


def find(cells: Iterable[Cell], cell_id: str) -> Cell | None:
    """The cell called ``cell_id``, or None."""
    return next((cell for cell in cells if cell.id == cell_id), None)
