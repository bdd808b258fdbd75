"""What a process keeps while it runs cells: builds, one guest, corpora. One per pytest-xdist worker."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from matrix.build.prototypes import dispatch_state
from matrix.build.worker import Built, build_worker
from matrix.cases.case import Case, Corpus, Tier
from matrix.cases.choosing import Choice
from matrix.cases.corpus import build_corpus
from matrix.cases.layout import Binding
from matrix.cases.placement import Placement, all_placements
from matrix.errors import BuildError, GuestError, MatrixError, storing
from matrix.model.catalog import Catalog
from matrix.model.choice import StateUse, by_name, state_use
from matrix.model.interface import Interface, Operation
from matrix.model.kernel import State, Variant
from matrix.plan.cell import NATIVE, Cell
from matrix.run.expectation import Row, checked_expectation
from matrix.run.provenance import digests, source_files
from matrix.run.symbols import Symbols, defined_functions
from matrix.run.verdict import MASK_INEFFECTIVE, UNRELIABLE, Failure
from matrix.sandbox.base import Channel, Sandbox
from matrix.worker.outcome import Unrepeated, describe
from matrix.worker.patience import DEADLINE
from matrix.worker.process import Guest, GuestCounts

_TRIES = 300
ALARM_MICROSECONDS = 300
"""How often SIGALRM interrupts a kernel in a run with full placements."""


_BEFORE = "a cell before it on this guest may have done it, or something outside (a person, or the system): run again"
_GONE = "restore the file, or start the run again: the plan was made from a tree that had it"
_OTHER = "delete the cache (docs/running.md says where it lies) and run again"


@dataclass(frozen=True)
class Settings:
    """What a run was asked for, beside the selection of cells."""

    seed: int = 1
    exhaustive: bool = False
    placements: str = "quick"
    deadline: float = DEADLINE
    """Seconds that one request to a guest may take."""

    def recorded(self) -> dict[str, Any]:
        """What a failure file keeps of them."""
        return {"seed": self.seed, "exhaustive": self.exhaustive, "placements": self.placements}


@dataclass
class Session:
    """Builds, guests and corpora, made when a cell first needs them."""

    catalog: Catalog
    sandbox: Sandbox
    settings: Settings
    corpus_folder: Path
    counts: GuestCounts = field(default_factory=GuestCounts)
    _builds: dict[tuple[str, str], Built] = field(default_factory=dict)
    _digests: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    _corpora: dict[tuple[str, str], Corpus | MatrixError] = field(default_factory=dict)
    _selected: dict[tuple[str, str, str, Tier], tuple[Case, ...]] = field(default_factory=dict)
    _guest: tuple[tuple[str, str, str], Guest] | None = None

    @cached_property
    def expectation(self) -> tuple[Row, ...]:
        """What the dispatcher must take, typed by hand. Raises TableError."""
        return checked_expectation(self.catalog)

    def built(self, target: str, provider: str) -> Built:
        """The worker of (target, provider), built now if it was not. Raises ToolError, BuildError."""
        key = (target, provider)
        if key not in self._builds:
            row, owner = self.catalog.targets.get(target), self.catalog.provider(provider)
            self._digests[key] = digests(source_files(self.catalog, target, provider))
            try:
                self._builds[key] = build_worker(self.sandbox, self.catalog, row, owner)
            except OSError as problem:
                where, why = str(problem.filename or ""), problem.strerror or str(problem)
                raise BuildError("a source file cannot be read", where=where, why=why, step=_GONE) from None
        return self._builds[key]

    def sources(self, cell: Cell) -> dict[str, str]:
        """Digests of the sources of the cell's kernels and worker, as they were when these were built."""
        whole = self._digests.get((cell.target, cell.provider), {})
        wanted = source_files(self.catalog, cell.target, cell.provider, cell.algorithm)
        return {name: whole[name] for name in wanted if name in whole}

    def guest(self, cell: Cell) -> Guest:
        """The guest of ``cell``: the one that is running when it fits, else a new one. Raises GuestError, ToolError."""
        if self._guest and self._guest[0] == cell.guest:
            return self._guest[1]
        self.close()
        built = self.built(cell.target, cell.provider)
        worker = [built.worker, "--alarm", str(ALARM_MICROSECONDS)] if self.alarmed else [built.worker]
        argv = worker if cell.cpu == NATIVE else [built.target.qemu, "-cpu", cell.cpu, *worker]

        def start() -> Channel:
            return self.sandbox.spawn(argv, bounded=not built.target.sanitize)

        guest = Guest(start, self.counts, self.settings.deadline)
        if guest.hello.build_id != built.build_id:
            raise GuestError(
                "another worker answers", why=f"build {guest.hello.build_id}, not {built.build_id}", step=_OTHER
            )
        self._guest = (cell.guest, guest)
        return guest

    @property
    def alarmed(self) -> bool:
        """Whether guests get SIGALRM all the time: with full placements, which look for everything."""
        return self.settings.placements == "full"

    def tries(self, case: Case) -> int:
        """How often a case that runs alone is run: what only a signal at the right moment shows takes many."""
        return _TRIES if self.alarmed and case.plain else 1

    def close(self) -> None:
        """End the guest, if one runs."""
        if self._guest:
            self._guest[1].close()
            self._guest = None

    def corpus(self, provider: str, algorithm: str) -> Corpus:
        """The corpus of an algorithm, made once. Raises VectorError, OracleError, StoreError, and the same again."""
        key = (provider, algorithm)
        if key not in self._corpora:
            owner = self.catalog.provider(provider)
            bounds = {
                v for variant in owner.variants if variant.algorithm == algorithm for v in variant.min_bytes.values()
            }
            interface = owner.interfaces[algorithm]
            settings = self.settings
            try:
                with storing("the corpus", self.corpus_folder):
                    self._corpora[key] = build_corpus(
                        interface, sorted(bounds), settings.seed, settings.exhaustive, self.corpus_folder
                    )
            except MatrixError as problem:
                self._corpora[key] = problem
        corpus = self._corpora[key]
        if isinstance(corpus, MatrixError):
            raise corpus
        return corpus

    def cases(self, provider: str, algorithm: str, operation: str, tier: Tier) -> tuple[Case, ...]:
        """The cases of one operation in ``tier``: hundreds of cells have the same."""
        key = (provider, algorithm, operation, tier)
        if key not in self._selected:
            corpus = self.corpus(provider, algorithm)
            self._selected[key] = tuple(case for case in corpus.select(tier) if case.operation == operation)
        return self._selected[key]

    def symbols(self, cell: Cell) -> Symbols:
        """Symbols of the cell's worker."""
        built = self.built(cell.target, cell.provider)
        return _symbols(self.sandbox, built.worker, built.target.arch)

    def own_functions(self, cell: Cell) -> frozenset[str]:
        """The functions that the file of the cell's variant defines."""
        built = self.built(cell.target, cell.provider)
        return defined_functions(self.sandbox.read(built.objects[f"{cell.algorithm}-{cell.variant}"]))


