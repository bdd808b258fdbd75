"""What debuggers, unwinders and hardened systems find of the functions that a kernel exports: a report."""

import io
from dataclasses import dataclass

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from matrix.build.code import Code
from matrix.build.landing import claims, pad

_UNWIND = (".eh_frame", ".ARM.exidx", ".debug_frame")
"""The best first: the last one is for debuggers only and is not loaded with the program."""
_CANNOT = 1
"""EXIDX_CANTUNWIND: second word of an entry of .ARM.exidx (Exception Handling ABI for the Arm Architecture, 6)."""


@dataclass(frozen=True)
class Profile:
    """One exported function: where its unwind information is (empty: none), its landing pad (empty: none), and what
    the note of its object claims."""

    function: str
    unwind: str
    pad: str
    claims: tuple[str, ...]


def profiles(elf: bytes, arch: str) -> list[Profile]:
    """The exported functions of an object, by name. Raises ELFError, ValueError."""
    code = Code(elf, arch)
    unwound = _unwound(ELFFile(io.BytesIO(elf)))
    claimed = tuple(sorted(claims(elf, arch)))
    rows = [
        Profile(function.name, unwound.get((function.section, function.start), ""), pad(code, function), claimed)
        for function in code.functions
        if function.exported and function.section >= 0
    ]
    return sorted(rows, key=lambda row: row.function)


def _unwound(file: ELFFile) -> dict[tuple[int, int], str]:
    """{(section, offset): name of the section that says how to unwind from the function there}.

    Each entry names its function by a relocation: that is all that is looked at.
    """
    found: dict[tuple[int, int], str] = {}
    for section in file.iter_sections():
        if not isinstance(section, RelocationSection):
            continue
        target = file.get_section(section["sh_info"])
        table = file.get_section(section["sh_link"])
        if target.name not in _UNWIND or not isinstance(table, SymbolTableSection):
            continue
        data = target.data()
        for row in section.iter_relocations():
            symbol = table.get_symbol(row["r_info_sym"])
            at = row["r_offset"]
            if not isinstance(symbol["st_shndx"], int):
                continue
            addend = row["r_addend"] if row.is_RELA() else int.from_bytes(data[at : at + 4], "little")
            if target.name == ".ARM.exidx":
                if at % 8 or int.from_bytes(data[at + 4 : at + 8], "little") == _CANNOT:
                    continue
                addend &= 0x7FFFFFFF
            place = (symbol["st_shndx"], symbol["st_value"] + addend)
            found[place] = min(target.name, found.get(place, target.name), key=_UNWIND.index)
    return found
