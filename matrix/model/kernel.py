"""Variants: what a kernel file says of itself in its ``/*toml ... */`` header."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from matrix.errors import HeaderError
from matrix.model.capability import ARCHITECTURES, CapabilityTable
from matrix.model.interface import Interface
from matrix.model.near import known_names
from matrix.model.tables import parse_toml
from matrix.model.textfile import SOURCE_BYTES, read_text


class State(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Size in bytes, alignment and layout name of a variant's opaque state; equal layouts are interchangeable.

    One with ``own_address`` holds an address in itself, so that every call must get it at the same one.
    """

    bytes: int
    align: int = 1
    layout: str = ""
    own_address: bool = False


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    algorithm: str
    variant: str
    arch: str | list[str]
    provides: list[str]
    priority: int
    requires: list[str] = []
    min_bytes: dict[str, int] = {}
    state: dict[str, State] = {}
    constant_time: bool = True
    cites: list[str] = []
    symbols: dict[str, str] = {}
    composes: list[str] = []
    wipes: bool = False
    calls: list[str] = []
    writable: str = ""
    position_dependent: bool = False


@dataclass(frozen=True, eq=False)
class Variant:
    """One way to do an algorithm's calls, from one source file; each file is one object, compared by identity."""

    algorithm: str
    name: str
    arch: tuple[str, ...]
    path: Path
    provides: tuple[str, ...]
    requires: tuple[str, ...]
    priority: int
    min_bytes: Mapping[str, int]
    state: Mapping[str, State]
    constant_time: bool
    cites: tuple[str, ...]
    symbols: Mapping[str, str]
    composes: tuple[str, ...] = ()
    wipes: bool = False
    calls: tuple[str, ...] = ()
    writable: str = ""
    position_dependent: bool = False

    @property
    def assembly(self) -> bool:
        """Whether the file is assembly."""
        return self.path.suffix == ".S"

    @property
    def portable(self) -> bool:
        """Whether a build without assembly and intrinsics may contain it."""
        return not self.assembly and not self.requires

    def symbol(self, call: str) -> str:
        """The C symbol of ``call``."""
        return self.symbols.get(call, f"{self.algorithm}_{call}_{self.name}")


MAX_STATE_BYTES = 64 << 10
"""A state, with what the dispatcher puts in front of it, must fit into a buffer of the worker."""
MAX_MIN_BYTES = 64 << 10
"""From a longer message on no case would reach the variant through the dispatcher."""
MAX_PRIORITY = 1 << 31
_BLOCK = re.compile(r"/\*toml\n(.*?)\*/", re.DOTALL)
_NAME = re.compile(r"[a-z][a-z0-9]*")
_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_variant(path: Path, interface: Interface, capabilities: Mapping[str, CapabilityTable]) -> Variant:
    """Read the header of one kernel file and check it against its interface. Raises HeaderError."""
    text = read_text(path, HeaderError, SOURCE_BYTES)
    blocks = list(_BLOCK.finditer(text))
    if len(blocks) != 1:
        why = f"{len(blocks)} blocks of the form /*toml ... */, exactly one is needed"
        raise HeaderError(f"{path.name} does not describe itself", where=str(path), why=why)
    lines_before = "\n" * text.count("\n", 0, blocks[0].start(1))  # so that a line in a message is one of the file
    header = parse_toml(lines_before + blocks[0][1], _Header, str(path), HeaderError)
    arch = ARCHITECTURES if header.arch == "any" else (header.arch,) if isinstance(header.arch, str) else header.arch
    variant = Variant(
        header.algorithm,
        header.variant,
        tuple(arch),
        path,
        tuple(header.provides),
        tuple(header.requires),
        header.priority,
        header.min_bytes,
        {name: _with_layout(state, header.variant) for name, state in header.state.items()},
        header.constant_time,
        tuple(header.cites),
        header.symbols,
        tuple(header.composes),
        header.wipes,
        tuple(header.calls),
        header.writable.strip(),
        header.position_dependent,
    )
    _check(variant, interface, capabilities)
    return variant


