"""What every process of one run agrees on: made by the controller, handed to the xdist workers as JSON values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from matrix.cases.manifest import check_manifest
from matrix.checks import every_cell, probed
from matrix.model.catalog import Catalog, load_catalog
from matrix.plan.ability import Abilities, CpuAbility
from matrix.plan.cell import Cell
from matrix.plan.selection import Selection, select
from matrix.resources import data_root
from matrix.run.expectation import checked_expectation
from matrix.run.session import Session, Settings
from matrix.sandbox.base import Sandbox
from matrix.sandbox.choose import choose_sandbox
from matrix.sandbox.locks import cache_root


@dataclass(frozen=True)
class RunState:
    """Tables, the whole plan, which of its cells are wanted, and what they were decided with."""

    catalog: Catalog
    cells: tuple[Cell, ...]
    wanted: Selection
    settings: Settings
    sandbox: Sandbox | None
    abilities: Abilities | None
    costs: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def selected(self) -> tuple[Cell, ...]:
        """The cells that are wanted. Raises SelectionError, MaskError."""
        return select(self.cells, self.wanted, self.catalog, self.costs)

    def session(self) -> Session:
        """A session of this process; corpora lie in the cache that all processes share."""
        assert self.sandbox is not None, "only a collection has no sandbox"
        return Session(self.catalog, self.sandbox, self.settings, cache_root() / "corpora")

    def handover(self) -> dict[str, Any]:
        """What an xdist worker needs to arrive at the same plan, as JSON values."""
        abilities = None
        if self.abilities is not None:
            cpus = [[*key, a.starts, sorted(a.executes), a.note] for key, a in self.abilities.cpus.items()]
            versions, missing = dict(self.abilities.versions), sorted(self.abilities.missing)
            abilities = {"cpus": cpus, "versions": versions, "missing": missing}
        sandbox = self.sandbox.name if self.sandbox else ""
        return {"sandbox": sandbox, "abilities": abilities, "costs": dict(self.costs)}


def controller_state(
    wanted: Selection, settings: Settings, sandbox_name: str, costs: Mapping[str, float], collect_only: bool
) -> RunState:
    """The state of a run. A mere collection chooses no sandbox and probes nothing; its cells have the same ids.

    Raises TableError, HeaderError, VectorError, SelectionError, MaskError, ToolError, BuildError, EngineError.
    """
    whole = load_catalog(data_root())
    catalog = _narrowed(whole, wanted)
    everything = every_cell(catalog, None)
    names = {cell.target for cell in select(everything, wanted, catalog, costs)}
    if collect_only:
        return RunState(catalog, everything, wanted, settings, None, None, costs)
    checked_expectation(catalog)  # before anything is built
    interfaces = {name: found for provider in whole.providers for name, found in provider.interfaces.items()}
    check_manifest(interfaces, [target.name for target in whole.targets.targets], whole.root / "vectors")
    sandbox = choose_sandbox(sandbox_name)
    targets = [target for target in catalog.targets.targets if target.name in names]
    abilities = probed(sandbox, catalog, targets)
    return RunState(catalog, every_cell(catalog, abilities), wanted, settings, sandbox, abilities, costs)


def worker_state(wanted: Selection, settings: Settings, handed: dict[str, Any]) -> RunState:
    """The state that the controller handed over."""
    catalog = _narrowed(load_catalog(data_root()), wanted)
    abilities = None
    if handed["abilities"] is not None:
        cpus = {
            (qemu, text): CpuAbility(starts, frozenset(executes), note)
            for qemu, text, starts, executes, note in handed["abilities"]["cpus"]
        }
        told = handed["abilities"]
        abilities = Abilities(cpus, told["versions"], frozenset(told["missing"]))
    sandbox = choose_sandbox(handed["sandbox"]) if handed["sandbox"] else None
    return RunState(catalog, every_cell(catalog, abilities), wanted, settings, sandbox, abilities, handed["costs"])


def _narrowed(catalog: Catalog, wanted: Selection) -> Catalog:
    targets = catalog.targets.with_profiles(wanted.profiles)
    return replace(catalog, targets=targets.only(wanted.targets) if wanted.targets else targets)
