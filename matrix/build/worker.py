"""Build the worker of one (target, provider); compiled objects are kept by the hash of all that went into them."""

import hashlib
import shlex
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from matrix.build import generate, linking, objects, prototypes
from matrix.build.linking import link_problems, lone_source
from matrix.build.ninja import Edge, discard_damaged, make
from matrix.build.objects import Around, defined_names, link_names, object_problems
from matrix.build.prototypes import Function, function_table
from matrix.build.toolchain import compiler_version, kernel_flags, link_flags, worker_flags
from matrix.errors import BuildError, ToolError
from matrix.model.capability import CapabilityTable
from matrix.model.catalog import Catalog, Provider
from matrix.model.interface import Interface
from matrix.model.kernel import Variant
from matrix.model.target import Target
from matrix.sandbox.base import Sandbox
from matrix.sandbox.locks import build_lock


@dataclass(frozen=True)
class Built:
    """A worker that can be started, its kernels' objects, and what the compiler said of the files that failed; both by
    ``algorithm-variant``."""

    target: Target
    provider: str
    build_id: str
    worker: str
    compiler: str
    functions: tuple[Function, ...]
    variants: tuple[Variant, ...]
    objects: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def function(self, name: str) -> int | None:
        """Index of the function called ``name`` in the table, or None when it is not in this worker."""
        return next((function.index for function in self.functions if function.name == name), None)


@dataclass(frozen=True)
class _Object:
    """One translation unit: where its object goes, the files and command that make it, and {path in the sandbox: what
    people know the file as}, which is its path in the repository when it is a copy."""

    output: str
    files: dict[str, bytes]
    command: str
    shown: dict[str, str]


def build_worker(sandbox: Sandbox, catalog: Catalog, target: Target, provider: Provider) -> Built:
    """Compile what is missing and link. Files that do not compile are in ``Built.failed`` by ``algorithm-variant``.

    Raises ToolError (no compiler) and BuildError (the worker's own or generated sources fail).
    """
    sandbox.ready_for(target)
    with _lock(sandbox, target, provider):
        return _Builder(sandbox, catalog, target, provider).build()


def _lock(sandbox: Sandbox, target: Target, provider: Provider) -> AbstractContextManager[object]:
    return build_lock(f"{sandbox.name}-{target.name}-{provider.name}")


@dataclass(frozen=True)
class _Draft:
    """A worker before it is linked: its kernels, its other units, and what it will be called."""

    kernels: dict[Variant, _Object]
    functions: tuple[Function, ...]
    own: list[_Object]
    build_id: str
    worker: str


