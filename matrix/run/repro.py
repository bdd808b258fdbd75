"""Run one failure again from its file, and say what is expected and what came."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from matrix.cases.case import Case, Chain
from matrix.cases.chain import LINK_ROUNDS, run_chain
from matrix.cases.corpus import input_problem, many_calls_problem, output_problem
from matrix.cases.placement import all_placements, named
from matrix.checks import check_of
from matrix.errors import ReproError, SelectionError
from matrix.model.catalog import Catalog
from matrix.model.near import known_names
from matrix.model.textfile import read_text
from matrix.oracles.registry import oracle
from matrix.plain import plain_line
from matrix.plan.cell import NATIVE, Cell, Enforcement
from matrix.run.cell_ids import cell_named
from matrix.run.runner import run_cell
from matrix.run.session import Session
from matrix.run.verdict import KINDS, CellResult
from matrix.worker.protocol import SLOT_BYTES

FORMAT = 1
"""Version of failure files; matrix.report.failures writes them."""
GOOD, BAD, CANNOT_TELL = 0, 1, 125
"""Exit codes as ``git bisect run`` reads them (git-bisect(1))."""
_MOST_BYTES = 64 << 20
_MOST_SHOWN = 60
_STEP = "go to the folder where the run was started, or give the full path of a file below failures/"


@dataclass(frozen=True)
class Recorded:
    """A failure file: the cell, the case (None when the whole cell is meant), its placement, and what was seen.

    ``sources`` are digests of what the kernel and its worker were made from, ``dirty`` the files that were not as the
    commit has them.
    """

    cell_id: str
    cpu: str
    sandbox: str
    seed: int
    exhaustive: bool
    placements: str
    build_id: str
    case: Case | None
    placement: str
    kind: str
    summary: str
    sources: dict[str, str] = field(default_factory=dict)
    dirty: tuple[str, ...] = ()


_Word = Annotated[str, msgspec.Meta(max_length=400, pattern=r"^[A-Za-z0-9_./:@,=+-]*\Z")]
"""A name of ours, a cell's id or a string for ``-cpu``: none is longer, or has other characters."""
_Text = Annotated[str, msgspec.Meta(max_length=1 << 20)]


class _Cell(msgspec.Struct):
    id: _Word
    cpu: _Word


class _Failure(msgspec.Struct):
    kind: _Word
    summary: _Text
    case: _Word
    placement: _Word


class _Settings(msgspec.Struct):
    seed: int
    exhaustive: bool
    placements: Literal["quick", "full"] = "quick"


class _Facts(msgspec.Struct):
    sandbox: _Word
    build_id: _Word = ""
    sources: dict[str, _Word] = {}
    dirty: tuple[_Text, ...] | None = None


class _Chain(msgspec.Struct):
    feed: tuple[_Word, ...]
    rounds: int


class _Case(msgspec.Struct):
    name: _Word
    algorithm: _Word
    operation: _Word
    origin: _Text
    inputs: dict[str, str | int]
    expected: dict[str, str] | None
    chain: _Chain | None = None
    total: int = 0
    number: int = 0


class _File(msgspec.Struct):
    """What is read of a failure file; more may stand in it."""

    cell: _Cell
    failure: _Failure
    settings: _Settings
    facts: _Facts
    case: _Case | msgspec.UnsetType = msgspec.UNSET


def read_failure(path: Path) -> Recorded:
    """Read a failure file, which anybody may have written. Raises ReproError naming file, key and reason."""
    text = read_text(path, _unreadable, _MOST_BYTES)
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ReproError("a failure file is not JSON", where=str(path), why=str(problem)) from None
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        found = _shown(raw.get("format")) if isinstance(raw, dict) else type(raw).__name__
        why = f"format {found}, {FORMAT} expected"
        raise ReproError("not a failure file of this version", where=str(path), why=why)
    try:
        file = msgspec.convert(raw, _File)
        case = None if isinstance(file.case, msgspec.UnsetType) else _case(file.case)
    except (ValueError, RecursionError) as problem:
        raise ReproError("a failure file is incomplete or changed", where=str(path), why=str(problem)) from None
    if why := _contradiction(file, case):
        raise ReproError("a failure file is incomplete or changed", where=str(path), why=why)
    return Recorded(
        file.cell.id,
        file.cell.cpu,
        file.facts.sandbox,
        file.settings.seed,
        file.settings.exhaustive,
        file.settings.placements,
        file.facts.build_id,
        case,
        file.failure.placement,
        file.failure.kind,
        file.failure.summary,
        file.facts.sources,
        file.facts.dirty or (),
    )


def _unreadable(_what: str, *, where: str, why: str, step: str) -> ReproError:
    """As read_text wants to raise it; what to do next is what somebody who has typed another name needs."""
    return ReproError("a failure file cannot be read", where=where, why=why, step=_STEP)


def _shown(value: object) -> str:
    """A value of the file in few words, however large it is."""
    if isinstance(value, int | str | float | None):
        text = plain_line(str(value))
        return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
    return type(value).__name__


def _contradiction(file: _File, case: Case | None) -> str:
    """What in ``file`` cannot have been written by a run, or ''."""
    named = file.failure.case
    if named and case is None:
        return f"it lacks the key `case`, and failure.case names {named!r}"
    if case and case.name != named:
        return f"case.name is {case.name!r}, failure.case is {named!r}"
    if file.failure.kind not in KINDS:
        return f"failure.kind: {file.failure.kind!r}; {known_names(file.failure.kind, KINDS)}"
    if file.facts.sandbox not in ("docker", "host"):
        return f"facts.sandbox: {file.facts.sandbox!r} is neither 'docker' nor 'host'"
    return ""


