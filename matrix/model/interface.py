"""Interfaces, from ``kernels/<algorithm>/<algorithm>.toml``: calls of an algorithm and the operations made of them."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from matrix.errors import TableError
from matrix.model.tables import read_toml

Direction = Literal["in", "out", "inout"]
MAX_WORDS = 8
"""A call has at most eight argument words (the trampoline's limit)."""


@dataclass(frozen=True)
class Pointer:
    """A pointer argument to the bytes of ``role``."""

    role: str
    direction: Direction


@dataclass(frozen=True)
class Length:
    """A ``size_t`` argument: the number of bytes of ``role``."""

    role: str


@dataclass(frozen=True)
class Word:
    """A ``uint32_t`` argument: the value of input ``role``, plus one for each ``unit`` bytes of ``advance_by`` that
    earlier pieces have consumed (modulo 2^32)."""

    role: str
    advance_by: str = ""
    unit: int = 1


Argument = Pointer | Length | Word


@dataclass(frozen=True)
class Call:
    """One C function of a variant. ``state`` is the opaque state it works on, or ''."""

    name: str
    args: tuple[Argument, ...]

    @property
    def length_role(self) -> str:
        """The role whose length steers the dispatcher (``min_bytes``), or '' when the call has no length."""
        return next((arg.role for arg in self.args if isinstance(arg, Length)), "")


@dataclass(frozen=True)
class Size:
    """How many bytes an input or output has.

    ``choices`` are fixed sizes; ``minimum`` opens a range (``maximum`` None: no bound); ``word`` is a uint32;
    ``like`` is the length of that input plus ``extra``.
    """

    choices: tuple[int, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    word: bool = False
    like: str = ""
    extra: int = 0


@dataclass(frozen=True)
class Step:
    """One call of an operation; ``repeated`` steps may be cut into pieces."""

    call: str
    repeated: bool


@dataclass(frozen=True)
class Operation:
    """What has a right answer: named inputs to named outputs by a list of calls."""

    name: str
    inputs: dict[str, Size]
    outputs: dict[str, Size]
    steps: tuple[Step, ...]
    split_role: str = ""
    split_unit: int = 1
    alias: tuple[tuple[str, str], ...] = ()
    secret: tuple[str, ...] = ()
    refuses: bool = False
    on_reject: str = ""


@dataclass(frozen=True)
class Interface:
    """One algorithm: its calls, states and operations."""

    algorithm: str
    path: Path
    calls: dict[str, Call]
    states: tuple[str, ...]
    operations: dict[str, Operation] = field(default_factory=dict)


class _CallTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    args: list[str]


class _StateTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class _OpTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"inputs": "in", "outputs": "out"}):
    inputs: dict[str, str]
    outputs: dict[str, str]
    steps: list[str]
    split: str = ""
    alias: list[str] = []
    secret: list[str] = []
    returns: Literal["", "ok|reject"] = ""
    on_reject: str = ""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    call: dict[str, _CallTable]
    op: dict[str, _OpTable]
    state: dict[str, _StateTable] = {}


_POINTER = re.compile(r"(\w+):(in|out|inout)")
_LENGTH = re.compile(r"len\((\w+)\)")
_WORD = re.compile(r"(\w+):u32(?:\+(\w+)/(\d+))?")
_LIKE = re.compile(r"len\((\w+)\)(?:\+(\d+))?")


def load_interface(path: Path) -> Interface:
    """Read one interface file; the algorithm is the file's stem. Raises TableError naming the key."""
    raw = read_toml(path, _File)
    calls = {name: Call(name, tuple(_argument(a, path, name) for a in row.args)) for name, row in raw.call.items()}
    operations = {name: _operation(name, row, calls, path) for name, row in raw.op.items()}
    interface = Interface(path.stem, path, calls, tuple(raw.state), operations)
    _check(interface)
    return interface