class _Builder:
    def __init__(self, sandbox: Sandbox, catalog: Catalog, target: Target, provider: Provider) -> None:
        self.sandbox = sandbox
        self.target = target
        self.provider = provider
        self.table: CapabilityTable = catalog.capabilities[target.arch]
        self.variants = provider.for_target(target, self.table)
        self.compiler = compiler_version(sandbox, target.compiler)
        of_c = [compiler_version(sandbox, target.c_compiler)] if target.c_compiler else []
        self.compilers = ", ".join([*of_c, self.compiler])
        self.root = catalog.root
        self.worker_root = catalog.worker_root
        self.folder = f"build/{target.name}-{provider.name}"

    def build(self) -> Built:
        """Two rounds: the kernels, then table, dispatcher and worker of the kernels that compiled.

        A worker is linked only from objects that were looked at, so one that exists needs no second look.
        """
        kernels = {variant: self._kernel(variant) for variant in self.variants}
        failures = self._make(kernels.values())
        draft = self._draft({v: o for v, o in kernels.items() if o.output not in failures})
        discard_damaged(self.sandbox, [draft.worker])
        if self.sandbox.missing([draft.worker]):
            if not self.target.sanitize:  # whose instrumented objects break every rule: the plain target looks at them
                failures |= self._wrong_objects(draft.kernels)
            draft = self._draft({v: o for v, o in kernels.items() if o.output not in failures})
            self._link(draft)
        failed = {f"{v.algorithm}-{v.name}": failures[o.output] for v, o in kernels.items() if o.output in failures}
        compiled = {f"{variant.algorithm}-{variant.name}": unit.output for variant, unit in draft.kernels.items()}
        return Built(
            self.target,
            self.provider.name,
            draft.build_id,
            draft.worker,
            self.compilers,
            draft.functions,
            tuple(draft.kernels),
            compiled,
            failed,
        )

    def _draft(self, kernels: dict[Variant, _Object]) -> _Draft:
        """The worker that ``kernels`` make."""
        good = tuple(kernels)
        functions = function_table(self.provider.interfaces.values(), good)
        own = self._own_units(functions, good)
        outputs = [unit.output for unit in [*kernels.values(), *own]]
        build_id = _digest([self.compiler, *link_flags(self.target), *_checks(), *outputs])[:16]
        return _Draft(kernels, functions, own, build_id, f"workers/{self.target.name}-{build_id}")

    def _link(self, draft: _Draft) -> None:
        if not self.sandbox.missing([draft.worker]):
            return
        identity = self._unit("build_id.c", f'const char worker_build_id[] = "{draft.build_id}";\n'.encode(), {}, [])
        units = [*draft.kernels.values(), *draft.own, identity]
        self._require(self._make(units))
        objects = " ".join(unit.output for unit in units)
        link = (
            f"{self.target.compiler} {shlex.join([*self.target.flags, *link_flags(self.target)])} -o {{out}} {objects}"
        )
        self._require(make(self.sandbox, self.folder, [Edge(draft.worker, link)]))

    def _kernel(self, variant: Variant) -> _Object:
        interface = self.provider.interfaces[variant.algorithm]
        flags = kernel_flags(self.target, self.table, variant)
        headers = _files(variant.path.parent, ".h")
        if not variant.assembly:
            headers["prototypes.h"] = prototypes.variants_header(interface, self.variants).encode()
            flags += ["-include", "prototypes.h"]
        source = variant.path.read_bytes()
        if b'"dispatch.h"' in source:
            headers["dispatch.h"] = self._dispatch_header(self.variants)
        return self._unit(variant.path.name, source, headers, flags, variant.path.parent, own=False)

    def _wrong_objects(self, kernels: dict[Variant, _Object]) -> dict[str, str]:
        """{output: what is wrong with it} for objects that compiled and cannot be used.

        Again until nothing new is found: what only a wrong object provides, others must not call.
        """
        objects = self.sandbox.read_all(unit.output for unit in kernels.values())
        worker, libc = self._taken()
        wrong: dict[str, str] = {}
        while True:
            good = {v: unit for v, unit in kernels.items() if unit.output not in wrong}
            around = self._around({v: objects[unit.output] for v, unit in good.items()}, worker, libc)
            problems = {u.output: object_problems(objects[u.output], _symbols(v), around[v]) for v, u in good.items()}
            found = {output: "\n".join(lines) for output, lines in problems.items() if lines}
            found = found or self._not_linking(good, objects, libc)
            if not found:
                return wrong
            wrong |= found

    def _around(
        self, good: dict[Variant, bytes], worker: frozenset[str], libc: frozenset[str]
    ) -> dict[Variant, Around]:
        """What there is around each of the ``good`` variants, whose objects these are."""
        interfaces = self.provider.interfaces
        dispatched = {f"{name}_{call}": name for name, interface in interfaces.items() for call in interface.calls}
        there = {f"{variant.algorithm}_{call}" for variant in good for call in variant.provides}
        lost = frozenset(dispatched.keys() - there)
        rows = {}
        for variant in good:
            foreign = frozenset(name for other in self.variants if other is not variant for name in _symbols(other))
            foreign |= {name for other, elf in good.items() if other is not variant for name in defined_names(elf)}
            own = frozenset({variant.algorithm, *variant.composes})
            provided = frozenset(f"{variant.algorithm}_{call}" for call in variant.provides)
            rows[variant] = Around(foreign, dispatched, lost, own, provided, worker, libc)
        return rows

    def _taken(self) -> tuple[frozenset[str], frozenset[str]]:
        """The global names of the worker and of the libc in it, from a worker without any kernel."""
        bare = self._draft({})
        discard_damaged(self.sandbox, [bare.worker])
        self._require(self._make(bare.own))
        self._link(bare)
        return _names_of(self.sandbox, bare.worker, tuple(unit.output for unit in bare.own))

    def _not_linking(
        self, kernels: dict[Variant, _Object], objects: dict[str, bytes], libc: frozenset[str]
    ) -> dict[str, str]:
        """{output: what is missing} for objects that need what nothing defines."""
        dispatched = {f"{variant.algorithm}_{call}" for variant in kernels for call in variant.provides}
        outputs = [unit.output for unit in kernels.values()]
        doubtful = [output for output in outputs if link_names(objects[output]).needed - libc - dispatched]
        if not doubtful:
            return {}
        lone = self._unit("lone.c", lone_source(dispatched).encode(), {}, [])
        self._require(self._make([lone]))
        programs = {f"{output}-{Path(lone.output).stem}": output for output in doubtful}
        link = shlex.join([self.target.compiler, *self.target.flags, *link_flags(self.target)])
        edges = [Edge(program, f"{link} -o {{out}} {output} {lone.output}") for program, output in programs.items()]
        logs = make(self.sandbox, self.folder, edges)
        return {programs[program]: link_problems(log) for program, log in logs.items()}

    def _own_units(self, functions: tuple[Function, ...], variants: tuple[Variant, ...]) -> list[_Object]:
        headers = _files(self.worker_root, ".h")
        arch = self.target.arch
        generated = {
            "table.c": generate.table_source(arch, self.table, functions),
            "dispatch.c": generate.dispatcher_source(self.table, functions),
            "thunks.S": generate.thunks_source(functions),
        }
        units = [
            self._unit(name, text.encode(), headers | {"dispatch.h": self._dispatch_header(variants)}, [])
            for name, text in generated.items()
        ]
        for path in sorted(self.worker_root.iterdir()):
            if path.suffix in (".c", ".S"):
                units.append(self._unit(path.name, path.read_bytes(), headers, [], self.worker_root))
        return units

    def _dispatch_header(self, variants: tuple[Variant, ...]) -> bytes:
        interfaces: Iterable[Interface] = self.provider.interfaces.values()
        return prototypes.dispatch_header(interfaces, variants).encode()

    def _unit(
        self,
        name: str,
        source: bytes,
        headers: dict[str, bytes],
        flags: list[str],
        home: Path | None = None,
        own: bool = True,
    ) -> _Object:
        """The unit ``name``. ``home`` is the folder that it and its headers were copied from (None: generated): debug
        information and messages name that one, not the copy's."""
        flags = [*worker_flags(self.target), *flags] if own else flags
        place = self._shown(home) if home else "generated"
        driver, version = self.target.compiler, self.compiler
        if self.target.c_compiler and not own and name.endswith(".c"):
            driver = self.target.c_compiler
            version = self.compilers
        parts: list[str | bytes] = [version, driver, *flags, place, name, source]
        for header, text in sorted(headers.items()):
            parts += [header, text]
        key = _digest(parts)
        folder = f"sources/{key[:24]}"
        output = f"objects/{self.target.name}/{Path(name).stem}-{key[:24]}.o"
        files = {f"{folder}/{header}": text for header, text in headers.items()} | {f"{folder}/{name}": source}
        mapped = f"-ffile-prefix-map={folder}={place}"
        command = f"{driver} {shlex.join([*flags, mapped])} -I{folder} -c {folder}/{name} -o {{out}}"
        copied = {header for header in (*headers, name) if home and (home / header).is_file()}
        shown = {f"{folder}/{h}": f"{place if h in copied else 'generated'}/{h}" for h in (*headers, name)}
        return _Object(output, files, command, shown)

    def _shown(self, folder: Path) -> str:
        """``kernels/chacha20`` for a folder of the repository; an absolute path for one elsewhere."""
        return str(folder.relative_to(self.root) if self.root in folder.parents else folder)

    def _make(self, units: Iterable[_Object]) -> dict[str, str]:
        by_output = {unit.output: unit for unit in units}
        discard_damaged(self.sandbox, by_output)
        todo = [by_output[output] for output in sorted(self.sandbox.missing(by_output))]
        self.sandbox.write({path: data for unit in todo for path, data in unit.files.items()})
        logs = make(self.sandbox, self.folder, [Edge(unit.output, unit.command) for unit in todo])
        for output, log in logs.items():
            if any(words in log for words in _COMPILER_KILLED):
                step = "is there memory enough? Run it again, with fewer processes (-n 1)"
                raise ToolError("a compiler was killed", where=output, why=log.strip(), step=step)
        return {output: _with_our_paths(log, by_output[output].shown) for output, log in logs.items()}

    def _require(self, failures: dict[str, str]) -> None:
        for output, log in failures.items():
            raise BuildError(f"the worker of {self.target.name} does not build", where=output, why=log)


