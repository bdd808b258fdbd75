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
    """A ``uint32_t`` argument: the value of input or constant ``role``, plus one for each ``unit`` bytes of
    ``advance_by`` that earlier pieces have consumed (modulo 2^32)."""

    role: str
    advance_by: str = ""
    unit: int = 1


Argument = Pointer | Length | Word


@dataclass(frozen=True)
class Call:
    """One C function of a variant. After it the states ``ends`` are of no use: a variant that wipes clears them."""

    name: str
    args: tuple[Argument, ...]
    ends: tuple[str, ...] = ()

    @property
    def length_role(self) -> str:
        """The role whose length steers the dispatcher (``min_bytes``), or '' when the call has no length."""
        return next((arg.role for arg in self.args if isinstance(arg, Length)), "")


@dataclass(frozen=True)
class Size:
    """How many bytes an input or output has.

    ``choices`` are fixed sizes; ``minimum`` opens a range (``maximum`` None: no bound) of multiples of ``multiple``;
    ``word`` is a uint32; ``like`` is the length of that input plus ``extra`` (which may be negative).
    """

    choices: tuple[int, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    multiple: int = 1
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
    """What has a right answer: named inputs to named outputs by a list of calls.

    ``splits`` are the inputs that are cut into pieces, with the bytes that all pieces but the last are multiples of;
    the first is the message, whose length steers the dispatcher. An output as long as a split input is cut with it.
    ``constants`` are words that are the same in every case. ``secret`` are inputs and outputs that nobody may learn.
    """

    name: str
    inputs: dict[str, Size]
    outputs: dict[str, Size]
    steps: tuple[Step, ...]
    splits: tuple[tuple[str, int], ...] = ()
    alias: tuple[tuple[str, str], ...] = ()
    secret: tuple[str, ...] = ()
    refuses: bool = False
    on_reject: str = ""
    constants: dict[str, int] = field(default_factory=dict)

    @property
    def split_role(self) -> str:
        """The input that is the message, or '' when nothing is cut."""
        return self.splits[0][0] if self.splits else ""

    @property
    def split_unit(self) -> int:
        """The unit of the message's pieces."""
        return self.splits[0][1] if self.splits else 1

    def split_of(self, role: str) -> str:
        """The split input whose pieces a pointer to ``role`` moves with, or ''."""
        size = self.outputs.get(role)
        followed = size.like if size is not None and not size.extra else role
        return followed if any(followed == name for name, _ in self.splits) else ""

    def split_of_call(self, call: Call) -> str:
        """The split input whose pieces ``call`` takes one by one when its step is repeated, or ''."""
        return next((name for arg in call.args if isinstance(arg, Pointer) and (name := self.split_of(arg.role))), "")


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
    ends: list[str] = []


class _StateTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class _OpTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"inputs": "in", "outputs": "out"}):
    inputs: dict[str, str]
    outputs: dict[str, str]
    steps: list[str]
    split: str | list[str] = ""
    const: dict[str, int] = {}
    alias: list[str] = []
    secret: list[str] = []
    returns: Literal["", "ok|reject"] = ""
    on_reject: str = ""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    call: dict[str, _CallTable]
    op: dict[str, _OpTable]
    state: dict[str, _StateTable] = {}


_NUMBER = "[0-9]{1,5}"
"""Bytes in an interface: what is larger fits into no buffer of the worker."""
_POINTER = re.compile(r"(\w+):(in|out|inout)")
_LENGTH = re.compile(r"len\((\w+)\)")
_WORD = re.compile(rf"(\w+):u32(?:\+(\w+)/({_NUMBER}))?")
_LIKE = re.compile(rf"len\((\w+)\)([+-]{_NUMBER})?")
_CHOICES = re.compile(rf"{_NUMBER}(\|{_NUMBER})*")
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})?(?:/([1-9][0-9]{{0,4}}))?")
_SPLIT = re.compile(r"(\w+)/([1-9][0-9]{0,4})")


