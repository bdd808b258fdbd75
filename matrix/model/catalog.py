"""The catalog: everything that the tables and kernel headers of a set of providers describe."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from matrix.errors import HeaderError, TableError
from matrix.model.capability import CapabilityTable, load_capabilities
from matrix.model.entries import require_files, visible
from matrix.model.instructions import InstructionTable, load_instructions
from matrix.model.interface import Interface, load_interface
from matrix.model.kernel import Variant, read_variant
from matrix.model.mask import Mask, lattice_names, masks
from matrix.model.shared import SHARED, require_headers
from matrix.model.target import EVERY_PROFILE, Target, TargetTable, load_targets

OURS = "kernels"
"""The provider name of the repository's own kernels."""
NOT_ALGORITHMS = frozenset({"worker", "providers", "trace", SHARED})
"""Folders of ``kernels/`` that hold no algorithm."""


@dataclass(frozen=True)
class Provider:
    """Who supplies code: a name, its folder, its interfaces and variants."""

    name: str
    root: Path
    interfaces: dict[str, Interface]
    variants: tuple[Variant, ...]

    def for_target(self, target: Target, capabilities: CapabilityTable) -> tuple[Variant, ...]:
        """The variants that are compiled for ``target``, by algorithm and then from low to high priority."""
        lost = set(target.without)
        return tuple(
            variant
            for variant in self.variants
            if target.arch in variant.arch
            and not capabilities.closure(variant.requires) & lost
            and (target.assembly or variant.portable)
        )

    def lattice(self, target: Target, capabilities: CapabilityTable) -> tuple[str, ...]:
        """The capabilities that a variant compiled for ``target`` names, in table order."""
        return lattice_names(capabilities, [v.requires for v in self.for_target(target, capabilities)])


@dataclass(frozen=True)
class Catalog:
    """Tables and providers, loaded once per process."""

    capabilities: dict[str, CapabilityTable]
    targets: TargetTable
    providers: tuple[Provider, ...]
    root: Path
    instructions: dict[str, InstructionTable]

    @property
    def worker_root(self) -> Path:
        """The folder of the worker's own sources."""
        return self.root / "kernels" / "worker"

    def provider(self, name: str) -> Provider:
        """The provider called ``name``; the name comes from a plan, so it exists."""
        return next(provider for provider in self.providers if provider.name == name)

    def masks(self, target: Target, provider: Provider) -> tuple[Mask, ...]:
        """Every mask of ``provider`` on ``target``, fewest capabilities first."""
        table = self.capabilities[target.arch]
        return masks(table, provider.lattice(target, table))

    @cached_property
    def algorithms(self) -> tuple[str, ...]:
        """Names of all algorithms, sorted."""
        return tuple(sorted({name for provider in self.providers for name in provider.interfaces}))


def load_catalog(root: Path) -> Catalog:
    """Read ``kernels/`` and ``images/targets.toml`` below ``root``. Raises TableError, HeaderError."""
    require_files(root / "kernels", TableError, also_folders=True)
    require_files(root / "images", TableError, also_folders=True)
    require_files(root / "kernels" / "worker", TableError, also_folders=True)
    capabilities = load_capabilities(root / "kernels" / "capabilities.toml")
    targets = load_targets(root / "images" / "targets.toml", capabilities)
    instructions = load_instructions(root / "kernels" / "instructions.toml", capabilities)
    return Catalog(capabilities, targets, (load_provider(OURS, root / "kernels", capabilities),), root, instructions)


def every_profile(catalog: Catalog) -> Catalog:
    """``catalog`` with every target in every profile."""
    return replace(catalog, targets=catalog.targets.with_profiles([EVERY_PROFILE]))


def load_provider(name: str, root: Path, capabilities: dict[str, CapabilityTable]) -> Provider:
    """Read every algorithm folder below ``root``. Raises TableError, HeaderError."""
    require_headers(root / SHARED)
    interfaces: dict[str, Interface] = {}
    variants: list[Variant] = []
    for folder in [path for path in visible(root) if path.is_dir() and path.name not in NOT_ALGORITHMS]:
        require_files(folder, HeaderError)
        description = folder / f"{folder.name}.toml"
        if not description.exists():
            why = "every algorithm folder holds <algorithm>.toml"
            raise TableError("an algorithm has no interface", where=str(description), why=why)
        interface = load_interface(description)
        interfaces[interface.algorithm] = interface
        files = [path for path in visible(folder) if path.suffix in (".c", ".S")]
        for path in visible(folder):
            if path.suffix not in (".c", ".S", ".h", ".toml"):
                why = "variants end in .c or .S; headers in .h, the interface in .toml"
                raise HeaderError(f"{path.name} would be ignored", where=str(path), why=why, step="rename or move it")
        found = [read_variant(path, interface, capabilities) for path in files]
        variants.extend(sorted(found, key=lambda variant: (variant.priority, variant.name)))
    _check(variants)
    _check_compositions(variants, interfaces)
    return Provider(name, root, interfaces, tuple(variants))


def _check(variants: Iterable[Variant]) -> None:
    """Names and priorities are unique per algorithm and architecture: the dispatcher's choice must have one answer."""
    names: dict[tuple[str, str, str], Variant] = {}
    priorities: dict[tuple[str, str, int], Variant] = {}
    for variant in variants:
        for arch in variant.arch:
            other = names.setdefault((variant.algorithm, arch, variant.name), variant)
            if other is not variant:
                why = f"{other.path.name} is {variant.name!r} on {arch} too"
                raise HeaderError("two files are the same variant", where=f"{variant.path}, key variant", why=why)
            other = priorities.setdefault((variant.algorithm, arch, variant.priority), variant)
            if other is not variant:
                why = f"{other.path.name} has priority {variant.priority} on {arch} too"
                raise HeaderError("two variants have one priority", where=f"{variant.path}, key priority", why=why)


def _check_compositions(variants: Sequence[Variant], interfaces: Mapping[str, Interface]) -> None:
    """Every part of a composition is an algorithm, and none is made of itself."""
    parts: dict[str, set[str]] = {}
    for variant in variants:
        for algorithm in variant.composes:
            if algorithm not in interfaces:
                why = f"{algorithm!r} is no algorithm here: {', '.join(interfaces)}"
                raise HeaderError("a composition names an unknown part", where=f"{variant.path}, key composes", why=why)
        parts.setdefault(variant.algorithm, set()).update(variant.composes)
    for variant in variants:
        seen: set[str] = set()
        todo = list(variant.composes)
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo.extend(parts.get(name, ()))
        if variant.algorithm in seen:
            why = f"{variant.algorithm} is a part of {', '.join(variant.composes)}"
            raise HeaderError("a composition is made of itself", where=f"{variant.path}, key composes", why=why)