_COMPILER_KILLED = ("Killed signal terminated program", "unable to execute command: Killed")
"""What gcc and clang say of it, which is no fault of the file that was compiled."""


@cache
def _checks() -> tuple[bytes, ...]:
    """The sources of what looks at objects: what an older check has let through must be looked at again."""
    return tuple(Path(module.__file__ or "").read_bytes() for module in (objects, linking))


@cache
def _names_of(sandbox: Sandbox, worker: str, own: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """The global names that the objects ``own`` define, and what else the program ``worker`` that they make does."""
    files = sandbox.read_all([worker, *own])
    names = frozenset(name for output in own for name in link_names(files[output]).defined)
    return names, link_names(files[worker]).defined - names


def _symbols(variant: Variant) -> dict[str, str]:
    """{symbol: call} of what a variant provides."""
    return {variant.symbol(call): call for call in variant.provides}


def _with_our_paths(log: str, shown: dict[str, str]) -> str:
    """``log`` with the sandbox's copies called by what they are copies of."""
    for path, ours in shown.items():
        log = log.replace(path, ours)
    return log


def _files(folder: Path, suffix: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob(f"[!.]*{suffix}"))}


def _digest(parts: Iterable[str | bytes]) -> str:
    """SHA-256 over length-prefixed parts, so that no two lists collide by joining."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()
