"""Build the worker of one (target, provider); compiled objects are kept by the hash of all that went into them."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from matrix.build import generate, prototypes
from matrix.build.inspection import SHARED, code_checks, wrong_code
from matrix.build.ninja import Edge, discard_damaged, make
from matrix.build.placing import placing_script
from matrix.build.prototypes import Function, function_table
from matrix.build.reads import copy_of
from matrix.build.roles import KERNEL
from matrix.build.toolchain import kernel_flags, link_flags
from matrix.build.units import Unit, Units, digest
from matrix.build.vetting import Vetting, checks, names_of
from matrix.model.capability import CapabilityTable
from matrix.model.catalog import Catalog, Provider
from matrix.model.entries import visible
from matrix.model.instructions import InstructionTable
from matrix.model.interface import Interface
from matrix.model.kernel import Variant
from matrix.model.shared import shared_headers
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
    """A worker before it is linked: its kernels, its other units, flags of the link, and what it will be called."""

    kernels: dict[Variant, Unit]
    functions: tuple[Function, ...]
    own: list[Unit]
    link: tuple[str, ...]
    build_id: str
    worker: str


class _Builder:
    def __init__(self, sandbox: Sandbox, catalog: Catalog, target: Target, provider: Provider) -> None:
        self.sandbox = sandbox
        self.target = target
        self.provider = provider
        self.table: CapabilityTable = catalog.capabilities[target.arch]
        self.instructions: InstructionTable = catalog.instructions[target.arch]
        self.variants = provider.for_target(target, self.table)
        self.worker_root = catalog.worker_root
        self.inside = (catalog.root.resolve(), provider.root.resolve())
        self.units = Units(sandbox, target, catalog.root, f"build/{target.name}-{provider.name}")

    def build(self) -> Built:
        """Two rounds: the kernels, then table, dispatcher and worker of the kernels that compiled.

        A worker is linked only from objects that were looked at, so one that exists needs no second look.
        """
        kernels = {variant: self._kernel(variant) for variant in self.variants}
        failures = self.units.make(kernels.values())
        draft = self._draft(_without(kernels, failures))
        discard_damaged(self.sandbox, [draft.worker])
        if self.sandbox.missing([draft.worker]):
            vetting = self._vetting(draft.kernels)
            if not self.target.sanitize:  # whose instrumented objects break the rules: the plain target looks at them
                code = wrong_code(self.units, draft.kernels, self._for_a_library, self.instructions)
                vetting = self._vetting(_without(draft.kernels, code))
                failures |= vetting.wrong_objects()
                if code:
                    failures |= self._vetting(draft.kernels).with_wrong_code(code, failures.keys() | code.keys())
            draft = self._draft(_without(kernels, failures))
            if logs := self._link(draft):
                # Something that nobody thought of: whose object does not link alone either, is not linked.
                failures |= vetting.not_linking(draft.kernels, every=True)
                if draft.kernels == (left := _without(kernels, failures)):
                    self.units.require(logs)
                draft = self._draft(left)
                self.units.require(self._link(draft))
        failed = {f"{v.algorithm}-{v.name}": failures[o.output] for v, o in kernels.items() if o.output in failures}
        compiled = {f"{variant.algorithm}-{variant.name}": unit.output for variant, unit in draft.kernels.items()}
        return Built(
            self.target,
            self.provider.name,
            draft.build_id,
            draft.worker,
            self.units.compilers,
            draft.functions,
            tuple(draft.kernels),
            compiled,
            failed,
        )

    def _draft(self, kernels: dict[Variant, Unit], link: tuple[str, ...] = ()) -> _Draft:
        """The worker that ``kernels`` make."""
        good = tuple(kernels)
        functions = function_table(self.provider.interfaces.values(), good)
        own = self._own_units(functions, good)
        outputs = [unit.output for unit in [*kernels.values(), *own]]
        headers = [f"{v.requires} {v.writable} {v.position_dependent}" for v in good]
        looks: list[str | bytes] = [*checks(), *code_checks(), self.instructions.digest, *headers]
        flags = [*link_flags(self.target), *link]
        build_id = digest([self.units.compiler, self.units.tools.digest, *flags, *looks, *outputs])[:16]
        return _Draft(kernels, functions, own, link, build_id, f"workers/{self.target.name}-{build_id}")

    def _link(self, draft: _Draft) -> dict[str, str]:
        """Link it unless it is there, and return {worker: what the linker said} when that fails."""
        if not self.sandbox.missing([draft.worker]):
            return {}
        text = f'const char worker_build_id[] = "{draft.build_id}";\n'
        identity = self.units.unit("build_id.c", text.encode(), {}, [])
        units = [*draft.kernels.values(), *draft.own, identity]
        self.units.require(self.units.make(units))
        command = self.units.link([unit.output for unit in units], [*draft.link, *self._placing(draft)])
        return make(self.sandbox, self.units.folder, [Edge(draft.worker, command)])

    def _placing(self, draft: _Draft) -> list[str]:
        """The linker's flags that place each section of a kernel exactly; none for a worker without kernels."""
        if not draft.kernels:
            return []
        script = f"{self.units.folder}/{draft.build_id}.ld"
        kernels = self.sandbox.read_all(unit.output for unit in draft.kernels.values())
        self.sandbox.write({script: placing_script(kernels).encode()})
        return [f"-Wl,-T,{script}"]

    def _for_a_library(self, variant: Variant) -> Unit:
        return self._kernel(variant, SHARED)

    def _kernel(self, variant: Variant, more: Iterable[str] = ()) -> Unit:
        interface = self.provider.interfaces[variant.algorithm]
        flags = [*kernel_flags(self.target, self.table, variant), *more]
        headers = self._headers(variant.path.parent)
        if not variant.assembly:
            headers["prototypes.h"] = prototypes.variants_header(interface, [variant]).encode()
            flags += ["-include", "prototypes.h"]
        source = self._copy(variant.path)
        if b'"dispatch.h"' in source:
            headers["dispatch.h"] = self._dispatch_header(self.variants)
        headers |= shared_headers(variant.path.parents[1], [source, *headers.values()], self._copy)
        return self.units.unit(variant.path.name, source, headers, flags, variant.path.parent, own=False)

    def _vetting(self, kernels: dict[Variant, Unit]) -> Vetting:
        thunks = (self.worker_root / "thunk.h").read_bytes()
        return Vetting(self.units, self.provider.interfaces, kernels, self._taken(), thunks)

    def _taken(self) -> tuple[frozenset[str], frozenset[str]]:
        """The global names of the worker and of the libc in it, from a worker without any kernel but with all that
        kernels may call, and whatever that needs in its turn."""
        asked = KERNEL.functions.union(*(variant.calls for variant in self.variants))
        bare = self._draft({}, tuple(f"-Wl,--undefined={name}" for name in sorted(asked)))
        discard_damaged(self.sandbox, [bare.worker])
        self.units.require(self._link(bare))
        return names_of(self.sandbox, bare.worker, tuple(unit.output for unit in bare.own))

    def _own_units(self, functions: tuple[Function, ...], variants: tuple[Variant, ...]) -> list[Unit]:
        headers = self._headers(self.worker_root)
        arch = self.target.arch
        generated = {
            "table.c": generate.table_source(arch, self.table, functions),
            "dispatch.c": generate.dispatcher_source(self.table, functions),
            "thunks.S": generate.thunks_source(functions),
        }
        units = [
            self.units.unit(name, text.encode(), headers | {"dispatch.h": self._dispatch_header(variants)}, [])
            for name, text in generated.items()
        ]
        for path in visible(self.worker_root):
            if path.suffix in (".c", ".S"):
                units.append(self.units.unit(path.name, self._copy(path), headers, [], self.worker_root))
        return units

    def _headers(self, folder: Path) -> dict[str, bytes]:
        return {path.name: self._copy(path) for path in visible(folder) if path.suffix == ".h"}

    def _copy(self, path: Path) -> bytes:
        return copy_of(path, self.inside)

    def _dispatch_header(self, variants: tuple[Variant, ...]) -> bytes:
        interfaces: Iterable[Interface] = self.provider.interfaces.values()
        return prototypes.dispatch_header(interfaces, variants).encode()


def _without(kernels: dict[Variant, Unit], failures: dict[str, str]) -> dict[Variant, Unit]:
    return {variant: unit for variant, unit in kernels.items() if unit.output not in failures}
