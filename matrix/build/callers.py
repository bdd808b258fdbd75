"""Where an object uses a name that it does not define, by the line of the source."""

import io

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from matrix.build.code import EXECUTE
from matrix.build.source_lines import SourceLines


def first_uses(elf: bytes) -> dict[str, str]:
    """{name: `` (kernels/x/x.S:12)``} of the first relocation in code against each name; names without a known line are
    left out. Raises ELFError, ValueError."""
    file = ELFFile(io.BytesIO(elf))
    sources = SourceLines(elf)
    found: dict[str, str] = {}
    for section in file.iter_sections():
        if isinstance(section, RelocationSection) and file.get_section(section["sh_info"])["sh_flags"] & EXECUTE:
            table = file.get_section(section["sh_link"])
            assert isinstance(table, SymbolTableSection)
            for row in section.iter_relocations():
                if line := sources.find(row["r_offset"]):
                    found.setdefault(table.get_symbol(row["r_info_sym"]).name, f" ({line})")
    return found
