"""What an object file must hold, whatever the compiler accepted: looked at before anything is linked or run."""

import io
from collections.abc import Collection, Iterator, Mapping

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section, Symbol, SymbolTableSection

_WRITE, _EXECUTE = 1, 4
"""Section flags SHF_WRITE and SHF_EXECINSTR (ELF gABI, chapter 4)."""


def object_problems(elf: bytes, provided: Mapping[str, str], foreign: Collection[str]) -> list[str]:
    """What is wrong with a variant's object, one line each; empty when nothing is.

    ``provided`` is {symbol: call} by the header, ``foreign`` the symbols of other variants, which may only be reached
    through the dispatcher: a variant that calls another by name would be tested in its place.
    """
    try:
        file = ELFFile(io.BytesIO(elf))
        table = file.get_section_by_name(".symtab")
        if not isinstance(table, SymbolTableSection):
            return ["error: the object has no symbols"]
        symbols = {symbol.name: symbol for symbol in table.iter_symbols() if symbol.name}
        return [*_symbol_problems(symbols, provided, foreign), *_section_problems(file.iter_sections())]
    except (ELFError, ValueError) as problem:
        return [f"error: the object cannot be read: {problem}"]


def _symbol_problems(
    symbols: Mapping[str, Symbol], provided: Mapping[str, str], foreign: Collection[str]
) -> Iterator[str]:
    for name, call in provided.items():
        symbol = symbols.get(name)
        if symbol is None or symbol["st_shndx"] == "SHN_UNDEF" or symbol["st_info"]["bind"] == "STB_LOCAL":
            yield f"error: {name} is not exported, but the header provides {call}"
        elif symbol["st_info"]["type"] != "STT_FUNC" or not symbol["st_size"]:
            yield f"error: {name} lacks its .type or .size: a crash in it could not be named"
    for name, symbol in sorted(symbols.items()):
        bound, defined = symbol["st_info"]["bind"] in ("STB_GLOBAL", "STB_WEAK"), symbol["st_shndx"] != "SHN_UNDEF"
        hidden = symbol["st_other"]["visibility"] in ("STV_HIDDEN", "STV_INTERNAL")
        if bound and defined and name not in provided and not hidden:
            yield f"error: {name} is exported, but the header does not provide it: it could replace libc's"
    for name in sorted(symbols.keys() & set(foreign)):
        if symbols[name]["st_shndx"] == "SHN_UNDEF":
            yield f"error: {name} of another variant is called by name, not through the dispatcher"


def _section_problems(sections: Iterator[Section]) -> Iterator[str]:
    names = set()
    for section in sections:
        names.add(section.name)
        if section["sh_flags"] & _EXECUTE and section["sh_flags"] & _WRITE:
            yield f"error: section {section.name} is writable code"
    if ".note.GNU-stack" not in names:
        yield "error: no .note.GNU-stack section: whatever links this gets an executable stack"