def load_interface(path: Path) -> Interface:
    """Read one interface file; the algorithm is the file's stem. Raises TableError naming the key."""
    raw = read_toml(path, _File)
    calls = {
        name: Call(name, tuple(_argument(text, path, name) for text in row.args), tuple(row.ends))
        for name, row in raw.call.items()
    }
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
    if _CHOICES.fullmatch(text):
        return Size(choices=tuple(int(part) for part in text.split("|")))
    if match := _RANGE.fullmatch(text):
        low, high, multiple = match.groups()
        return Size(minimum=int(low), maximum=int(high) if high else None, multiple=int(multiple or 1))
    if match := _LIKE.fullmatch(text):
        return Size(like=match.group(1), extra=int(match.group(2) or 0))
    why = f"{text!r} is not N, N|M, N.., N..M, N../MULTIPLE, u32, len(role), len(role)+N or len(role)-N"
    why += ", numbers of up to 5 digits"
    raise TableError("a size cannot be read", where=where, why=why)


def _operation(name: str, row: _OpTable, calls: dict[str, Call], path: Path) -> Operation:
    where = f"{path}, key op.{name}"
    steps = tuple(Step(text.removesuffix("*"), text.endswith("*")) for text in row.steps)
    for step in steps:
        if step.call not in calls:
            raise TableError(f"{path.name}: an operation names an unknown call", where=f"{where}.steps", why=step.call)
    splits = []
    for text in [row.split] if isinstance(row.split, str) else row.split:
        match = _SPLIT.fullmatch(text)
        if match:
            splits.append((match.group(1), int(match.group(2))))
        elif row.split:
            raise TableError("a split cannot be read", where=f"{where}.split", why=f"{text!r} is not role/unit")
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
        tuple(splits),
        tuple(alias),
        tuple(row.secret),
        row.returns == "ok|reject",
        row.on_reject,
        row.const,
    )


_NAME = re.compile(r"[a-z][a-z0-9_]*")


def _wrong(interface: Interface, key: str, why: str) -> TableError:
    path = interface.path
    return TableError(f"{path.name} has a wrong entry", where=f"{path}, key {key}", why=why)


def _check(interface: Interface) -> None:
    """Everything that would surface only in a guest or a compiler: names, argument lists, what each role is."""
    for key, names in (
        ("the file's name", [interface.algorithm]),
        ("call", interface.calls),
        ("state", interface.states),
        ("op", interface.operations),
    ):
        for name in names:
            if not _NAME.fullmatch(name):
                raise _wrong(interface, key, f"{name!r} is not lower-case letters, digits and underscores")
    for call in interface.calls.values():
        key = f"call.{call.name}.args"
        if len(call.args) > MAX_WORDS:
            raise _wrong(interface, key, f"{len(call.args)} arguments, the trampoline passes at most {MAX_WORDS}")
        words = [(arg.role, isinstance(arg, Length)) for arg in call.args]
        written = {arg.role for arg in call.args if isinstance(arg, Pointer) and arg.direction != "in"}
        for name in call.ends:
            if name not in interface.states or name not in written:
                why = f"{name!r} is no state that the call may write"
                raise _wrong(interface, f"call.{call.name}.ends", why)
        for role, _ in words:
            if words.count((role, False)) > 1 or words.count((role, True)) > 1:
                raise _wrong(interface, key, f"{role!r} is passed twice")
    for op in interface.operations.values():
        _check_sizes(interface, op)
        _check_steps(interface, op)
        _check_words(interface, op)


def _check_sizes(interface: Interface, op: Operation) -> None:
    """Input sizes are possible, output sizes follow from the inputs."""
    for side, sizes in (("in", op.inputs), ("out", op.outputs)):
        for role, size in sizes.items():
            key = f"op.{op.name}.{side}.{role}"
            if role in interface.states:
                raise _wrong(interface, key, f"{role!r} is a state, which has neither right bytes nor a size")
            if size.like and (size.like not in op.inputs or op.inputs[size.like].word or size.like == role):
                raise _wrong(interface, key, f"{size.like!r} is no other input of bytes")
            if size.maximum is not None and size.maximum < (size.minimum or 0):
                raise _wrong(interface, key, f"{size.minimum}..{size.maximum} is empty")
            if side == "out" and len(size.choices) != 1 and not size.like:
                raise _wrong(interface, key, "an output has a fixed size or one that follows from an input")


