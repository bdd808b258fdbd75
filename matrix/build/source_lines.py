"""Where an instruction stands in its source, by the debug information of an object or of a linked program."""

import io
from bisect import bisect_right

from elftools.common.exceptions import DWARFError, ELFError
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.dwarf.lineprogram import LineProgram
from elftools.elf.elffile import ELFFile


class SourceLines:
    """Lines by offset in the code section of an object, or by address in a program; nothing is known of what has no
    debug information."""

    def __init__(self, elf: bytes) -> None:
        self._rows: list[tuple[int, str]] = []
        try:
            file = ELFFile(io.BytesIO(elf))
            if file.has_dwarf_info():
                # Where one function ends and the next begins, the end comes first; else the compiler's order counts.
                self._rows = sorted(_rows(file.get_dwarf_info()), key=lambda row: (row[0], row[1] != ""))
        except (DWARFError, ELFError, LookupError, ValueError, AttributeError):
            self._rows = []  # a line is a help: what is wrong with the object is told all the same
        self._starts = [start for start, _ in self._rows]

    def find(self, offset: int) -> str:
        """``kernels/x/x.S:12`` of the instruction at ``offset``, or an empty text."""
        position = bisect_right(self._starts, offset) - 1
        return self._rows[position][1] if position >= 0 else ""


def _rows(info: DWARFInfo) -> list[tuple[int, str]]:
    rows: list[tuple[int, str]] = []
    for unit in info.iter_CUs():
        program = info.line_program_for_CU(unit)
        if program is None:
            continue
        for entry in program.get_entries():
            state = entry.state
            if state is not None:  # what follows the end of a sequence is of no known source
                place = "" if state.end_sequence else f"{_file(program, state.file)}:{state.line}"
                rows.append((state.address, place))
    return rows


def _file(program: LineProgram, index: int) -> str:
    """The path of the file ``index`` as the compiler was told it. Files and folders are numbered from 0 in DWARF 5 and
    from 1 before it; folder 0 is that of the compiler itself, which is left out."""
    header = program.header
    old = header["version"] < 5
    entry = header["file_entry"][index - 1 if old else index]
    name: str = entry.name.decode("utf-8", "replace")
    if entry.dir_index == 0:
        return name
    folder: str = header["include_directory"][entry.dir_index - 1 if old else entry.dir_index].decode(
        "utf-8", "replace"
    )
    return f"{folder}/{name}"
