"""Instructions of an object that call the system by themselves, past every check of names."""

import io
import re
import struct
from bisect import bisect_right
from collections.abc import Iterator

import capstone
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Section, Symbol, SymbolTableSection

from matrix.build.source_lines import SourceLines

_EXECUTE = 4
_X86_BYTES = (b"\x0f\x05", b"\x0f\x34", b"\xcd")
"""How SYSCALL, SYSENTER and INT n begin: where none of these bytes are, no instruction has to be decoded."""
_X86_CALLS = frozenset({"syscall", "sysenter", "int"})
_X86_ENDS = frozenset({"ret", "retf", "iret", "jmp", "ljmp", "ud2", "hlt"})
_TARGET = re.compile(r"0x[0-9a-f]+|\d")
"""A number as capstone writes it."""
_STRETCH = 1024
"""Bytes that are decoded at once."""
_LONG_THUMB = (0b11101, 0b11110, 0b11111)
"""The first five bits of a Thumb instruction of four bytes (Arm ARM, T32 encoding)."""


def system_calls(elf: bytes) -> Iterator[str]:
    """Each system call as ``FILE:LINE: MNEMONIC in FUNCTION, at offset N of SECTION``, the line where it is known.
    Raises ELFError, ValueError.

    ARM marks data in code by mapping symbols. x86 does not, so there only what is reached from the start of a function
    by direct jumps is decoded: a constant that looks like an instruction is none.
    """
    file = ELFFile(io.BytesIO(elf))
    table = file.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return
    sources: SourceLines | None = None
    for index, section in enumerate(file.iter_sections()):
        if section["sh_flags"] & _EXECUTE and section["sh_type"] == "SHT_PROGBITS":
            symbols = [symbol for symbol in table.iter_symbols() if symbol["st_shndx"] == index]
            code = section.data()
            if file["e_machine"] in ("EM_ARM", "EM_AARCH64"):
                found = _on_arm(code, symbols)
            else:
                found = _on_x86(code, symbols, _relocated(file, index), file.elfclass)
            for mnemonic, offset in found:
                sources = sources or SourceLines(elf)
                line = sources.find(offset)
                at = f"{line}: " if line else ""
                yield f"{at}{mnemonic} in {_function(symbols, offset)}, at offset {offset:#x} of {section.name}"


def _function(symbols: list[Symbol], offset: int) -> str:
    named = sorted((s["st_value"] & ~1, s.name) for s in symbols if s["st_info"]["type"] == "STT_FUNC")
    at = bisect_right(named, (offset, "\U0010ffff")) - 1
    return named[at][1] if at >= 0 else "no function"


def _on_arm(code: bytes, symbols: list[Symbol]) -> Iterator[tuple[str, int]]:
    marks = sorted((s["st_value"], s.name[:2]) for s in symbols if s.name[:2] in ("$a", "$t", "$x", "$d"))
    ends = [*(start for start, _ in marks[1:]), len(code)]
    for (start, kind), end in zip(marks, ends, strict=False):
        if kind == "$t":
            yield from _in_thumb(code, start, end)
        elif kind != "$d":
            words = struct.iter_unpack("<I", code[start : start + (end - start) // 4 * 4])
            for number, (word,) in enumerate(words):
                called = word & 0xFFE0001F == 0xD4000001 if kind == "$x" else word & 0x0F000000 == 0x0F000000
                if called and (kind == "$x" or word >> 28 != 0xF):
                    yield "svc", start + 4 * number


def _in_thumb(code: bytes, at: int, end: int) -> Iterator[tuple[str, int]]:
    while at + 2 <= end:
        half = int.from_bytes(code[at : at + 2], "little")
        if half >> 8 == 0xDF:
            yield "svc", at
        at += 4 if half >> 11 in _LONG_THUMB else 2


def _relocated(file: ELFFile, index: int) -> list[int]:
    """Offsets in section ``index`` that the linker fills in, sorted."""
    sections: Iterator[Section] = file.iter_sections()
    return sorted(
        row["r_offset"]
        for section in sections
        if isinstance(section, RelocationSection) and section["sh_info"] == index
        for row in section.iter_relocations()
    )


def _on_x86(code: bytes, symbols: list[Symbol], relocated: list[int], bits: int) -> Iterator[tuple[str, int]]:
    if not any(pattern in code for pattern in _X86_BYTES):
        return
    disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64 if bits == 64 else capstone.CS_MODE_32)
    todo = [symbol["st_value"] for symbol in symbols if symbol["st_info"]["type"] == "STT_FUNC"]
    seen: set[int] = set()
    while todo:
        start = following = todo.pop()
        if start in seen:
            continue
        for at, size, mnemonic, operands in disassembler.disasm_lite(code[start : start + _STRETCH], start):
            seen.add(at)
            following = at + size
            if mnemonic in _X86_CALLS:
                yield mnemonic, at
            if mnemonic[0] in "jlc" and _TARGET.fullmatch(operands) and not _any_between(relocated, at, following):
                todo.append(int(operands, 0))  # a jump, LOOP or CALL; those with a relocation go to other symbols
            if mnemonic in _X86_ENDS or following in seen:
                break
        else:
            if following != start:  # the stretch is at its end, or what follows is no instruction
                todo.append(following)


def _any_between(relocated: list[int], start: int, end: int) -> bool:
    """Whether the linker fills in bytes of the instruction at ``start``."""
    position = bisect_right(relocated, start)
    return position < len(relocated) and relocated[position] < end
