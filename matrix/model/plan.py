"""The plan: a pure function from (tables, headers, abilities) to cells; it alone decides run or skip with a reason."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from matrix.model.ability import Abilities
from matrix.model.capability import CapabilityTable
from matrix.model.catalog import OURS, Catalog, Provider
from matrix.model.choice import chosen_for, length_classes
from matrix.model.kernel import Variant
from matrix.model.mask import Mask, make_mask
from matrix.model.target import Cpu, Target

DISPATCH = "dispatch"
KINDS = ("dispatch", "variant", "trap", "mask")
"""The four tests of a cell; each has one file in tests/conformance."""
ENFORCEMENTS = ("hard", "soft", "native")
EMULATED = ("hard", "soft")
"""The enforcements that go through all masks; `native` is for variants by name only."""
NATIVE = "native"
"""In place of a CPU string: the worker runs on the machine's own CPU, without QEMU."""
CANNOT_EXPRESS = "qemu-cannot-express"
COMPILER_MISSING = "compiler-missing"
HOST_LACKS = "host-lacks-capability"
REASONS = {
    CANNOT_EXPRESS: "this QEMU has no CPU with exactly these capabilities, or does not enforce their absence",
    HOST_LACKS: "the machine's own CPU cannot run this target, or lacks a capability of the mask",
    COMPILER_MISSING: "the sandbox does not have the compiler of this profile",
    "other-contract": "the published case follows another contract than the interface",
}
"""Every reason code of a skip, with its meaning."""


Tier = Literal["smoke", "boundary", "full"]


@dataclass(frozen=True)
class Cell:
    """One row of plan, ledger and journal: one pytest node that runs many cases.

    ``cpu`` is the string for ``-cpu``, ``further`` the name of a CPU that is not the mask's usual one; ``tier`` is the
    part of the corpus, ``lost`` the capability a trap takes away; ``reason`` is empty when the cell runs, else a code
    of REASONS with ``detail``.
    """

    kind: str
    target: str
    provider: str
    enforcement: str
    mask: Mask
    algorithm: str = ""
    variant: str = ""
    cpu: str = ""
    further: str = ""
    tier: Tier = "full"
    lost: str = ""
    reason: str = ""
    detail: str = ""

    @property
    def subject(self) -> str:
        """``dispatch``, ``<algorithm>`` or ``<algorithm>-<variant>``, behind ``provider:`` when that is not ours."""
        name = DISPATCH if self.kind == DISPATCH else self.algorithm
        if self.variant:
            name = f"{name}-{self.variant}"
        return name if self.provider == OURS else f"{self.provider}:{name}"

    @property
    def id(self) -> str:
        """``target/enforcement/mask/subject``, and ``@name`` behind it on a further CPU."""
        further = f"@{self.further}" if self.further else ""
        return f"{self.target}/{self.enforcement}/{self.mask}/{self.subject}{further}"

    @property
    def guest(self) -> tuple[str, str, str]:
        """What needs a guest of its own: (target, provider, CPU string)."""
        return (self.target, self.provider, self.cpu)


def plan(catalog: Catalog, abilities: Abilities | None) -> tuple[Cell, ...]:
    """Every cell, in deterministic order. Without abilities nothing is known to be inexpressible and all cells run;
    the ids are the same."""
    cells: list[Cell] = []
    for target in catalog.targets.targets:
        for provider in catalog.providers:
            cells.extend(_Planner(catalog, target, provider, abilities).cells())
    return tuple(cells)


class _Place(NamedTuple):
    """What becomes of a cell: the string for ``-cpu``, or the reason code of a skip with details."""

    cpu: str = ""
    reason: str = ""
    detail: str = ""


