"""Relocations of a kernel's object: whether it can stand at any address, in a program, a PIE or a shared library."""

import io
import re
from collections.abc import Iterator

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import Relocation, RelocationSection
from elftools.elf.sections import Symbol, SymbolTableSection

from matrix.build.code import EXECUTE
from matrix.build.source_lines import SourceLines

_ALLOC, _WRITE = 2, 1
"""Section flags SHF_ALLOC and SHF_WRITE."""


def _kinds(absolute: str, relative: str, any_address: str) -> dict[int, str]:
    """{number: "absolute", "relative" or "any"}. Relative ones hold the distance to their symbol, which must therefore
    be in the same module; the others are resolved through the PLT or GOT, wherever it is."""
    rows: dict[int, str] = {}
    for kind, numbers in (("absolute", absolute), ("relative", relative), ("any", any_address)):
        for part in numbers.split():
            first, _, last = part.partition("-")
            rows |= dict.fromkeys(range(int(first), int(last or first) + 1), kind)
    return rows


_TYPES = {
    "x86_64": _kinds("1 10-12 14", "2 13 15 24-25", "0 3-4 9 26-27 29-31 41-42"),
    "x86": _kinds("1 20 22", "2 9 21 23", "0 3-4 10 43"),
    "arm32": _kinds("2 38 43-44 47-48", "3-4 11 24 42 45-46 49-50 53-54", "0-1 10 25-30 40 51-52 96 102-103"),
    "aarch64": _kinds("257-259 263-272", "260-262 273-280 284-293 299", "0 256 282-283 309-313"),
}
"""Relocation types of each architecture that kernels may meet. Sources: System V ABI for AMD64 and i386; ELF for the
Arm Architecture; ELF for the Arm 64-bit Architecture."""
_NAMES = {
    "x86_64": {1: "R_X86_64_64", 2: "R_X86_64_PC32", 10: "R_X86_64_32", 11: "R_X86_64_32S"},
    "x86": {1: "R_386_32", 2: "R_386_PC32", 9: "R_386_GOTOFF"},
    "arm32": {
        2: "R_ARM_ABS32",
        3: "R_ARM_REL32",
        43: "R_ARM_MOVW_ABS_NC",
        44: "R_ARM_MOVT_ABS",
        47: "R_ARM_THM_MOVW_ABS_NC",
        48: "R_ARM_THM_MOVT_ABS",
    },
    "aarch64": {
        257: "R_AARCH64_ABS64",
        258: "R_AARCH64_ABS32",
        263: "R_AARCH64_MOVW_UABS_G0",
        269: "R_AARCH64_MOVW_UABS_G3",
        274: "R_AARCH64_ADR_PREL_LO21",
        275: "R_AARCH64_ADR_PREL_PG_HI21",
        277: "R_AARCH64_ADD_ABS_LO12_NC",
    },
}
"""Names of those that a message is most likely to be about; others are told by their number."""
_ASSEMBLY = re.compile(rb"\b(asm|__asm|__asm__)\b")
_PREEMPTIBLE = ("STB_GLOBAL", "STB_WEAK")


def has_assembly(source: bytes) -> bool:
    """Whether C source holds assembly of its own. Without it, a compiler told -fPIC ties nothing to an address."""
    return bool(_ASSEMBLY.search(source))


def position_problems(elf: bytes, arch: str) -> list[str]:
    """What ties a kernel's code or read-only data to an address, or to a symbol that another module may take over; one
    line for each place. Raises ELFError, ValueError."""
    file = ELFFile(io.BytesIO(elf))
    lines: list[tuple[int, int, str]] = []
    for section in file.iter_sections():
        if isinstance(section, RelocationSection):
            index = section["sh_info"]
            flags = file.get_section(index)["sh_flags"]
            if flags & _ALLOC and not flags & _WRITE:
                lines += [(index, *found) for found in _problems(file, section, index, arch)]
    if not lines:
        return []
    sources = SourceLines(elf)
    return [f"error: {_line(file, sources, index, offset)}{text}" for index, offset, text in lines]


def _line(file: ELFFile, sources: SourceLines, index: int, offset: int) -> str:
    """``kernels/x/x.S:12: `` of a place in code, and nothing of one in data."""
    found = sources.find(offset) if file.get_section(index)["sh_flags"] & EXECUTE else ""
    return f"{found}: " if found else ""


def _problems(file: ELFFile, section: RelocationSection, index: int, arch: str) -> Iterator[tuple[int, str]]:
    """(offset, what is wrong there) of the relocations of one section."""
    table = file.get_section(section["sh_link"])
    assert isinstance(table, SymbolTableSection)
    place = file.get_section(index).name
    for row in section.iter_relocations():
        symbol = table.get_symbol(row["r_info_sym"])
        number = row["r_info_type"]
        kind = _TYPES[arch].get(number)
        offset = row["r_offset"]
        told = f"relocation {_NAMES[arch].get(number, f'type {number}')} at {place}+{offset:#x} against "
        told += _target(file, symbol, row)
        if kind is None:
            yield (
                offset,
                f"{told} is of a type that no kernel has had yet: add it to _TYPES in matrix/build/position.py",
            )
        elif kind == "absolute":
            text = (
                f"{told} holds an absolute address, so that a PIE or shared library with this code needs text "
                "relocations: address it relative to pc or GOT, or say position_dependent = true in the header"
            )
            yield offset, text
        elif kind == "relative" and _may_be_taken_over(symbol):
            text = (
                f"{told} holds the distance to a symbol that another module may take over, so that no shared library "
                "can have it: make the symbol .hidden or local, or say position_dependent = true in the header"
            )
            yield offset, text


def _may_be_taken_over(symbol: Symbol) -> bool:
    return symbol["st_info"]["bind"] in _PREEMPTIBLE and symbol["st_other"]["visibility"] == "STV_DEFAULT"


def _target(file: ELFFile, symbol: Symbol, row: Relocation) -> str:
    """The symbol, or the section that a nameless one stands for."""
    name: str = symbol.name
    if not name and symbol["st_info"]["type"] == "STT_SECTION":
        name = file.get_section(symbol["st_shndx"]).name
    addend = row["r_addend"] if row.is_RELA() else 0
    return f"{name}+{addend:#x}" if addend > 0 else name
