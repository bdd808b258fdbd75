"""A linker script that places each section of a kernel at exactly the alignment that it declares, and no higher one.

Otherwise a section that declares too little is aligned by luck of the link, and an aligned load from it works.
"""

import io
from collections.abc import Iterator, Mapping

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section

_WRITE, _ALLOC, _EXECUTE, _TLS = 1, 2, 4, 0x400
"""Section flags (ELF gABI, chapter 4)."""
_AFTER = {"code": ".text", "read": ".rodata", "write": ".data", "zero": ".bss"}
"""Behind which section of the linker's own script those of a kind go: they share its segment."""
_ELSEWHERE = (".eh_frame", ".ARM.", ".note", ".gnu", ".init", ".fini", ".preinit", ".ctors", ".dtors")
"""Sections that the linker reads, joins or sorts: no instruction of the kernel reads them."""


def placing_script(objects: Mapping[str, bytes]) -> str:
    """The script for the kernels' ``objects``, {path on the linker's command line: ELF}. It adds to the linker's own.

    Every input section has an output section of its own, so that none is merged with another's constants. Raises
    ELFError, ValueError.
    """
    rows: dict[str, list[str]] = {kind: [] for kind in _AFTER}
    for path, elf in objects.items():
        for kind, name, align in _sections(elf):
            number = sum(map(len, rows.values()))
            address = f"(ALIGN({2 * align}) + {align})"
            rows[kind].append(f'  .kernel.{number}{name} {address} : {{ "{path}"({name}) }}')
    parts = [
        "\n".join(["SECTIONS", "{", *lines, "}", f"INSERT AFTER {_AFTER[kind]};"])
        for kind, lines in rows.items()
        if lines
    ]
    return "\n".join([*parts, ""])


def _sections(elf: bytes) -> Iterator[tuple[str, str, int]]:
    """(kind, name, alignment in bytes) of what the program has in memory of an object; each name once, with the
    greatest alignment."""
    found: dict[str, tuple[str, int]] = {}
    for section in ELFFile(io.BytesIO(elf)).iter_sections():
        if kind := _kind(section):
            align = max(section["sh_addralign"], 1, found.get(section.name, ("", 1))[1])
            found[section.name] = (kind, align)
    for name, (kind, align) in found.items():
        yield kind, name, align


def _kind(section: Section) -> str:
    flags = section["sh_flags"]
    if not flags & _ALLOC or flags & _TLS or not section["sh_size"] or section.name.startswith(_ELSEWHERE):
        return ""
    if section["sh_type"] == "SHT_NOBITS":
        return "zero"
    if flags & _EXECUTE:
        return "code"
    return "write" if flags & _WRITE else "read"