class _Planner:
    """The cells of one provider on one target."""

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
        self._choices: dict[tuple[str, frozenset[str]], object] = {}
        self._places: dict[tuple[str, Mask, str], _Place] = {}
        self._variants_of: dict[str, tuple[Variant, ...]] = {
            algorithm: tuple(variant for variant in self.variants if variant.algorithm == algorithm)
            for algorithm in provider.interfaces
        }

    def cells(self) -> Iterator[Cell]:
        if self.target.sanitize:
            yield from self._sanitized()
            return
        for enforcement in EMULATED:
            for mask in self.masks:
                yield self._placed(self._cell("dispatch", enforcement, mask))
        for variant in self.variants:
            yield from map(self._placed, self._by_name(variant))
        for variant in self.variants:
            for lost in variant.requires:
                yield self._trap(variant, lost)
        for algorithm in self.provider.interfaces:
            if self._variants_of[algorithm]:
                yield from self._through_dispatcher(algorithm)

    def _sanitized(self) -> Iterator[Cell]:
        """What sanitizers look at: C by name, on the machine's own CPU; under QEMU they are not dependable."""
        for variant in self.variants:
            if not variant.assembly:
                mask = make_mask(self.table, self.lattice, variant.requires)
                yield self._placed(self._cell("variant", NATIVE, mask, variant.algorithm, variant.name))

    def _by_name(self, variant: Variant) -> Iterator[Cell]:
        """``variant`` on the CPU with what it requires and nothing more, and on every other CPU that may show what that
        one hides: the richest, the further ones, the machine's own. All but the first and last run the boundary corpus.
        """
        mask = make_mask(self.table, self.lattice, variant.requires)
        hard = self._cell("variant", "hard", mask, variant.algorithm, variant.name)
        soft = replace(hard, enforcement="soft")
        usual = self.cpu(hard)
        # A variant by name needs no CPU that lacks the rest: where there is none, it runs on the richest.
        yield hard if usual else soft
        if usual and usual.strings != self.soft.strings:
            yield replace(soft, tier="boundary")
        for name in self.catalog.targets.further_cpus(self.target, variant.requires):
            others = (replace(cell, further=name, tier="boundary") for cell in (hard, soft))
            yield from [cell for cell in others if self.cpu(cell)][:1]
        if self.target.native:
            yield replace(hard, enforcement=NATIVE)

    def _cell(self, kind: str, enforcement: str, mask: Mask, algorithm: str = "", variant: str = "") -> Cell:
        return Cell(kind, self.target.name, self.provider.name, enforcement, mask, algorithm, variant)

    def _through_dispatcher(self, algorithm: str) -> Iterator[Cell]:
        """Every mask; the first of each distinct set of chosen variants runs the boundary corpus, the others smoke."""
        choices = [(mask, self._chosen(algorithm, mask)) for mask in self.masks]
        for enforcement in EMULATED:
            seen: set[object] = set()
            for mask, chosen in choices:
                tier: Tier = "smoke" if chosen in seen else "boundary"
                place = self._place(enforcement, mask)
                if not place.reason:
                    seen.add(chosen)
                names = (self.target.name, self.provider.name)
                yield Cell("mask", *names, enforcement, mask, algorithm, tier=tier, **place._asdict())

    def _chosen(self, algorithm: str, mask: Mask) -> object:
        """What the dispatcher takes at ``mask`` for every call and length class, in the parts of compositions too."""
        parts = {part for variant in self._variants_of[algorithm] for part in variant.composes}
        return (self._chosen_of(algorithm, mask), *(self._chosen(part, mask) for part in sorted(parts)))

    def _chosen_of(self, algorithm: str, mask: Mask) -> object:
        """As ``_chosen``, without the parts; masks that differ in what no variant of the algorithm asks for are one."""
        interface = self.provider.interfaces[algorithm]
        variants = self._variants_of[algorithm]
        asked = mask.closed.intersection(name for variant in variants for name in variant.requires)
        if (algorithm, asked) not in self._choices:
            self._choices[algorithm, asked] = tuple(
                (length, call, taken.name if taken else None)
                for operation in interface.operations.values()
                for length in length_classes(operation, variants)
                for call, taken in chosen_for(operation, interface, variants, asked, length)
            )
        return self._choices[algorithm, asked]

    def _trap(self, variant: Variant, lost: str) -> Cell:
        closed = self.table.without(self.table.closure(variant.requires), lost)
        mask = Mask(self.table.sorted(closed & set(self.lattice)), closed)
        cell = replace(self._cell("trap", "hard", mask, variant.algorithm, variant.name), lost=lost)
        return self._placed(cell)

    def cpu(self, cell: Cell) -> Cpu | None:
        """The emulated CPU that ``cell`` wants, or None when the table has none."""
        targets = self.catalog.targets
        if cell.enforcement == "hard":
            return targets.hard_cpu(self.target, self.table, self.lattice, cell.mask, cell.further)
        if cell.further:
            return targets.further_soft_cpu(self.target, self.table, cell.mask, cell.further)
        return self.soft

    def _placed(self, cell: Cell) -> Cell:
        """``cell`` with its CPU string, or with the reason why this QEMU cannot run it."""
        return replace(cell, **self._place(cell.enforcement, cell.mask, cell.further)._asdict())

    def _place(self, enforcement: str, mask: Mask, further: str = "") -> _Place:
        """What becomes of all cells of one enforcement, mask and further CPU."""
        key = (enforcement, mask, further)
        if key not in self._places:
            self._places[key] = self._new_place(replace(self._cell("", enforcement, mask), further=further))
        return self._places[key]

    def _new_place(self, cell: Cell) -> _Place:
        if self.abilities and self.target.name in self.abilities.missing:
            detail = f"{self.target.c_compiler} is not there"
            return _Place(reason=COMPILER_MISSING, detail=detail)
        if cell.enforcement == "native":
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
        if cpu.has is not None and cell.enforcement == "hard":
            extra = (ability.executes - cpu.has) & set(self.table.names)
            if extra:
                return f"executes {' '.join(self.table.sorted(extra))} all the same"
        return ""


def why_no_trap(variant: Variant, table: CapabilityTable) -> str:
    """Why the plan has no trap cell of ``variant``; empty when it has one for each capability that it requires."""
    if variant.requires:
        return ""
    why = "no capability is required, so there is no CPU to trap on"
    unrefused = [row.name for row in table.rows if not (row.flags or row.march or row.gas)]
    if variant.assembly and unrefused:
        names = " ".join(unrefused)
        why += f"; the assembler accepts instructions of {names} unasked, so nothing shows whether they are used"
    return why


def cpu_strings(catalog: Catalog, wanted: set[str]) -> tuple[tuple[Target, str], ...]:
    """Every (target, CPU string) that a cell of the ``wanted`` targets may use under QEMU, once per program and string:
    what is to be probed."""
    found: dict[tuple[str, str], tuple[Target, str]] = {}
    for target in (target for target in catalog.targets.targets if target.name in wanted):
        for provider in catalog.providers:
            planner = _Planner(catalog, target, provider, None)
            emulated = (cell for cell in planner.cells() if cell.enforcement != NATIVE)
            cpus = [planner.soft, *(cpu for cell in emulated if (cpu := planner.cpu(cell)))]
            for text in dict.fromkeys(text for cpu in cpus for text in cpu.strings):
                found.setdefault((target.qemu, text), (target, text))
    return tuple(found.values())


def find(cells: Iterable[Cell], cell_id: str) -> Cell | None:
    """The cell called ``cell_id``, or None."""
    return next((cell for cell in cells if cell.id == cell_id), None)