def _check_steps(interface: Interface, op: Operation) -> None:
    """Every argument of every step is what the call takes it for, and every output is written."""
    if not op.steps:
        raise _wrong(interface, f"op.{op.name}.steps", "no call is made")
    started: set[str] = set()
    pointed = {a.role for step in op.steps for a in interface.calls[step.call].args if isinstance(a, Pointer)}
    for step in op.steps:
        for arg in interface.calls[step.call].args:
            if isinstance(arg, Pointer) and arg.role in interface.states:
                if arg.direction != "out" and arg.role not in started:
                    why = f"{step.call} uses {arg.role}, which no call started"
                    raise _wrong(interface, f"op.{op.name}.steps", why)
                started.add(arg.role)
            elif why := _argument_problem(arg, op, pointed):
                raise _wrong(interface, f"op.{op.name}", f"call {step.call}: {why}")
    for role in op.outputs:
        if not any(
            isinstance(arg, Pointer) and arg.role == role and arg.direction != "in"
            for step in op.steps
            for arg in interface.calls[step.call].args
        ):
            raise _wrong(interface, f"op.{op.name}.out.{role}", "no call of the operation writes it")


def _argument_problem(arg: Argument, op: Operation, pointed: set[str]) -> str:
    """Why ``arg`` cannot be passed in ``op``, or ''."""
    if arg.role in op.constants:
        return "" if isinstance(arg, Word) and not arg.advance_by else f"{arg.role!r} is a constant, not passed as one"
    if arg.role not in op.inputs and arg.role not in op.outputs:
        return f"{arg.role!r} is no input, output or state"
    is_word = arg.role in op.inputs and op.inputs[arg.role].word
    if isinstance(arg, Word):
        if not is_word:
            return f"{arg.role!r} is passed as u32, but is no input of that kind"
        if arg.advance_by and (arg.advance_by not in op.inputs or op.inputs[arg.advance_by].word):
            return f"{arg.role!r} advances by {arg.advance_by!r}, which is no input of bytes"
        return "" if arg.unit else f"{arg.role!r} advances by a unit of 0 bytes"
    if is_word:
        return f"{arg.role!r} is a u32, but is passed as bytes"
    if isinstance(arg, Pointer) and arg.direction != "in" and arg.role not in op.outputs:
        return f"writes {arg.role!r}, which is no output"
    return "" if arg.role in pointed else f"takes the length of {arg.role!r}, which no call takes a pointer to"


def _check_words(interface: Interface, op: Operation) -> None:
    """The keys of an operation that name roles."""
    for role, _ in op.splits:
        if role not in op.inputs:
            raise _wrong(interface, f"op.{op.name}.split", f"{role!r} is no input")
    for role in op.secret:
        if role not in op.inputs and role not in op.outputs:
            raise _wrong(interface, f"op.{op.name}.secret", f"{role!r} is no input and no output")
    cut = {op.split_of_call(interface.calls[step.call]) for step in op.steps if step.repeated}
    for role, _ in op.splits:
        if op.inputs[role].word:
            raise _wrong(interface, f"op.{op.name}.split", f"{role!r} is a u32, which has no pieces")
        if role not in cut:
            raise _wrong(interface, f"op.{op.name}.split", f"no step that takes pieces of {role!r} ends with *")
    passed = {a.role for step in op.steps for a in interface.calls[step.call].args}
    for name, value in op.constants.items():
        if name in op.inputs or name in op.outputs or name in interface.states or name not in passed:
            raise _wrong(interface, f"op.{op.name}.const", f"{name!r} is a role already, or no call takes it")
        if not 0 <= value < 1 << 32:
            raise _wrong(interface, f"op.{op.name}.const", f"{name} = {value} is no 32-bit word")
    if op.on_reject:
        role, _, rest = op.on_reject.partition(" ")
        if role not in op.outputs or rest != "all zero":
            raise _wrong(interface, f"op.{op.name}.on_reject", f"{op.on_reject!r} is not '<output> all zero'")
        if not op.refuses:
            raise _wrong(interface, f"op.{op.name}.on_reject", 'nothing is rejected without returns = "ok|reject"')
