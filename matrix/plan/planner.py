"""What a check plans its cells with: one provider on one target, with its variants, masks and CPUs."""

from dataclasses import replace
from typing import NamedTuple

from matrix.model.capability import CapabilityTable
from matrix.model.catalog import Catalog, Provider
from matrix.model.kernel import Variant
from matrix.model.mask import Mask
from matrix.model.target import Cpu, Target
from matrix.plan.ability import Abilities
from matrix.plan.cell import CANNOT_EXPRESS, COMPILER_MISSING, HOST_LACKS, NATIVE, Cell, Enforcement


class _Place(NamedTuple):
    """What becomes of a cell: the string for ``-cpu``, or the reason code of a skip with details."""

    cpu: str = ""
    reason: str = ""
    detail: str = ""


class Planner:
    """One provider on one target. Without abilities nothing is known to be inexpressible, and every cell runs.

    ``variants`` are those of the target, ``lattice`` the capabilities that they ask for, ``masks`` every set of them,
    ``soft`` the richest CPU.
    """

    def __init__(self, catalog: Catalog, target: Target, provider: Provider, abilities: Abilities | None) -> None:
        self.catalog = catalog
        self.target = target
        self.provider = provider
        self.abilities = abilities
        self.table: CapabilityTable = catalog.capabilities[target.arch]
        self.variants = provider.for_target(target, self.table)
        self.lattice = provider.lattice(target, self.table)
        self.masks = catalog.masks(target, provider)
        self.soft = catalog.targets.soft_cpu(target, self.table)
        self._places: dict[tuple[Enforcement, Mask, str], _Place] = {}
        self._variants_of: dict[str, tuple[Variant, ...]] = {
            algorithm: tuple(variant for variant in self.variants if variant.algorithm == algorithm)
            for algorithm in provider.interfaces
        }

    def variants_of(self, algorithm: str) -> tuple[Variant, ...]:
        """The target's variants of ``algorithm``."""
        return self._variants_of[algorithm]

    def cell(self, enforcement: Enforcement, mask: Mask, algorithm: str = "", variant: str = "") -> Cell:
        """A cell that has no CPU yet."""
        return Cell(self.target.name, self.provider.name, enforcement, mask, algorithm, variant)

    def cpu(self, cell: Cell) -> Cpu | None:
        """The emulated CPU that ``cell`` wants, or None when the table has none."""
        targets = self.catalog.targets
        if cell.enforcement == Enforcement.HARD:
            return targets.hard_cpu(self.target, self.table, self.lattice, cell.mask, cell.further)
        if cell.further:
            return targets.further_soft_cpu(self.target, self.table, cell.mask, cell.further)
        return self.soft

    def placed(self, cell: Cell) -> Cell:
        """``cell`` with its CPU string, or with the reason why this QEMU cannot run it."""
        key = (cell.enforcement, cell.mask, cell.further)
        if key not in self._places:
            self._places[key] = self._place(cell)
        return replace(cell, **self._places[key]._asdict())

    def _place(self, cell: Cell) -> _Place:
        if self.abilities and self.target.name in self.abilities.missing:
            return _Place(reason=COMPILER_MISSING, detail=f"{self.target.c_compiler} is not there")
        if cell.enforcement == Enforcement.NATIVE:
            return self._native_place(cell)
        cpu = self.cpu(cell)
        if cpu is None:
            has = f"{cell.mask} and nothing more" if cell.mask.names else "no capability at all"
            detail = f"images/targets.toml knows no -cpu of {self.target.qemu} that has {has}"
            return _Place(reason=CANNOT_EXPRESS, detail=detail)
        if self.abilities is None:
            return _Place(cpu.strings[0])
        refused = []
        for text in cpu.strings:
            problem = self._problem(cell, cpu, text)
            if not problem:
                return _Place(text)
            refused.append(f"-cpu {text}: {problem}")
        return _Place(cpu.strings[0], CANNOT_EXPRESS, "; ".join(refused))

    def _native_place(self, cell: Cell) -> _Place:
        if self.abilities is None:
            return _Place(NATIVE)
        ability = self.abilities.cpus.get((self.target.arch, NATIVE))
        if ability is None or not ability.starts:
            return _Place(NATIVE, HOST_LACKS, ability.note if ability else "was not probed")
        missing = self.table.sorted(cell.mask.closed - ability.executes)
        return _Place(NATIVE, HOST_LACKS, f"lacks {' '.join(missing)}") if missing else _Place(NATIVE)

    def _problem(self, cell: Cell, cpu: Cpu, text: str) -> str:
        """Why this QEMU's CPU ``text`` cannot carry ``cell``; empty when it can."""
        assert self.abilities is not None
        ability = self.abilities.cpus.get((self.target.qemu, text))
        if ability is None:
            return "was not probed"
        if not ability.starts:
            return ability.note or "does not start"
        missing = cell.mask.closed - ability.executes
        if missing:
            return f"cannot execute {' '.join(self.table.sorted(missing))}"
        if cpu.has is not None and cell.enforcement == Enforcement.HARD:
            extra = (ability.executes - cpu.has) & set(self.table.names)
            if extra:
                return f"executes {' '.join(self.table.sorted(extra))} all the same"
        return ""
