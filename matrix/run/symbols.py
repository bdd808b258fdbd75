"""Symbols and instructions of a worker executable: where a pc lies and what stands there."""

import io
import re
from bisect import bisect_right
from functools import cached_property

import capstone
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from matrix.build.source_lines import SourceLines
from matrix.errors import GuestError

_MODES = {
    "arm32": (capstone.CS_ARCH_ARM, capstone.CS_MODE_ARM),
    "thumb": (capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB),
    "aarch64": (capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM),
    "x86": (capstone.CS_ARCH_X86, capstone.CS_MODE_32),
    "x86_64": (capstone.CS_ARCH_X86, capstone.CS_MODE_64),
}
_LONGEST_INSTRUCTION = 15
_ADDRESS_BITS = 48
"""Of a user address on AArch64 Linux; what signs or fails to authenticate one is above them (Arm ARM, D8.10)."""
_AUTHENTICATES = re.compile(r"(aut|reta|bra|blra|ldra|eretaa?|hint #(29|31|12|14)\b)")
"""Instructions that fault at once when the CPU has FPAC; without it the use of the address does."""


def _symbol_table(file: ELFFile) -> SymbolTableSection:
    section = file.get_section_by_name(".symtab")
    if not isinstance(section, SymbolTableSection):
        raise GuestError("the worker has no symbols", why="no .symtab section")
    return section


def defined_functions(elf: bytes) -> frozenset[str]:
    """Names of the function symbols that an object file defines, local ones too."""
    symbols = _symbol_table(ELFFile(io.BytesIO(elf))).iter_symbols()
    return frozenset(
        symbol.name
        for symbol in symbols
        if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_shndx"] != "SHN_UNDEF"
    )


class Symbols:
    """The function symbols and code bytes of one static executable."""

    def __init__(self, elf: bytes, arch: str) -> None:
        file = ELFFile(io.BytesIO(elf))
        self._elf = elf
        self._arch = arch
        self._segments = [(s["p_vaddr"], s.data()) for s in file.iter_segments() if s["p_type"] == "PT_LOAD"]
        functions: list[tuple[int, int, str, bool]] = []
        for symbol in _symbol_table(file).iter_symbols():
            if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_size"]:
                value = symbol["st_value"]
                thumb = arch == "arm32" and bool(value & 1)
                functions.append((value & ~1 if thumb else value, symbol["st_size"], symbol.name, thumb))
        self._functions = sorted(functions)
        self._starts = [start for start, *_ in self._functions]

    def locate(self, pc: int) -> tuple[str, int] | None:
        """(symbol, offset in bytes) of ``pc``, or None when it lies in no function with a size."""
        found = self._find(pc)
        return (found[2], pc - found[0]) if found else None

    def source(self, pc: int) -> str:
        """The file and line of ``pc``, as ``kernels/x/x.S:12``; '' where there is no debug information."""
        return self._lines.find(pc) if self._find(pc) else ""

    @cached_property
    def _lines(self) -> SourceLines:
        """Read when something has crashed, and not before: it takes a second."""
        return SourceLines(self._elf)

    def authentication(self, pc: int, signal_name: str) -> str:
        """Words for a crash at ``pc`` in which pointer authentication has failed, '' for any other."""
        if self._arch != "aarch64":
            return ""
        if signal_name == "SIGILL" and _AUTHENTICATES.match(self.instruction(pc)):
            return "pointer authentication has failed: the address was not signed like this, or sp is another"
        found = self.locate(pc & (1 << _ADDRESS_BITS) - 1) if pc >> _ADDRESS_BITS else None
        if signal_name not in ("SIGSEGV", "SIGBUS") or not found:
            return ""
        return (
            f"a return to {found[0]}+{found[1]:#x} by an address that is still signed, or has failed its authentication"
        )

    def thumb_start(self, name: str) -> int | None:
        """Where the Thumb function ``name`` starts, without bit 0; None when it is none."""
        return next((start for start, _, other, thumb in self._functions if thumb and other == name), None)

    def _find(self, pc: int) -> tuple[int, int, str, bool] | None:
        position = bisect_right(self._starts, pc) - 1
        if position < 0:
            return None
        row = self._functions[position]
        return row if row[0] <= pc < row[0] + row[1] else None

    def instruction(self, pc: int) -> str:
        """The instruction at ``pc`` as text, or its bytes when the disassembler does not know it."""
        found = self._find(pc)
        mode = "thumb" if found and found[3] else self._arch
        for start, data in self._segments:
            if start <= pc < start + len(data):
                code = data[pc - start : pc - start + _LONGEST_INSTRUCTION]
                disassembler = capstone.Cs(*_MODES[mode])
                if self._arch == "arm32":
                    disassembler.syntax = capstone.CS_OPT_SYNTAX_NOREGNAME  # r9 as in the sources, not sb
                for row in disassembler.disasm(code, pc, 1):
                    return f"{row.mnemonic} {row.op_str}".strip()
                return f"bytes {code[:4].hex()}"
        return "outside the program"