def _case(raw: _Case) -> Case:
    """Raises ValueError naming the key for what is no hex."""

    def decoded(key: str, value: str) -> bytes:
        try:
            return bytes.fromhex(value)
        except ValueError as problem:
            raise ValueError(f"{problem} - at `$.case.{key}`") from None

    inputs = {n: v if isinstance(v, int) else decoded(f"inputs.{n}", v) for n, v in raw.inputs.items()}
    expected = None if raw.expected is None else {n: decoded(f"expected.{n}", v) for n, v in raw.expected.items()}
    chain = Chain(raw.chain.feed, raw.chain.rounds) if raw.chain else None
    case = Case(raw.name, raw.algorithm, raw.operation, inputs, raw.origin, "full", expected)
    return replace(case, chain=chain, total=raw.total, number=raw.number)


def find_cell(catalog: Catalog, recorded: Recorded) -> Cell:
    """The cell that the file names, on the CPU that it names. Raises ReproError when the plan has it no more, or when
    the recorded case is none of it any more: running nothing must not look like the failure."""
    try:
        cell = cell_named(catalog, recorded.cell_id)
    except SelectionError as problem:
        step = f"it was there at the commit that the file names; {SelectionError.step} now"
        raise ReproError(f"the plan has no cell {recorded.cell_id}", why=problem.why, step=step) from None
    if recorded.case and (why := _case_problem(catalog, cell, recorded.case, recorded.placement)):
        raise ReproError(f"case {recorded.case.name} does not fit {cell.id}", why=why)
    if recorded.cpu == NATIVE and not catalog.targets.get(cell.target).native:
        step = ReproError.step if cell.enforcement == NATIVE else "leave out --native: QEMU runs it on this machine too"
        why = "`native` is not set in images/targets.toml"
        raise ReproError(f"{cell.target} does not run natively", why=why, step=step)
    return replace(
        cell, cpu=recorded.cpu, enforcement=Enforcement.NATIVE if recorded.cpu == NATIVE else cell.enforcement
    )


def _case_problem(catalog: Catalog, cell: Cell, case: Case, placement: str) -> str:
    """Why ``case`` in ``placement`` cannot be run in ``cell``, or ''."""
    provider = catalog.provider(cell.provider)
    interface = provider.interfaces.get(case.algorithm)
    if interface is None or case.operation not in interface.operations or cell.algorithm not in ("", case.algorithm):
        return f"the cell has no operation {case.algorithm}.{case.operation}"
    operation = interface.operations[case.operation]
    known = {row.name: row for row in all_placements(interface, operation, not cell.variant)}
    if not named(placement, known) and placement.removeprefix("started-by-") not in [v.name for v in provider.variants]:
        return f"there is no placement {placement!r}"
    if case.expected is None and not operation.refuses:
        return "a refusal is expected, and the operation has none"
    if case.expected is not None and set(case.expected) != set(operation.outputs):
        return f"outputs {sorted(case.expected)}, the operation has {sorted(operation.outputs)}"
    if case.chain and case.chain.rounds > LINK_ROUNDS:
        return f"{case.chain.rounds} rounds, a request has at most {LINK_ROUNDS}"
    sizes = {name: len(value) for name, value in case.inputs.items() if isinstance(value, bytes)}
    if long := next((name for name, size in sizes.items() if size > SLOT_BYTES), ""):
        return f"{long} has {sizes[long]} bytes, a buffer of the worker has {SLOT_BYTES}"
    return (
        input_problem(operation, case.inputs)
        or many_calls_problem(interface, operation, case)
        or output_problem(operation, case.inputs, case.expected)
    )


def _answer_problem(catalog: Catalog, cell: Cell, case: Case) -> str:
    """Why the answer of ``case`` is not what the oracle says today, or ''; a message of many megabytes is not tried."""
    if case.total:
        return ""
    answer = oracle(catalog.provider(cell.provider).interfaces[case.algorithm], case.operation)
    right = run_chain(answer, case.inputs, case.chain)[0] if case.chain else answer(**case.inputs)
    if right == case.expected:
        return ""
    return f"case {case.name}: {_answer_words(case.expected)} was recorded, the oracle says {_answer_words(right)}"


def _answer_words(answer: dict[str, bytes] | None) -> str:
    if answer is None:
        return "a refusal"
    return ", ".join(f"{name} = {_shown(value.hex())}" for name, value in answer.items())


def run_again(session: Session, recorded: Recorded) -> CellResult:
    """Run the recorded case alone, or the whole cell when no case was recorded; builds what is needed.

    Raises ReproError, ToolError, BuildError, GuestError.
    """
    cell = find_cell(session.catalog, recorded)
    if recorded.case and (why := _answer_problem(session.catalog, cell, recorded.case)):
        step = "if the oracle was wrong then, delete the file; if it is wrong now, mend it"
        raise ReproError("the recorded answer is not that of the oracle", where=recorded.cell_id, why=why, step=step)
    only = (recorded.case, recorded.placement) if recorded.case else None
    if only and not check_of(cell).takes_one_case:
        only = None  # these cells choose their own few cases
    return run_cell(session, cell, only)
