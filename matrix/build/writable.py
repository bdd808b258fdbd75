"""Writable data of a kernel's object: state that outlives the call, and that threads share."""

import io

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

_WRITE, _ALLOC, _EXECUTE = 1, 2, 4
_NO_STATE = (".data.rel.ro", ".init_array", ".fini_array", ".preinit_array", ".ctors", ".dtors")
"""Sections of addresses, which the loader writes. Those of code that runs before main are refused by themselves."""
_COMMON = "SHN_COMMON"


def writable_problems(elf: bytes) -> list[str]:
    """Writable data in the object, one line for each section or common symbol. Raises ELFError, ValueError."""
    file = ELFFile(io.BytesIO(elf))
    table = file.get_section_by_name(".symtab")
    symbols = list(table.iter_symbols()) if isinstance(table, SymbolTableSection) else []
    told = 'a kernel keeps nothing between calls, or says why in its header (writable = "why")'
    lines = []
    for index, section in enumerate(file.iter_sections()):
        flags = section["sh_flags"]
        if not (flags & _WRITE and flags & _ALLOC and section["sh_size"]) or flags & _EXECUTE:
            continue  # writable code is refused by itself
        if section.name.startswith(_NO_STATE):
            continue
        names = sorted(one.name for one in symbols if one["st_shndx"] == index and one["st_info"]["type"] in _DATA)
        holds = f" ({', '.join(names)})" if names else ""
        lines.append(f"error: section {section.name} holds {section['sh_size']} writable bytes{holds}: {told}")
    for one in symbols:
        if one["st_shndx"] == _COMMON:
            lines.append(f"error: {one.name} is a common symbol of {one['st_size']} writable bytes: {told}")
    return lines


_DATA = ("STT_OBJECT", "STT_TLS")
