"""What a CPU must have to execute an instruction, by mnemonic and operands, from ``kernels/instructions.toml``."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

from matrix.errors import TableError
from matrix.model.capability import ARCHITECTURES, CapabilityTable
from matrix.model.near import known_names
from matrix.model.tables import read_toml

FORMS = {
    "arm32": ("core", "s", "d", "q", "move"),
    "aarch64": ("core", "vector", "half", "1q", "sve"),
    "x86": ("core", "mmx", "xmm", "ymm", "zmm"),
    "x86_64": ("core", "mmx", "xmm", "ymm", "zmm"),
}
"""What the operands of an instruction may be; the head of the table says what each word means."""
_PATTERN = frozenset("*?[")


class Extension(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"brought_by": "with"}):
    """A set of instructions that is no capability: every CPU has it, or those with one of ``brought_by``, or none."""

    name: str
    arch: list[str]
    brought_by: list[str] = []
    always: bool = False


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One ``[[instruction]]`` of the table."""

    arch: list[str]
    needs: list[str]
    names: str
    forms: list[str] = []
    but: dict[str, list[str]] = {}
    operands: Literal["", "memory", "registers"] = ""
    traps: bool = True

    def fits(self, form: str, memory: bool) -> bool:
        """Whether the row speaks of instructions with such operands."""
        return (not self.forms or form in self.forms) and self.operands in ("", "memory" if memory else "registers")


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    extension: list[Extension] = []
    instruction: list[Row] = []


@dataclass(frozen=True)
class Needs:
    """What an instruction needs: capabilities or extensions; ``traps`` is whether a CPU without them raises SIGILL."""

    names: tuple[str, ...]
    traps: bool = True


@dataclass(frozen=True, eq=False)
class InstructionTable:
    """The instructions of one architecture. ``digest`` is that of all that an answer depends on."""

    arch: str
    capabilities: CapabilityTable
    digest: bytes
    extensions: Mapping[str, Extension] = field(default_factory=dict)
    exact: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    patterns: tuple[tuple[str, Row], ...] = ()

    def find(self, names: Iterable[str], form: str, memory: bool) -> Needs | None:
        """What the instruction called by one of ``names``, tried in order, needs with such operands; None when no row
        says it. ``memory`` is whether an operand lies in memory."""
        for name in names:
            rows = [row for row in self.exact.get(name, ()) if row.fits(form, memory)]
            rows = rows or [row for text, row in self.patterns if fnmatchcase(name, text) and row.fits(form, memory)]
            if rows:
                return Needs(tuple(rows[0].but.get(form, rows[0].needs)), rows[0].traps)
        return None

    def granted(self, name: str, closed: frozenset[str]) -> bool:
        """Whether a CPU with the capabilities ``closed`` (and all that they imply) has what ``name`` stands for."""
        extension = self.extensions.get(name)
        if extension is None:
            return name in closed
        return extension.always or not closed.isdisjoint(extension.brought_by)

    @cached_property
    def _trapping(self) -> dict[str, bool]:
        """Per capability or extension that a row needs: whether some such row raises SIGILL on a CPU without it."""
        found: dict[str, bool] = {}
        for row in [*(row for rows in self.exact.values() for row in rows), *(row for _, row in self.patterns)]:
            for name in {*row.needs, *(name for names in row.but.values() for name in names)}:
                found[name] = found.get(name, False) or row.traps
        return found

    def silent(self, before: frozenset[str], after: frozenset[str]) -> bool:
        """Whether no instruction raises SIGILL on a CPU with the capabilities ``after`` that has run with ``before``:
        each row that tells them apart has ``traps = false``. Where no row tells them apart nothing is known: False."""
        lost = [
            traps
            for name, traps in self._trapping.items()
            if self.granted(name, before) and not self.granted(name, after)
        ]
        return bool(lost) and not any(lost)

    def advice(self, name: str) -> str:
        """What a variant must require so that it may use ``name``."""
        extension = self.extensions.get(name)
        if extension is None or extension.brought_by:
            wanted = extension.brought_by if extension else [name]
            return f"name {' or '.join(wanted)} in requires, or do without it"
        return f"no capability of {self.arch} brings it (kernels/capabilities.toml), so that no kernel may use it"


def load_instructions(path: Path, capabilities: Mapping[str, CapabilityTable]) -> dict[str, InstructionTable]:
    """Read instructions.toml into one table per architecture. Raises TableError."""
    raw = read_toml(path, _File)
    tables = {}
    for arch in ARCHITECTURES:
        table = _table(arch, capabilities[arch], raw)
        _check(table, raw, path)
        tables[arch] = table
    return tables


def _table(arch: str, capabilities: CapabilityTable, raw: _File) -> InstructionTable:
    exact: dict[str, tuple[Row, ...]] = {}
    patterns: list[tuple[str, Row]] = []
    for row in raw.instruction:
        if arch in row.arch:
            for name in row.names.split():
                if _PATTERN.isdisjoint(name):
                    exact[name] = (*exact.get(name, ()), row)
                else:
                    patterns.append((name, row))
    extensions = {extension.name: extension for extension in raw.extension if arch in extension.arch}
    parts = msgspec.json.encode([arch, raw, capabilities.rows])
    return InstructionTable(arch, capabilities, sha256(parts).digest(), extensions, exact, tuple(patterns))


def _check(table: InstructionTable, raw: _File, path: Path) -> None:
    known = [*table.capabilities.names, *table.extensions]
    for extension in table.extensions.values():
        where = f"{path}, extension {extension.name} ({table.arch})"
        if extension.name in table.capabilities.by_name or known.count(extension.name) > 1:
            raise TableError("an extension has a name that is taken", where=where, why="a capability has it too")
        if extension.always and extension.brought_by:
            raise TableError("an extension has `with` and `always`", where=where, why="at most one of the two")
        for name in extension.brought_by:
            if name not in table.capabilities.by_name:
                why = known_names(name, table.capabilities.names)
                raise TableError("an extension comes with an unknown capability", where=f"{where}, key with", why=why)
    for row in raw.instruction:
        where = f"{path}, instruction {' '.join(row.names.split()[:3])}"
        for arch in row.arch:
            if arch not in ARCHITECTURES:
                why = f"{arch!r} is none of {', '.join(ARCHITECTURES)}"
                raise TableError("unknown architecture", where=f"{where}, key arch", why=why)
        if table.arch in row.arch:
            _check_row(table.arch, row, known, where)
    for name, rows in table.exact.items():
        for form in FORMS[table.arch]:
            for memory in (False, True):
                if sum(row.fits(form, memory) for row in rows) > 1:
                    why = f"two rows of {table.arch} name it with operands of the form {form}"
                    raise TableError("an instruction is told twice", where=f"{path}, instruction {name}", why=why)


def _check_row(arch: str, row: Row, known: list[str], where: str) -> None:
    for name in [*row.needs, *(name for names in row.but.values() for name in names)]:
        if name not in known:
            why = f"{name!r} is no capability or extension of {arch}; {known_names(name, known)}"
            raise TableError("an instruction needs what there is not", where=f"{where}, key needs", why=why)
    for key, forms in (("forms", row.forms), ("but", list(row.but))):
        for form in forms:
            if form not in FORMS[arch]:
                why = f"{form!r} is none of {', '.join(FORMS[arch])}"
                raise TableError("unknown form of operands", where=f"{where}, key {key}", why=why)