@cache
def _symbols(sandbox: Sandbox, worker: str, arch: str) -> Symbols:
    return Symbols(sandbox.read(worker), arch)


@dataclass(frozen=True)
class Bench:
    """One cell on its guest, with the mask applied: binds operations to functions of the worker's table."""

    session: Session
    cell: Cell
    only: tuple[Case, str] | None = None

    @cached_property
    def built(self) -> Built:
        """The cell's worker."""
        return self.session.built(self.cell.target, self.cell.provider)

    @cached_property
    def guest(self) -> Guest:
        """The cell's guest."""
        return self.session.guest(self.cell)

    @property
    def detected(self) -> list[str]:
        """What the guest detected, in table order."""
        table = self.session.catalog.capabilities[self.built.target.arch]
        return list(table.sorted(self.guest.hello.detected_names))

    @property
    def cpu_words(self) -> str:
        """``a CPU with ssse3 and without avx, avx2``: what the guest's CPU has and lacks of all that masks may hold."""
        table = self.session.catalog.capabilities[self.built.target.arch]
        has, lacks = self.detected, [name for name in table.names if name not in self.detected]
        parts = [f"with{word} {', '.join(names)}" for word, names in (("", has), ("out", lacks)) if names]
        told = f", told the mask {self.cell.mask}" if self.cell.enforcement != "hard" else ""
        return f"a CPU {' and '.join(parts)}{told}"

    def apply_mask(self) -> Failure | None:
        """Tell a soft mask to the worker, or compare what a hard CPU was detected to be with the mask."""
        cell, table = self.cell, self.session.catalog.capabilities[self.built.target.arch]
        detected = self.guest.hello.detected_names
        if cell.enforcement in ("soft", "native"):
            bits = table.bits(cell.mask.closed)
            if not cell.mask.closed <= detected:
                why = f"-cpu {cell.cpu} executes {cell.mask}, the worker detects {' '.join(self.detected) or 'nothing'}"
                return Failure(MASK_INEFFECTIVE, why)
            effective = self.guest.set_mask(bits)
            if isinstance(effective, Unrepeated):
                return Failure(UNRELIABLE, f"{describe(effective.death)}, before any call of this cell; {_BEFORE}")
            if effective != bits:
                return Failure(MASK_INEFFECTIVE, f"mask {bits:#x} was told, {effective:#x} is in effect")
            return None
        self.guest.clear_mask()
        expected = self.session.catalog.targets.hard_cpu(
            self.built.target,
            table,
            self.session.catalog.provider(cell.provider).lattice(self.built.target, table),
            cell.mask,
            cell.further,
        )
        assert expected is not None
        has = expected.has if expected.has is not None else cell.mask.closed
        if detected != has:
            text = f"-cpu {cell.cpu} should have {' '.join(table.sorted(has)) or 'nothing'}"
            return Failure(MASK_INEFFECTIVE, f"{text}, the worker detects {' '.join(self.detected) or 'nothing'}")
        return None

    def interfaces(self) -> Iterator[Interface]:
        """The interfaces that have a variant in this worker, the cell's own if it names one."""
        provider = self.session.catalog.provider(self.cell.provider)
        for name, interface in provider.interfaces.items():
            if self.cell.algorithm in ("", name) and any(v.algorithm == name for v in self.built.variants):
                yield interface

    def variants(self, interface: Interface) -> tuple[Variant, ...]:
        """The algorithm's variants in this worker."""
        return tuple(variant for variant in self.built.variants if variant.algorithm == interface.algorithm)

    def bind_dispatch(self, interface: Interface, operation: Operation) -> Binding | None:
        """``operation`` through the dispatch functions, or None when this worker lacks one of its calls."""
        functions = {}
        for step in operation.steps:
            index = self.built.function(f"{interface.algorithm}.{step.call}")
            if index is None:
                return None
            functions[step.call] = index
        states = {name: dispatch_state(interface, self.built.variants, name) for name in interface.states}
        return Binding(functions, states, self.built.target.word_bytes, dispatched=True)

    def bind_variant(self, interface: Interface, operation: Operation) -> Binding | None:
        """``operation`` by the cell's variant, or None when it is not the variant's."""
        variants = self.variants(interface)
        variant = next((v for v in variants if v.name == self.cell.variant), None)
        if variant is None:
            return None
        closed = self.session.catalog.capabilities[self.built.target.arch].closure(variant.requires)
        lent = by_name(operation, interface, variant, variants, closed)
        if lent is None:
            return None
        functions = {}
        for call, owner in lent.items():
            index = self.built.function(f"{interface.algorithm}.{call}.{owner.name}")
            assert index is not None, "a variant of the worker has its calls in the table"
            functions[call] = index
        states: dict[str, State] = dict(variant.state)
        return Binding(functions, states, self.built.target.word_bytes)

    @property
    def _whole_corpus(self) -> bool:
        """Whether it is the cell that tries all there is: of a variant by name, on the CPU that is its own."""
        return self.cell.tier == "full"

    @property
    def tier(self) -> Tier:
        """The part of the corpus that the cell runs."""
        if not self.session.settings.exhaustive:
            return self.cell.tier
        return "long" if self._whole_corpus else "full"

    def cases(self, interface: Interface, operation: Operation, tier: Tier) -> list[Case]:
        """The cases of ``operation`` in ``tier``, or the only one that is to run."""
        if self.only:
            mine = self.only[0].algorithm == interface.algorithm and self.only[0].operation == operation.name
            return [self.only[0]] * self.session.tries(self.only[0]) if mine else []
        cases = self.session.cases(self.cell.provider, interface.algorithm, operation.name, tier)
        return [case for case in cases if case.target in ("", self.cell.target.partition("@")[0])]

    def every_placement(self, interface: Interface, operation: Operation, binding: Binding) -> tuple[Placement, ...]:
        """All placements of ``operation``: by name, also with each state started by every variant that may."""
        every = all_placements(interface, operation, binding.dispatched)
        if binding.word_bytes == 4:  # which has no length that is too long for 32 bits
            every = tuple(placement for placement in every if not placement.beyond)
        if binding.dispatched:
            return every
        return (
            *every,
            *(Placement(f"started-by-{v.name}", starter=v.name) for v in self._starters(interface, operation)),
        )

    def _starters(self, interface: Interface, operation: Operation) -> list[Variant]:
        """The other variants that the cell's CPU admits and whose starting calls make a state of an equal layout."""
        variants = self.variants(interface)
        mine = next(v for v in variants if v.name == self.cell.variant)
        starting = [(call, use.state) for call, use in _starting_calls(interface, operation) if call in mine.provides]
        return [
            variant
            for variant in variants
            if starting
            and variant is not mine
            and self.cell.mask.closed.issuperset(variant.requires)
            and all(call in variant.provides and _same_layout(variant, mine, state) for call, state in starting)
        ]

    def rebind(self, binding: Binding, interface: Interface, operation: Operation, placement: Placement) -> Binding:
        """``binding`` with the starting calls of ``placement``'s starter, when it names one."""
        if not placement.starter:
            return binding
        functions = dict(binding.functions)
        for call, _ in _starting_calls(interface, operation):
            index = self.built.function(f"{interface.algorithm}.{call}.{placement.starter}")
            assert index is not None, "a starter provides the starting calls"
            functions[call] = index
        return replace(binding, functions=functions)

    def placements(self, interface: Interface, operation: Operation, binding: Binding) -> Choice:
        """Which placements each case of ``operation`` gets."""
        return Choice(
            self.every_placement(interface, operation, binding),
            only=self.only[1] if self.only else "",
            full=self.session.settings.placements == "full",
            by_name=self._whole_corpus,
            smoke=self.tier == "smoke",
        )


def _starting_calls(interface: Interface, operation: Operation) -> list[tuple[str, StateUse]]:
    """The calls of ``operation`` that start a state, with the state."""
    uses = ((step.call, state_use(interface.calls[step.call], interface)) for step in operation.steps)
    return [(call, use) for call, use in uses if use and use.starts]


def _same_layout(one: Variant, other: Variant, state: str) -> bool:
    return state in one.state and state in other.state and one.state[state].layout == other.state[state].layout
