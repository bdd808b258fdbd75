"""Relocatable ELF objects made by hand: sections, symbols and relocations as a test wants them."""

import struct
from dataclasses import dataclass, field

PROGBITS, SYMTAB, STRTAB, RELA, NOBITS, REL, NOTE = 1, 2, 3, 4, 8, 9, 7
WRITE, ALLOC, EXECUTE = 1, 2, 4
LOCAL, GLOBAL = 0, 1
NOTYPE, OBJECT, FUNC, SECTION = 0, 1, 2, 3
COMMON = 0xFFF2
_MACHINES = {"x86": (1, 3), "arm32": (1, 40), "x86_64": (2, 62), "aarch64": (2, 183)}
"""{architecture: (ELF class, machine)}"""


@dataclass
class Made:
    """An object in the making. Sections are numbered from 1 in the order in which they are added."""

    arch: str
    sections: list[tuple[str, int, int, bytes, int, int, int]] = field(default_factory=list)
    symbols: list[tuple[str, int, int, int, int, int, int]] = field(default_factory=list)
    relocations: dict[int, list[tuple[int, int, int, int]]] = field(default_factory=dict)

    def section(self, name: str, data: bytes, flags: int = ALLOC, align: int = 1, kind: int = PROGBITS) -> int:
        """Add a section and return its number."""
        self.sections.append((name, kind, flags, data, align, 0, 0))
        return len(self.sections)

    def symbol(
        self, name: str, section: int, value: int = 0, size: int = 0, kind: int = FUNC, bind: int = GLOBAL
    ) -> int:
        """Add a symbol (section 0: undefined) and return its number. Local ones come first."""
        self.symbols.append((name, section, value, size, kind, bind, 0))
        return len(self.symbols)

    def hidden(self, symbol: int) -> None:
        """Make the symbol hidden."""
        name, section, value, size, kind, bind, _ = self.symbols[symbol - 1]
        self.symbols[symbol - 1] = (name, section, value, size, kind, bind, 2)

    def relocation(self, section: int, offset: int, kind: int, symbol: int, addend: int = 0) -> None:
        """Add a relocation of ``section``."""
        self.relocations.setdefault(section, []).append((offset, kind, symbol, addend))

    def elf(self) -> bytes:
        """The object file."""
        wide = _MACHINES[self.arch][0] == 2
        strings = _Strings()
        count = len(self.sections)
        rows = list(self.sections)
        symbols = self._symbol(strings, wide, "", 0, 0, 0, 0, 0, 0)
        for one in self.symbols:
            symbols += self._symbol(strings, wide, *one)
        locals_ = 1 + sum(one[5] == LOCAL for one in self.symbols)
        symtab = count + len(self.relocations) + 1
        for section, entries in self.relocations.items():
            data = b"".join(self._relocation(wide, *entry) for entry in entries)
            name = (".rela" if self._with_addend else ".rel") + self.sections[section - 1][0]
            rows.append((name, RELA if self._with_addend else REL, 0, data, 8, symtab, section))
        rows.append((".symtab", SYMTAB, 0, symbols, 8, symtab + 1, locals_))
        names = [strings.add(row[0]) for row in rows]
        own = strings.add(".strtab")
        rows.append((".strtab", STRTAB, 0, bytes(strings.data), 1, 0, 0))
        return self._file(wide, rows, [*names, own])

    @property
    def _with_addend(self) -> bool:
        return self.arch in ("x86_64", "aarch64")

    def _symbol(
        self, strings: "_Strings", wide: bool, name: str, section: int, value: int, size: int, *rest: int
    ) -> bytes:
        kind, bind, other = rest
        info = bind << 4 | kind
        if wide:
            return struct.pack("<IBBHQQ", strings.add(name), info, other, section, value, size)
        return struct.pack("<IIIBBH", strings.add(name), value, size, info, other, section)

    def _relocation(self, wide: bool, offset: int, kind: int, symbol: int, addend: int) -> bytes:
        if wide:
            return struct.pack("<QQq", offset, symbol << 32 | kind, addend)
        return struct.pack("<II", offset, symbol << 8 | kind)

    def _file(self, wide: bool, rows: list[tuple[str, int, int, bytes, int, int, int]], names: list[int]) -> bytes:
        head = 64 if wide else 52
        body = b""
        header = bytes(64 if wide else 40)
        for name, (_, kind, flags, data, align, link, info) in zip(names, rows, strict=True):
            size = len(data)
            entry = {SYMTAB: 24 if wide else 16, RELA: 24, REL: 8}.get(kind, 0)
            at = head + len(body)
            header += struct.pack(
                "<IIQQQQIIQQ" if wide else "<IIIIIIIIII", name, kind, flags, 0, at, size, link, info, align, entry
            )
            body += b"" if kind == NOBITS else data
        class_, machine = _MACHINES[self.arch]
        ident = b"\x7fELF" + bytes([class_, 1, 1]) + bytes(9)
        start = struct.pack(
            "<HHIQQQIHHHHHH" if wide else "<HHIIIIIHHHHHH",
            *(1, machine, 1, 0, 0, head + len(body), 0, head, 0, 0, 64 if wide else 40, len(rows) + 1, len(rows)),
        )
        return ident + start + body + header


class _Strings:
    def __init__(self) -> None:
        self.data = bytearray(b"\0")

    def add(self, text: str) -> int:
        at = len(self.data)
        self.data += text.encode() + b"\0"
        return at