def _with_layout(state: State, variant: str) -> State:
    return State(state.bytes, state.align, state.layout or variant, state.own_address)


def _check(variant: Variant, interface: Interface, capabilities: Mapping[str, CapabilityTable]) -> None:
    def refuse(key: str, why: str) -> HeaderError:
        return HeaderError(f"{variant.path.name} has a wrong header", where=f"{variant.path}, key {key}", why=why)

    if variant.algorithm != interface.algorithm:
        why = f"{variant.algorithm!r} stands in the folder of {interface.algorithm!r}"
        raise refuse("algorithm", why)
    if not _NAME.fullmatch(variant.name):
        raise refuse("variant", f"{variant.name!r} is not lower-case letters and digits")
    if not variant.arch:
        raise refuse("arch", "no architecture is named")
    for arch in variant.arch:
        if arch not in ARCHITECTURES:
            raise refuse("arch", f'{arch!r} is none of {", ".join(ARCHITECTURES)}, and not "any" alone')
        for name in variant.requires:
            if name not in capabilities[arch].by_name:
                why = f"{name!r} is no capability of {arch}; {known_names(name, capabilities[arch].names)}"
                raise refuse("requires", why)
    stem = f"{variant.algorithm}_{variant.name}"
    stems = {stem, *(f"{stem}_{arch}" for arch in variant.arch)}
    if variant.path.stem not in stems:
        raise refuse("variant", f"the file should be called {' or '.join(sorted(stems))}")
    for key, words in (
        ("arch", variant.arch),
        ("provides", variant.provides),
        ("requires", variant.requires),
        ("calls", variant.calls),
    ):
        for word in words:
            if words.count(word) > 1:
                raise refuse(key, f"{word!r} is named twice")
    if not variant.provides:
        raise refuse("provides", "no call is provided")
    for name in variant.provides:
        if name not in interface.calls:
            why = f"{name!r} is no call of {interface.algorithm}; {known_names(name, list(interface.calls))}"
            raise refuse("provides", why)
    for key, names in (("min_bytes", variant.min_bytes), ("symbols", variant.symbols)):
        for name in names:
            if name not in variant.provides:
                raise refuse(key, f"{name!r} is not among the calls that the file provides")
    for key, symbols in (("symbols", [*variant.symbols.values()]), ("calls", [*variant.calls])):
        for symbol in symbols:
            if not _SYMBOL.fullmatch(symbol):
                raise refuse(key, f"{symbol!r} is no C identifier")
    own = [variant.symbol(call) for call in variant.provides]
    if twice := [symbol for symbol in own if own.count(symbol) > 1]:
        raise refuse("symbols", f"{twice[0]!r} would be two calls")
    for call, length in variant.min_bytes.items():
        if not 0 <= length <= MAX_MIN_BYTES or not interface.calls[call].length_role:
            raise refuse("min_bytes", f"{call} = {length}: 0 to {MAX_MIN_BYTES}, of a call that has a length")
    if abs(variant.priority) >= MAX_PRIORITY:
        raise refuse("priority", f"{variant.priority} has more than 32 bits")
    _check_states(variant, interface, refuse)


def _check_states(variant: Variant, interface: Interface, refuse: Callable[[str, str], HeaderError]) -> None:
    used = {arg.role for call in variant.provides for arg in interface.calls[call].args} & set(interface.states)
    for name in sorted(used | set(variant.state)):
        if name not in interface.states:
            raise refuse("state", f"{name!r} is no state of {interface.algorithm}")
        if name not in variant.state:
            raise refuse("state", f"{name!r} is used by a call but has no size")
        state = variant.state[name]
        if (
            not 0 < state.bytes <= MAX_STATE_BYTES
            or state.align not in (1, 2, 4, 8, 16, 32, 64)
            or state.bytes % state.align
        ):
            why = f"{name}: 1 to {MAX_STATE_BYTES} bytes, align a power of two up to 64, bytes a multiple of align"
            raise refuse("state", why)
