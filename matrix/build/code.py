"""The instructions of an object file: its code sections disassembled, data in them left out."""

import io
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import capstone
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section, Symbol, SymbolTableSection

EXECUTE = 4
"""Section flag SHF_EXECINSTR (ELF gABI, chapter 4)."""
_V8 = capstone.CS_MODE_V8
_MODES = {
    ("arm32", "a"): (capstone.CS_ARCH_ARM, capstone.CS_MODE_ARM | _V8),
    ("arm32", "t"): (capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | _V8),
    ("aarch64", "x"): (capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM),
    ("x86", "x"): (capstone.CS_ARCH_X86, capstone.CS_MODE_32),
    ("x86_64", "x"): (capstone.CS_ARCH_X86, capstone.CS_MODE_64),
}
"""Capstone's architecture and mode of code between two mapping symbols. V8 is for AES and SHA in 32-bit code."""
_UNITS = {"a": 4, "t": 2, "x": 4}
"""Bytes that are passed over when they are no instruction; 1 on x86."""
_MAPPING = re.compile(r"\$([atxd])(\..*)?")
"""Mapping symbols (ELF for the Arm Architecture, 4.5.5): ARM, Thumb, A64 code, data."""


class Instruction(NamedTuple):
    """One instruction, or with an empty ``mnemonic`` bytes of code that are none.

    ``section`` is the index of its section, ``offset`` in bytes from that section's start.
    """

    section: int
    offset: int
    raw: bytes
    mnemonic: str
    operands: str

    def __str__(self) -> str:
        return f"{self.mnemonic} {self.operands}".strip() or f"bytes {self.raw.hex(' ')}"


@dataclass(frozen=True)
class Function:
    """A function symbol: ``start`` without Thumb's bit 0, ``size`` in bytes, ``exported`` when it is not local."""

    name: str
    section: int
    start: int
    size: int
    exported: bool


@dataclass(frozen=True)
class _Span:
    """Bytes of a section of one kind: ``a``, ``t``, ``x`` for code, ``d`` for data."""

    start: int
    end: int
    kind: str


class Code:
    """What is executable in an object: instructions, data between them, functions. Raises ELFError, ValueError."""

    def __init__(self, elf: bytes, arch: str) -> None:
        self.arch = arch
        file = ELFFile(io.BytesIO(elf))
        self._symbols = _symbols(file)
        self.sections: dict[int, str] = {}
        self.instructions: list[Instruction] = []
        self.entered_data: list[tuple[int, int]] = []
        """(section, offset) of data that the code before it runs into."""
        self.functions = [
            _function(symbol, arch) for symbol in self._symbols if symbol["st_info"]["type"] == "STT_FUNC"
        ]
        for index, section in enumerate(file.iter_sections()):
            self.sections[index] = section.name
            if section["sh_flags"] & EXECUTE and section["sh_size"] and section["sh_type"] != "SHT_NOBITS":
                self._read(index, section)
        starts = sorted((one.section, one.start, one.name) for one in self.functions)
        self._starts = [start[:2] for start in starts]
        self._names = [start[2] for start in starts]

    def place(self, section: int, offset: int) -> str:
        """``name+0x10`` in the function there, or ``.text+0x10``."""
        position = bisect_right(self._starts, (section, offset)) - 1
        if position >= 0 and self._starts[position][0] == section:
            return f"{self._names[position]}+{offset - self._starts[position][1]:#x}"
        return f"{self.sections[section]}+{offset:#x}"

    def at(self, section: int, offset: int) -> Instruction | None:
        """The instruction that begins there."""
        return next((one for one in self.instructions if (one.section, one.offset) == (section, offset)), None)

    def _read(self, index: int, section: Section) -> None:
        data = section.data()
        last: Instruction | None = None
        for span in self._spans(index, len(data)):
            if span.kind == "d":
                if last and not leaves(self.arch, last):
                    self.entered_data.append((index, span.start))
                last = None
                continue
            for one in _decode(self.arch, index, data, span):
                self.instructions.append(one)
                last = last if last and one.mnemonic.split(".")[0] in _FILLERS else one

    def _spans(self, index: int, size: int) -> Iterator[_Span]:
        """The section cut where code and data begin: by mapping symbols on ARM; on x86, which has none, by symbols of
        type object for data and of type function for a fresh start of an instruction."""
        marks: dict[int, str] = {}
        for symbol in self._symbols:
            if symbol["st_shndx"] != index:
                continue
            if self.arch in ("arm32", "aarch64"):
                if found := _MAPPING.fullmatch(symbol.name):
                    marks[symbol["st_value"]] = found[1]
            elif symbol["st_info"]["type"] == "STT_OBJECT" and symbol["st_size"]:
                marks[symbol["st_value"]] = "d"
                marks.setdefault(symbol["st_value"] + symbol["st_size"], "x")
            elif symbol["st_info"]["type"] == "STT_FUNC":
                marks.setdefault(symbol["st_value"], "x")
        marks.setdefault(0, "a" if self.arch == "arm32" else "x")
        places = [place for place in sorted(marks) if place < size]
        for start, end in zip(places, [*places[1:], size], strict=True):
            yield _Span(start, end, marks[start])


_FILLERS = frozenset({"nop", "nopeq", "int3"})
_LEAVING = {
    "arm32": frozenset({"b", "bx", "tbb", "tbh", "udf"}),
    "aarch64": frozenset({"b", "br", "ret", "retaa", "retab", "braa", "brab", "braaz", "brabz", "udf", "brk"}),
    "x86": frozenset({"jmp", "ret", "ud2", "int3", "hlt"}),
    "x86_64": frozenset({"jmp", "ret", "ud2", "int3", "hlt"}),
}
_INTO_PC = re.compile(r"(pop|ldm|ldmia|ldmdb|ldmib)\b.*\bpc\b|(ldr|mov|movs|add|sub|subs)(\.w)? pc,")
"""Instructions of 32-bit ARM that write the program counter without condition."""


def leaves(arch: str, one: Instruction) -> bool:
    """Whether nothing is executed behind the instruction ``one``."""
    words = one.mnemonic.split()
    name = words[-1].removesuffix(".w") if words else ""
    return name in _LEAVING[arch] or (arch == "arm32" and bool(_INTO_PC.match(str(one))))


def _decode(arch: str, index: int, data: bytes, span: _Span) -> Iterator[Instruction]:
    disassembler = capstone.Cs(*_MODES[arch, span.kind])
    if arch == "arm32":
        disassembler.syntax = capstone.CS_OPT_SYNTAX_NOREGNAME  # r9 as in the sources, not sb
    at = span.start
    while at < span.end:
        for start, size, mnemonic, operands in disassembler.disasm_lite(data[at : span.end], at):
            yield Instruction(index, start, data[start : start + size], mnemonic, operands)
            at = start + size
        if at < span.end:
            unit = 1 if arch.startswith("x86") else _UNITS[span.kind]
            yield Instruction(index, at, data[at : at + unit], "", "")
            at += unit


def _symbols(file: ELFFile) -> list[Symbol]:
    table = file.get_section_by_name(".symtab")
    return list(table.iter_symbols()) if isinstance(table, SymbolTableSection) else []


def _function(symbol: Symbol, arch: str) -> Function:
    value = symbol["st_value"] & ~1 if arch == "arm32" else symbol["st_value"]
    section = symbol["st_shndx"] if isinstance(symbol["st_shndx"], int) else -1
    return Function(symbol.name, section, value, symbol["st_size"], symbol["st_info"]["bind"] != "STB_LOCAL")
