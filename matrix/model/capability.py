"""Capabilities: what a CPU may or may not have, and how each is compiled for, detected, taken away and probed."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from matrix.errors import TableError
from matrix.model.tables import read_toml

MOST_CAPABILITIES = 64
"""A mask is one 64-bit word of the worker."""
_NAME = re.compile(r"[a-z][a-z0-9]*")
ARCHITECTURES = ("arm32", "aarch64", "x86", "x86_64")

RAW_WORDS = {
    "arm32": ("hwcap", "hwcap2"),
    "aarch64": ("hwcap", "hwcap2"),
    "x86": ("1.ecx", "1.edx", "7.ebx", "7.ecx", "7.edx", "xcr0"),
    "x86_64": ("1.ecx", "1.edx", "7.ebx", "7.ecx", "7.edx", "xcr0"),
}
"""The detection words of each architecture in the order in which the worker's HELLO reports them."""


class Detection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a capability is seen: a bit of a raw word, and the XCR0 bits that must be set with it."""

    word: str
    bit: int
    xcr0: int = 0


class Capability(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One ``[[capability]]`` of capabilities.toml."""

    name: str
    arch: list[str]
    detect: Detection
    probe: str
    implies: list[str] = []
    flags: list[str] = []
    march: str = ""
    gas: str = ""
    without: list[str] = []
    qemu: list[str] = []


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    capability: list[Capability]


@dataclass(frozen=True)
class CapabilityTable:
    """The capabilities of one architecture in table order; the order is also the order of the worker's bits."""

    arch: str
    rows: tuple[Capability, ...]

    @cached_property
    def by_name(self) -> dict[str, Capability]:
        """Capability by name."""
        return {row.name: row for row in self.rows}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names in table order."""
        return tuple(row.name for row in self.rows)

    def closure(self, names: Iterable[str]) -> frozenset[str]:
        """``names`` and everything they imply."""
        closed: set[str] = set()
        todo = list(names)
        while todo:
            name = todo.pop()
            if name not in closed:
                closed.add(name)
                todo.extend(self.by_name[name].implies)
        return frozenset(closed)

    def without(self, names: Iterable[str], lost: str) -> frozenset[str]:
        """``names`` less ``lost`` and less everything that implies it: what is left of a CPU that loses ``lost``."""
        return frozenset(name for name in names if lost not in self.closure([name]))

    def sorted(self, names: Iterable[str]) -> tuple[str, ...]:
        """``names`` in table order."""
        wanted = set(names)
        return tuple(name for name in self.names if name in wanted)

    def bits(self, names: Iterable[str]) -> int:
        """The worker's mask word: bit i is the capability in row i."""
        wanted = set(names)
        return sum(1 << index for index, name in enumerate(self.names) if name in wanted)


def load_capabilities(path: Path) -> dict[str, CapabilityTable]:
    """Read capabilities.toml into one table per architecture. Raises TableError."""
    rows = read_toml(path, _File).capability
    for row in rows:
        where = f"{path}, capability {row.name}"
        if not _NAME.fullmatch(row.name) or row.name == "none":
            why = f"{row.name!r} is not lower-case letters and digits, or means the empty mask"
            raise TableError("a capability has a name that no mask can hold", where=f"{where}, key name", why=why)
        if not row.arch:
            raise TableError("a capability of no architecture", where=f"{where}, key arch", why="the list is empty")
        for arch in row.arch:
            if arch not in ARCHITECTURES:
                why = f"{arch!r} is none of {', '.join(ARCHITECTURES)}"
                raise TableError("unknown architecture", where=f"{where}, key arch", why=why)
    tables = {}
    for arch in ARCHITECTURES:
        table = CapabilityTable(arch, tuple(row for row in rows if arch in row.arch))
        _check(table, path)
        tables[arch] = table
    return tables


def _check(table: CapabilityTable, path: Path) -> None:
    if len(table.rows) > MOST_CAPABILITIES:
        why = f"{len(table.rows)}, a mask word holds {MOST_CAPABILITIES}"
        raise TableError(f"too many capabilities of {table.arch}", where=f"{path}, key capability", why=why)
    seen: set[str] = set()
    for row in table.rows:
        where = f"{path}, capability {row.name} ({table.arch})"
        if row.name in seen:
            why = "names must be unique per architecture"
            raise TableError("a capability is named twice", where=f"{where}, key name", why=why)
        seen.add(row.name)
        for name in row.implies:
            if name not in table.by_name:
                why = f"{name!r} is not in the table"
                raise TableError("implies an unknown capability", where=f"{where}, key implies", why=why)
            if name not in seen:
                why = f"{name!r} must stand above it"
                raise TableError("implies a later capability", where=f"{where}, key implies", why=why)
        if row.detect.word not in RAW_WORDS[table.arch]:
            why = f"{row.detect.word!r} is none of {', '.join(RAW_WORDS[table.arch])}"
            raise TableError("detected by an unknown word", where=f"{where}, key detect.word", why=why)
        if not 0 <= row.detect.bit < 64:
            why = f"bit {row.detect.bit}"
            raise TableError("detected by an impossible bit", where=f"{where}, key detect.bit", why=why)
        if not 0 <= row.detect.xcr0 < 256 or (row.detect.xcr0 and "xcr0" not in RAW_WORDS[table.arch]):
            why = f"{row.detect.xcr0}: x86 only, and 8 bits"
            raise TableError("detected by impossible XCR0 bits", where=f"{where}, key detect.xcr0", why=why)
