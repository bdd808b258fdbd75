"""What an object file must hold, whatever the compiler accepted: looked at before anything is linked or run."""

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Symbol, SymbolTableSection

from matrix.build.callers import first_uses
from matrix.build.roles import KERNEL, Role
from matrix.build.sections import section_problems
from matrix.build.system_calls import system_calls

_IFUNC = ("STT_GNU_IFUNC", "STT_LOOS")
"""Type 10 by the names that pyelftools has for it."""
_RESERVED = re.compile(r"_[_A-Z].*")
"""Names that C keeps for the compiler, libc and the linker (ISO C, 7.1.3)."""
_WORKERS = "worker_"
"""How the names begin that the worker and its generated parts have, whichever variants are in it."""


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
    ``libc`` are the names that are taken without any variant. ``calls`` are the functions that the header asks for
    beyond what the ``role`` allows.
    """

    foreign: frozenset[str] = frozenset()
    dispatched: Mapping[str, str] = field(default_factory=dict)
    lost: frozenset[str] = frozenset()
    callable: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    worker: frozenset[str] = frozenset()
    libc: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    role: Role = KERNEL


@lru_cache(maxsize=512)
def link_names(elf: bytes) -> Names:
    """The global names of an object or program. Raises ELFError, ValueError."""
    defined, used, needed = set(), set(), set()
    for symbol in _symbols(elf).values():
        if not _is_global(symbol):
            continue
        if _is_defined(symbol):
            defined.add(symbol.name)
        else:
            used.add(symbol.name)
            if symbol["st_info"]["bind"] != "STB_WEAK":  # a weak one may stay undefined
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
        return [
            *_symbol_problems(symbols, provided),
            *_taken_names(link_names(elf), around),
            *_at_their_lines(elf, _wrong_calls(link_names(elf), around)),
            *section_problems(ELFFile(io.BytesIO(elf)).iter_sections()),
            *(f"error: {found}: a kernel computes, and calls no system" for found in system_calls(elf)),
        ]
    except (ELFError, ValueError) as problem:
        return [f"error: the object cannot be read: {problem}"]


def _symbols(elf: bytes) -> dict[str, Symbol]:
    table = ELFFile(io.BytesIO(elf)).get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return {}
    return {symbol.name: symbol for symbol in table.iter_symbols() if symbol.name}


def _is_global(symbol: Symbol) -> bool:
    """Whether other objects see it: every binding but the local one, such as STB_GNU_UNIQUE, takes part in a link."""
    return bool(symbol["st_info"]["bind"] != "STB_LOCAL")


def _is_defined(symbol: Symbol) -> bool:
    return bool(symbol["st_shndx"] != "SHN_UNDEF")


def _symbol_problems(symbols: Mapping[str, Symbol], provided: Mapping[str, str]) -> Iterator[str]:
    for name, call in provided.items():
        symbol = symbols.get(name)
        if symbol is None or not _is_defined(symbol) or symbol["st_info"]["bind"] == "STB_LOCAL":
            yield f"error: {name} is not exported, but the header provides {call}; assembly says `.globl {name}`"
        elif symbol["st_info"]["type"] in _IFUNC:
            continue  # told below, of whatever name it is
        elif symbol["st_info"]["type"] != "STT_FUNC":
            yield f"error: {name} lacks its .type: a crash in it could not be named; add `.type {name}, %function`"
        elif not symbol["st_size"]:
            yield f"error: {name} lacks its .size: a crash in it could not be named; add `.size {name}, . - {name}`"
    for name, symbol in sorted(symbols.items()):
        if symbol["st_info"]["type"] in _IFUNC:
            yield f"error: {name} is an ifunc: its resolver runs before main, on whatever CPU the worker is started"
        if symbol["st_info"]["bind"] not in ("STB_LOCAL", "STB_GLOBAL", "STB_WEAK"):
            yield f"error: {name} has a binding that a static link does not know: only local, global and weak are used"
        elif "@" in name and _is_global(symbol):
            yield f"error: {name} has a version (.symver), which a static link does not know"
        hidden = symbol["st_other"]["visibility"] in ("STV_HIDDEN", "STV_INTERNAL")
        if _is_global(symbol) and _is_defined(symbol) and name not in provided and not hidden:
            yield f"error: {name} is exported, but the header does not provide it: it could replace libc's"


def _taken_names(names: Names, around: Around) -> Iterator[str]:
    """Names that somebody else has: in a static link a hidden symbol replaces libc's too."""
    for name in sorted(names.defined):
        if name in around.libc:
            yield f"error: {name} is defined, and is the name of a libc function that the worker uses"
        elif name in around.worker or name.startswith(_WORKERS):
            yield f"error: {name} is defined, and is a name of the worker's own"
        elif _RESERVED.fullmatch(name):
            yield f"error: {name} is defined, and names that begin like this belong to the compiler and libc"
        elif name in around.dispatched:
            yield f"error: {name} is defined, and is the name of a dispatch function"
        elif name in around.foreign:
            yield f"error: {name} is defined, and another variant defines it too"


def _at_their_lines(elf: bytes, found: Iterable[tuple[str, str]]) -> list[str]:
    """One line for each (name, what is wrong with its use), with the place in the source where it is known."""
    problems = list(found)
    lines = first_uses(elf) if problems else {}
    return [f"error: {name} {text}{lines.get(name, '')}" for name, text in problems]


def _wrong_calls(names: Names, around: Around) -> Iterator[tuple[str, str]]:
    for name in sorted(names.used):
        algorithm = around.dispatched.get(name)
        if name in around.foreign:
            yield name, "of another variant is called by name, not through the dispatcher"
        elif algorithm and algorithm not in around.callable:
            yield (
                name,
                f"is called, but the header's composes does not name {algorithm}: "
                f"cells in which another variant of {algorithm} is taken would not count as different",
            )
        elif name in around.own:
            yield name, "is called, and this variant provides it: another one would answer in its place"
        elif name in around.lost:
            yield name, f"is called, and no variant of {algorithm} that provides it can be built here"
        elif name in around.worker or name.startswith(_WORKERS):
            yield name, "is called, and is the worker's own"


def unlisted_calls(elf: bytes, around: Around) -> list[str]:
    """What an object calls that its role does not allow and its header does not ask for, one line each; other variants'
    names and the worker's are told by ``object_problems``."""
    allowed = around.dispatched.keys() | around.calls | around.foreign | around.worker
    strange = [name for name in sorted(link_names(elf).used - allowed) if not around.role.may_call(name)]
    listed = ", ".join(sorted(around.role.functions))
    text = f"is called, and {around.role.name} may call {listed} and the compiler's helpers alone, "
    return _at_their_lines(elf, ((name, f'{text}unless the header says `calls = ["{name}"]`') for name in strange))
