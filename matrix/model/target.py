"""Targets and emulated CPUs, from ``images/targets.toml``."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from matrix.errors import SelectionError, TableError
from matrix.model.capability import ARCHITECTURES, CapabilityTable
from matrix.model.mask import Mask
from matrix.model.near import known_names
from matrix.model.tables import read_toml

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


EVERY_PROFILE = "all"
"""In place of a profile's name: every profile."""


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One ``[[target]]``: an architecture, a build flavour and the tools for it."""

    name: str
    description: str
    arch: str
    compiler: str
    qemu: str
    image: str
    packages: list[str]
    native_packages: list[str] = []
    flags: list[str] = []
    gas: str = ""
    without: list[str] = []
    assembly: bool = True
    native: bool = False
    c_compiler: str = ""
    c_flags: list[str] = []
    link: list[str] = []
    sanitize: list[str] = []

    @property
    def word_bytes(self) -> int:
        """Bytes of a machine word of the guest."""
        return 8 if self.arch in ("aarch64", "x86_64") else 4


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One ``[[profile]]``: another way to build a target; what it builds is run like the target itself."""

    name: str
    description: str
    arch: list[str]
    flags: list[str] = []
    c_compiler: str = ""
    triples: dict[str, str] = {}
    image: str = ""
    packages: list[str] = []
    link: dict[str, list[str]] = {}
    sanitize: list[str] = []

    def of(self, target: Target) -> Target:
        """``target`` built this way, called ``target@profile``."""
        return msgspec.structs.replace(
            target,
            name=f"{target.name}@{self.name}",
            description=f"{target.description}; {self.description}",
            flags=[*target.flags, *self.flags],
            c_compiler=self.c_compiler,
            c_flags=[f"--target={self.triples[target.arch]}"] if target.arch in self.triples else [],
            image=self.image or target.image,
            packages=[*target.packages, *self.packages],
            native_packages=[*target.native_packages, *self.packages] if target.native_packages else [],
            native=bool(self.sanitize),
            link=self.link.get(target.arch, target.link),
            sanitize=self.sanitize,
        )


class CpuRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One ``[[cpu]]``: strings for ``-cpu`` and the capabilities that such a CPU has exactly.

    With a ``name`` it is a further CPU: it has the capabilities of another row and differs in what none of them names;
    ``uses`` leaves it to the variants that require one of these capabilities.
    """

    arch: str
    name: str = ""
    uses: list[str] = []
    strings: list[str] = []
    base: str = ""
    has: list[str] | None = None


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    target: list[Target]
    cpu: list[CpuRow]
    profile: list[Profile] = []


@dataclass(frozen=True)
class Cpu:
    """A CPU for a mask: candidate strings in order of preference, and what it has (None: whatever this QEMU has)."""

    strings: tuple[str, ...]
    has: frozenset[str] | None


@dataclass(frozen=True)
class TargetTable:
    """All targets and CPUs."""

    targets: tuple[Target, ...]
    cpus: tuple[CpuRow, ...]
    profiles: tuple[Profile, ...] = ()

    def with_profiles(self, names: Collection[str]) -> "TargetTable":
        """The table with every target in the profiles ``names`` too. Raises SelectionError for an unknown profile."""
        wanted = self.named_profiles(names)
        more = [profile.of(target) for profile in wanted for target in self.targets if target.arch in profile.arch]
        return replace(self, targets=(*self.targets, *more))

    def named_profiles(self, names: Collection[str]) -> tuple[Profile, ...]:
        """The profiles ``names``, or all for EVERY_PROFILE, in the table's order. Raises SelectionError."""
        known = [profile.name for profile in self.profiles]
        for name in names:
            if name != EVERY_PROFILE and name not in known:
                why = known_names(name, [*known, EVERY_PROFILE])
                raise SelectionError(f"unknown profile {name!r}", why=why, step="`--profile NAME` takes one of these")
        return tuple(profile for profile in self.profiles if EVERY_PROFILE in names or profile.name in names)

    def only(self, names: Collection[str]) -> "TargetTable":
        """The table with the targets ``names`` (and their profiles) alone. Raises SelectionError for an unknown one."""
        for name in names:
            self.get(name)
        kept = tuple(t for t in self.targets if t.name in names or t.name.split("@")[0] in names)
        return replace(self, targets=kept)

    def get(self, name: str) -> Target:
        """The target called ``name``. Raises SelectionError."""
        for target in self.targets:
            if target.name == name:
                return target
        names = [target.name for target in self.targets]
        plain = [known for known in names if "@" not in known]  # with their profiles they are too many to be read
        why = known_names(name, names if "@" in name or not plain else plain)
        raise SelectionError(f"unknown target {name!r}", why=why)

    def further_cpus(self, target: Target, requires: Collection[str]) -> tuple[str, ...]:
        """The names of the target's further CPUs for a variant that ``requires`` these, in the table's order."""
        rows = (row for row in self.cpus if row.arch == target.arch and row.name)
        return tuple(dict.fromkeys(row.name for row in rows if not row.uses or set(row.uses) & set(requires)))

    def hard_cpu(
        self, target: Target, table: CapabilityTable, lattice: tuple[str, ...], mask: Mask, name: str = ""
    ) -> Cpu | None:
        """The CPU that has ``mask`` and nothing more of the lattice: the one with least beyond it. With ``name`` the
        further CPU of that name, if it is such a one."""
        rows = [row for row in self.cpus if row.arch == target.arch and row.name == name]
        named = set(lattice)
        fitting = []
        for row in rows:
            if row.has is not None:
                has = table.closure(row.has)
                if has & named == mask.closed & named and has >= mask.closed and not has & set(target.without):
                    fitting.append((len(has), Cpu(tuple(row.strings), has)))
        if fitting:
            return min(fitting, key=lambda pair: pair[0])[1]
        for row in rows:
            if row.base:
                properties = [text for known in table.sorted(mask.closed) for text in table.by_name[known].qemu]
                return Cpu((",".join([row.base, *dict.fromkeys(properties)]),), mask.closed)
        return None

    def soft_cpu(self, target: Target, table: CapabilityTable) -> Cpu:
        """The richest CPU that the target's build flavour admits. Raises TableError when there is none."""
        rows = [row for row in self.cpus if row.arch == target.arch and row.strings and not row.name]
        if not target.without:
            for row in rows:
                if row.has is None:
                    return Cpu(tuple(row.strings), None)
        allowed = [row for row in rows if row.has is not None and not table.closure(row.has) & set(target.without)]
        if not allowed:
            why = "no [[cpu]] without " + ", ".join(target.without) if target.without else "no [[cpu]] without `has`"
            raise TableError(f"no CPU for soft masks of {target.name}", where="images/targets.toml", why=why)
        best = max(allowed, key=lambda row: len(table.closure(row.has or [])))
        return Cpu(tuple(best.strings), table.closure(best.has or []))

    def further_soft_cpu(self, target: Target, table: CapabilityTable, mask: Mask, name: str) -> Cpu | None:
        """The further CPU ``name`` when it has ``mask`` and maybe more; None when it lacks some of it, or has what the
        build flavour does not admit."""
        for row in self.cpus:
            if row.arch == target.arch and row.name == name and row.strings:
                has = None if row.has is None else table.closure(row.has)
                if not target.without if has is None else has >= mask.closed and not has & set(target.without):
                    return Cpu(tuple(row.strings), has)
        return None