def _argument(text: str, path: Path, call: str) -> Argument:
    if match := _POINTER.fullmatch(text):
        role, direction = match.groups()
        return Pointer(role, direction)  # type: ignore[arg-type]  # the pattern admits only the three directions
    if match := _LENGTH.fullmatch(text):
        return Length(match.group(1))
    if match := _WORD.fullmatch(text):
        role, advance_by, unit = match.groups()
        return Word(role, advance_by or "", int(unit or 1))
    why = f"{text!r} is not role:in, role:out, role:inout, len(role), role:u32 or role:u32+role/unit"
    raise TableError(f"{path.name} has a wrong argument", where=f"{path}, key call.{call}.args", why=why)


def _size(text: str, where: str) -> Size:
    if text == "u32":
        return Size(word=True)
    if re.fullmatch(r"\d+(\|\d+)*", text):
        return Size(choices=tuple(int(part) for part in text.split("|")))
    if match := re.fullmatch(r"(\d+)\.\.(\d*)", text):
        return Size(minimum=int(match.group(1)), maximum=int(match.group(2)) if match.group(2) else None)
    if match := _LIKE.fullmatch(text):
        return Size(like=match.group(1), extra=int(match.group(2) or 0))
    why = f"{text!r} is not N, N|M, N.., N..M, u32, len(role) or len(role)+N"
    raise TableError("a size cannot be read", where=where, why=why)


def _operation(name: str, row: _OpTable, calls: dict[str, Call], path: Path) -> Operation:
    where = f"{path}, key op.{name}"
    steps = tuple(Step(text.removesuffix("*"), text.endswith("*")) for text in row.steps)
    for step in steps:
        if step.call not in calls:
            raise TableError(f"{path.name}: an operation names an unknown call", where=f"{where}.steps", why=step.call)
    split_role, unit = "", "1"
    if row.split:
        match = re.fullmatch(r"(\w+)/([1-9]\d*)", row.split)
        if not match:
            raise TableError("a split cannot be read", where=f"{where}.split", why=f"{row.split!r} is not role/unit")
        split_role, unit = match.groups()
    alias = []
    for text in row.alias:
        left, equals, right = text.partition("=")
        if not equals or left not in row.outputs or right not in row.inputs:
            raise TableError("an alias cannot be read", where=f"{where}.alias", why=f"{text!r} is not output=input")
        alias.append((left, right))
    return Operation(
        name,
        {role: _size(text, f"{where}.in.{role}") for role, text in row.inputs.items()},
        {role: _size(text, f"{where}.out.{role}") for role, text in row.outputs.items()},
        steps,
        split_role,
        int(unit),
        tuple(alias),
        tuple(row.secret),
        row.returns == "ok|reject",
        row.on_reject,
    )


def _check(interface: Interface) -> None:
    """Every role that a call uses is a state, an input or an output of each operation that uses the call."""
    path = interface.path
    for call in interface.calls.values():
        if len(call.args) > MAX_WORDS:
            why = f"{len(call.args)} arguments, the trampoline passes at most {MAX_WORDS}"
            raise TableError("a call has too many arguments", where=f"{path}, key call.{call.name}", why=why)
    for op in interface.operations.values():
        where = f"{path}, key op.{op.name}"
        known = {*op.inputs, *op.outputs, *interface.states}
        for step in op.steps:
            for arg in interface.calls[step.call].args:
                if arg.role not in known:
                    why = f"call {step.call} uses {arg.role!r}, which is no input, output or state"
                    raise TableError("an operation lacks a role", where=where, why=why)
        for role in (op.split_role, *op.secret):
            if role and role not in op.inputs:
                raise TableError("an operation names an unknown input", where=where, why=role)
        if op.split_role and not any(step.repeated for step in op.steps):
            raise TableError("a split needs a repeated step", where=where, why="no step ends with *")
        for role, size in {**op.inputs, **op.outputs}.items():
            if size.like and size.like not in op.inputs:
                raise TableError("a size refers to an unknown input", where=f"{where}, {role}", why=size.like)
