"""What an object file must hold, whatever the compiler accepted: looked at before anything is linked or run."""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section, Symbol, SymbolTableSection

_WRITE, _EXECUTE = 1, 4
"""Section flags SHF_WRITE and SHF_EXECINSTR (ELF gABI, chapter 4)."""
_GLOBAL = ("STB_GLOBAL", "STB_WEAK")
_IFUNC = ("STT_GNU_IFUNC", "STT_LOOS")
"""Type 10 by the names that pyelftools has for it."""
_STACK = ".note.GNU-stack"
_BEFORE_MAIN = (".init", ".fini", ".ctors", ".dtors", ".init_array", ".fini_array", ".preinit_array")


@dataclass(frozen=True)
class Names:
    """The names by which an object or a program takes part in a link: those it defines, those it uses, and of these
    the ones that it needs."""

    defined: frozenset[str]
    used: frozenset[str]
    needed: frozenset[str]


@dataclass(frozen=True)
class Around:
    """What there is around a variant's object in its worker: global names, and what they belong to.

    ``foreign`` are the global names of other variants' objects, which may only be reached through the dispatcher: a
    variant that calls another by name would be tested in its place, and of two helpers with one name one is lost.
    ``dispatched`` is {dispatch function: algorithm} for all that the interfaces have, ``lost`` are those for which no
    variant is left here; ``callable`` are the algorithms whose dispatch functions this one may call, but not its
    ``own``: those of the calls that it provides itself. ``worker`` and
    ``libc`` are the names that are taken without any variant.
    """

    foreign: frozenset[str] = frozenset()
    dispatched: Mapping[str, str] = field(default_factory=dict)
    lost: frozenset[str] = frozenset()
    callable: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    worker: frozenset[str] = frozenset()
    libc: frozenset[str] = frozenset()


@lru_cache(maxsize=512)
def link_names(elf: bytes) -> Names:
    """The global names of an object or program. Raises ELFError, ValueError."""
    defined, used, needed = set(), set(), set()
    for symbol in _symbols(elf).values():
        if symbol["st_info"]["bind"] in _GLOBAL and _is_defined(symbol):
            defined.add(symbol.name)
        elif symbol["st_info"]["bind"] in _GLOBAL:
            used.add(symbol.name)
            if symbol["st_info"]["bind"] == "STB_GLOBAL":  # a weak one may stay undefined
                needed.add(symbol.name)
    return Names(frozenset(defined), frozenset(used), frozenset(needed))


def defined_names(elf: bytes) -> frozenset[str]:
    """The global names that an object defines; none when it cannot be read, which ``object_problems`` reports."""
    try:
        return link_names(elf).defined
    except (ELFError, ValueError):
        return frozenset()


def object_problems(elf: bytes, provided: Mapping[str, str], around: Around) -> list[str]:
    """What is wrong with a variant's object, one line each; empty when nothing is. ``provided`` is {symbol: call} by
    the header."""
    try:
        symbols = _symbols(elf)
        if not symbols:
            return ["error: the object has no symbols"]
        sections = ELFFile(io.BytesIO(elf)).iter_sections()
        return [
            *_symbol_problems(symbols, provided),
            *_taken_names(link_names(elf), around),
            *_wrong_calls(link_names(elf), around),
            *_section_problems(sections),
        ]
    except (ELFError, ValueError) as problem:
        return [f"error: the object cannot be read: {problem}"]


def _symbols(elf: bytes) -> dict[str, Symbol]:
    table = ELFFile(io.BytesIO(elf)).get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return {}
    return {symbol.name: symbol for symbol in table.iter_symbols() if symbol.name}


def _is_defined(symbol: Symbol) -> bool:
    return bool(symbol["st_shndx"] != "SHN_UNDEF")


def _symbol_problems(symbols: Mapping[str, Symbol], provided: Mapping[str, str]) -> Iterator[str]:
    for name, call in provided.items():
        symbol = symbols.get(name)
        if symbol is None or not _is_defined(symbol) or symbol["st_info"]["bind"] == "STB_LOCAL":
            yield f"error: {name} is not exported, but the header provides {call}"
        elif symbol["st_info"]["type"] in _IFUNC:
            continue  # told below, of whatever name it is
        elif symbol["st_info"]["type"] != "STT_FUNC" or not symbol["st_size"]:
            yield f"error: {name} lacks its .type or .size: a crash in it could not be named"
    for name, symbol in sorted(symbols.items()):
        if symbol["st_info"]["type"] in _IFUNC:
            yield f"error: {name} is an ifunc: its resolver runs before main, on whatever CPU the worker is started"
        hidden = symbol["st_other"]["visibility"] in ("STV_HIDDEN", "STV_INTERNAL")
        if symbol["st_info"]["bind"] in _GLOBAL and _is_defined(symbol) and name not in provided and not hidden:
            yield f"error: {name} is exported, but the header does not provide it: it could replace libc's"


def _taken_names(names: Names, around: Around) -> Iterator[str]:
    """Names that somebody else has: in a static link a hidden symbol replaces libc's too."""
    for name in sorted(names.defined):
        if name in around.libc:
            yield f"error: {name} is defined, and is the name of a libc function that the worker uses"
        elif name in around.worker:
            yield f"error: {name} is defined, and is a name of the worker's own"
        elif name in around.dispatched:
            yield f"error: {name} is defined, and is the name of a dispatch function"
        elif name in around.foreign:
            yield f"error: {name} is defined, and another variant defines it too"


def _wrong_calls(names: Names, around: Around) -> Iterator[str]:
    for name in sorted(names.used):
        algorithm = around.dispatched.get(name)
        if name in around.foreign:
            yield f"error: {name} of another variant is called by name, not through the dispatcher"
        elif algorithm and algorithm not in around.callable:
            yield (
                f"error: {name} is called, but the header's composes does not name {algorithm}: "
                f"cells in which another variant of {algorithm} is taken would not count as different"
            )
        elif name in around.own:
            yield f"error: {name} is called, and this variant provides it: another one would answer in its place"
        elif name in around.lost:
            yield f"error: {name} is called, and no variant of {algorithm} that provides it can be built here"
        elif name in around.worker:
            yield f"error: {name} is called, and is the worker's own"


def _section_problems(sections: Iterator[Section]) -> Iterator[str]:
    names = set()
    for section in sections:
        names.add(section.name)
        if section.name == _STACK and section["sh_flags"] & _EXECUTE:
            yield f"error: section {_STACK} asks for an executable stack"
        if section["sh_flags"] & _EXECUTE and section["sh_flags"] & _WRITE:
            yield f"error: section {section.name} is writable code"
        if section["sh_size"] and section.name.startswith(_BEFORE_MAIN):
            yield f"error: section {section.name} runs code that nobody called, on whatever CPU the worker is started"
    if _STACK not in names:
        yield f"error: no {_STACK} section: whatever links this gets an executable stack"
