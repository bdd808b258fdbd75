"""Which objects of kernels may go into a worker together: looked at before anything is linked with them or run."""

from collections.abc import Container, Iterable, Mapping
from functools import cache
from pathlib import Path

from matrix.build import callers, linking, objects, roles, sections, system_calls
from matrix.build.linking import link_problems, lone_source
from matrix.build.ninja import Edge, make
from matrix.build.objects import Around, defined_names, link_names, object_problems, unlisted_calls
from matrix.build.units import Unit, Units
from matrix.model.interface import Interface
from matrix.model.kernel import Variant
from matrix.sandbox.base import Sandbox


@cache
def checks() -> tuple[bytes, ...]:
    """The sources of what looks at objects: what an older check has let through must be looked at again."""
    used = (callers, linking, objects, roles, sections, system_calls)
    modules = (Path(__file__), *(Path(module.__file__ or "") for module in used))
    return tuple(path.read_bytes() for path in modules)


@cache
def names_of(sandbox: Sandbox, worker: str, own: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """The global names that the objects ``own`` define, and what else the program ``worker`` that they make does."""
    files = sandbox.read_all([worker, *own])
    names = frozenset(name for output in own for name in link_names(files[output]).defined)
    return names, link_names(files[worker]).defined - names


class Vetting:
    """Looks at the objects of ``kernels``. ``worker`` and ``libc`` are the names taken without any variant; ``thunks``
    is the header with the macro THUNK."""

    def __init__(
        self,
        units: Units,
        interfaces: Mapping[str, Interface],
        kernels: Mapping[Variant, Unit],
        taken: tuple[frozenset[str], frozenset[str]],
        thunks: bytes,
    ) -> None:
        self._units = units
        self._interfaces = interfaces
        self._kernels = kernels
        self._worker, self._libc = taken
        self._thunks = thunks
        self._objects = units.sandbox.read_all(unit.output for unit in kernels.values())

    def wrong_objects(self) -> dict[str, str]:
        """{output: what is wrong with it} for objects that compiled and cannot be used.

        Again until nothing new is found: what only a wrong object provides, others must not call.
        """
        wrong = self._wrong_names()
        while True:
            good = {v: unit for v, unit in self._kernels.items() if unit.output not in wrong}
            around = self._around({v: self._objects[unit.output] for v, unit in good.items()})
            problems = {u.output: self._problems(v, u, around[v]) for v, u in good.items()}
            found = _told(problems) or self.not_linking(good) or _told(self._unlisted(good, around))
            if not found:
                return wrong
            wrong |= found

    def with_wrong_code(self, code: Mapping[str, str], left_out: Container[str]) -> dict[str, str]:
        """``code`` ({output: what is wrong with its code}) with what else is wrong with those objects, so that all of
        it can be mended at once. Objects in ``left_out`` are none that they could take a name from."""
        sound = {v: self._objects[unit.output] for v, unit in self._kernels.items() if unit.output not in left_out}
        told = {}
        for variant, unit in self._kernels.items():
            if unit.output in code:
                around = self._around({**sound, variant: self._objects[unit.output]})[variant]
                told[unit.output] = "\n".join([code[unit.output], *self._problems(variant, unit, around, True)])
        return told

    def _problems(self, variant: Variant, unit: Unit, around: Around, every: bool = False) -> list[str]:
        """What is wrong with one object by itself; and if something is, or with ``every``, also what it calls and may
        not."""
        elf = self._objects[unit.output]
        found = object_problems(elf, symbols_of(variant), around)
        return [*found, *unlisted_calls(elf, around)] if found or every else []

    def _wrong_names(self) -> dict[str, str]:
        """For names of a header's own choice: those that the assembler or preprocessor takes for something else, such
        as a register. The thunks of all kernels are one file, which must not fail for one of them."""
        chosen = {variant: unit for variant, unit in self._kernels.items() if variant.symbols}
        probes = {}
        for variant, unit in chosen.items():
            lines = [f"THUNK {number}, {symbol}" for number, symbol in enumerate(variant.symbols.values())]
            text = "\n".join(['#include "thunk.h"', *lines, ""])
            probes[unit.output] = self._units.unit("names.S", text.encode(), {"thunk.h": self._thunks}, [])
        logs = self._units.make(probes.values())
        read = self._units.sandbox.read_all({probe.output for probe in probes.values()} - logs.keys())
        wrong = {}
        for variant, unit in chosen.items():
            probe = probes[unit.output].output
            used = link_names(read[probe]).used if probe in read else frozenset()
            lines = [f"error: {name} cannot be a function's name here" for name in variant.symbols.values()]
            lines = [line for line, name in zip(lines, variant.symbols.values(), strict=True) if name not in used]
            if lines:
                wrong[unit.output] = "\n".join([*lines, *filter(None, [logs.get(probe)])])
        return wrong

    def _around(self, good: Mapping[Variant, bytes]) -> dict[Variant, Around]:
        """What there is around each of the ``good`` variants, whose objects these are."""
        dispatched = {
            f"{name}_{call}": name for name, interface in self._interfaces.items() for call in interface.calls
        }
        there = {f"{variant.algorithm}_{call}" for variant in good for call in variant.provides}
        libc = self._libc.union(*(variant.calls for variant in good))
        rows = {}
        for variant in good:
            rows[variant] = Around(
                foreign=self._foreign(variant, good) - dispatched.keys() - self._worker - libc,
                dispatched=dispatched,
                lost=frozenset(dispatched.keys() - there),
                callable=frozenset({variant.algorithm, *variant.composes}),
                own=frozenset(f"{variant.algorithm}_{call}" for call in variant.provides),
                worker=self._worker,
                libc=libc,
                calls=frozenset(variant.calls),
            )
        return rows

    def _foreign(self, variant: Variant, good: Mapping[Variant, bytes]) -> frozenset[str]:
        """The names of others. A name is its who provides it, before any helper's of another; and before another's who
        provides it too, when it follows from algorithm, call and variant and the other chose it."""
        provided = symbols_of(variant).keys()
        foreign: set[str] = set()
        for other in self._kernels:
            if other is not variant:
                foreign |= symbols_of(other).keys() - (_by_rule(variant) - _by_rule(other))
        for other, elf in good.items():
            if other is not variant:
                foreign |= defined_names(elf) - provided
        return frozenset(foreign)

    def not_linking(self, kernels: Mapping[Variant, Unit], every: bool = False) -> dict[str, str]:
        """{output: why} for objects that do not link alone; without ``every`` only those are tried that need what
        neither libc nor the dispatcher is known to define."""
        dispatched = {f"{variant.algorithm}_{call}" for variant in kernels for call in variant.provides}
        outputs = [unit.output for unit in kernels.values()]
        known = self._libc | dispatched
        doubtful = [output for output in outputs if every or link_names(self._objects[output]).needed - known]
        if not doubtful:
            return {}
        units = self._units
        lone = units.unit("lone.c", lone_source(dispatched).encode(), {}, [])
        units.require(units.make([lone]))
        programs = {f"{output}-{Path(lone.output).stem}": output for output in doubtful}
        edges = [Edge(program, units.link([output, lone.output])) for program, output in programs.items()]
        logs = make(units.sandbox, units.folder, edges)
        return {programs[program]: link_problems(log) for program, log in logs.items()}

    def _unlisted(self, good: Mapping[Variant, Unit], around: Mapping[Variant, Around]) -> dict[str, list[str]]:
        return {u.output: unlisted_calls(self._objects[u.output], around[v]) for v, u in good.items()}


def symbols_of(variant: Variant) -> dict[str, str]:
    """{symbol: call} of what a variant provides."""
    return {variant.symbol(call): call for call in variant.provides}


def _by_rule(variant: Variant) -> set[str]:
    """The symbols of a variant that its header did not choose."""
    return {variant.symbol(call) for call in variant.provides if call not in variant.symbols}


def _told(problems: Mapping[str, Iterable[str]]) -> dict[str, str]:
    texts = {output: "\n".join(lines) for output, lines in problems.items()}
    return {output: text for output, text in texts.items() if text}