def load_targets(path: Path, capabilities: Mapping[str, CapabilityTable]) -> TargetTable:
    """Read targets.toml. Raises TableError."""
    raw = read_toml(path, _File)
    names = [target.name for target in raw.target]
    for target in raw.target:
        where = f"{path}, target {target.name}"
        if not _NAME.fullmatch(target.name):
            why = f"{target.name!r} is not lower-case letters, digits, '.', '_' and '-'"
            raise TableError("a target has a name that no id can hold", where=f"{where}, key name", why=why)
        if names.count(target.name) > 1:
            raise TableError("a target is named twice", where=f"{where}, key name", why="names must be unique")
        _check_arch(target.arch, where)
        _check_names(target.without, capabilities[target.arch], f"{where}, key without")
    for row in raw.cpu:
        where = f"{path}, cpu {row.base or ' | '.join(row.strings)} ({row.arch})"
        _check_arch(row.arch, where)
        _check_names(row.has or [], capabilities[row.arch], f"{where}, key has")
        _check_names(row.uses, capabilities[row.arch], f"{where}, key uses")
        if bool(row.base) == bool(row.strings):
            raise TableError("a cpu needs `strings` or `base`", where=where, why="exactly one of the two")
        if row.name and not _NAME.fullmatch(row.name):
            why = f"{row.name!r} is not lower-case letters, digits, '.', '_' and '-'"
            raise TableError("a cpu has a name that no id can hold", where=f"{where}, key name", why=why)
        if row.base and row.has is not None:
            why = "a `base` has whatever mask it is completed with"
            raise TableError("a cpu has `base` and `has`", where=f"{where}, key has", why=why)
    for profile in raw.profile:
        for arch in profile.arch:
            _check_arch(arch, f"{path}, profile {profile.name}")
    return TargetTable(tuple(raw.target), tuple(raw.cpu), tuple(raw.profile))


def _check_arch(arch: str, where: str) -> None:
    if arch not in ARCHITECTURES:
        why = f"{arch!r} is none of {', '.join(ARCHITECTURES)}"
        raise TableError("unknown architecture", where=f"{where}, key arch", why=why)


def _check_names(names: list[str], table: CapabilityTable, where: str) -> None:
    for name in names:
        if name not in table.by_name:
            raise TableError("unknown capability", where=where, why=f"{name!r}: {known_names(name, table.names)}")
