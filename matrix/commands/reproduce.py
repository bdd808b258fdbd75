"""``repro``: run a recorded failure again and show expected and got side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from matrix.commands.debugging import debug
from matrix.errors import MatrixError
from matrix.model.catalog import every_profile, load_catalog
from matrix.plan.cell import NATIVE
from matrix.report.console import styled
from matrix.resources import data_root
from matrix.run.provenance import differing, digests, source_files
from matrix.run.replay import replay_of
from matrix.run.repro import BAD, CANNOT_TELL, GOOD, Recorded, find_cell, read_failure, run_again
from matrix.run.session import Session, Settings
from matrix.run.verdict import BUILD, BY_THE_KERNEL, PROTOCOL, CellResult, Failure
from matrix.sandbox.choose import choose_sandbox
from matrix.sandbox.locks import cache_root

STOP = 128
"""Is added to exit codes that say nothing of the failure: ``git bisect run`` stops at 128 and more (git-bisect(1))."""
_MOST_NAMED = 5
_ROW = 16
_ROWS_AROUND = 2


@dataclass(frozen=True)
class Options:
    """How to reproduce: the sandbox ('same' as recorded, or a name), natively, in gdb, and gdb's commands."""

    sandbox: str = "same"
    native: bool = False
    gdb: bool = False
    gdb_commands: tuple[str, ...] = ()


def reproduce(path: Path, options: Options, console: Console) -> int:
    """Run the failure of ``path`` again.

    Returns 0 when it is gone, 1 when it is there, 125 when it cannot be told (the cell does not exist, what surrounds
    it does not build, or the very build that failed passes where it failed); with gdb, gdb's exit code. Raises
    ReproError when the file cannot be read.
    """
    recorded = read_failure(path)
    if options.native:
        recorded = replace(recorded, cpu=NATIVE)
    console.print(styled((recorded.cell_id, "bold"), f" on {_machine(recorded)}"), soft_wrap=True)
    console.print(f"  recorded: {recorded.kind}: {recorded.summary}", highlight=False, soft_wrap=True)
    try:
        session = _session(recorded, options.sandbox)
        for note in _notes(session, recorded):
            console.print(f"  {note}", highlight=False, soft_wrap=True)
        if options.gdb:
            return debug(session, replay_of(session, recorded), options.gdb_commands, console)
        try:
            result = run_again(session, recorded)
        finally:
            session.close()
    except MatrixError as problem:
        console.print(f"cannot tell: {problem}", highlight=False, soft_wrap=True)
        return CANNOT_TELL
    same = not options.native and session.sandbox.name == recorded.sandbox
    same = same and result.facts["build_id"] == recorded.build_id
    if not result.failures and same and recorded.kind in BY_THE_KERNEL:
        console.print(_same_build_passes(recorded, result.runs), highlight=False, soft_wrap=True)
        return CANNOT_TELL
    if not result.failures:
        console.print(styled(("passes", "bold green"), f": {result.runs} run{'s' if result.runs != 1 else ''}"))
        return GOOD
    for failure in result.failures:
        console.print(styled((failure.kind, "bold red"), f": {failure.summary}"), soft_wrap=True)
        _show(failure, console)
    if why := _other_failure(recorded, result):
        console.print(f"cannot tell: {why}, a {recorded.kind} was recorded", highlight=False, soft_wrap=True)
        return CANNOT_TELL
    return BAD


def _other_failure(recorded: Recorded, result: CellResult) -> str:
    """Why the failures of ``result`` say nothing of the recorded one, or ''."""
    if recorded.kind != BUILD and all(failure.kind == BUILD for failure in result.failures):
        return "this does not build"
    if recorded.kind != PROTOCOL and all("refused" in failure.details for failure in result.failures):
        return "the worker refuses the recorded input, so that the kernel was not called"
    return ""


def _notes(session: Session, recorded: Recorded) -> Iterator[str]:
    """In what the sources differ now from those that the failure was seen with."""
    cell = find_cell(session.catalog, recorded)
    if recorded.dirty:
        yield f"recorded with changes that its commit does not have: {_few(recorded.dirty)}"
    if recorded.sources:
        now = digests(source_files(session.catalog, cell.target, cell.provider, cell.algorithm))
        if changed := differing(recorded.sources, now):
            yield f"changed since it was recorded: {_few(changed)}"


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"


def _same_build_passes(recorded: Recorded, runs: int) -> str:
    """What may be the reason, and which larger run may show the failure again."""
    larger = recorded.cell_id if recorded.case else f"{recorded.cell_id.partition('/')[0]} -n 1"
    before = "what ran before" if recorded.case else "the cells that ran before in the same guest"
    why = f"it depends on {before}, on chance, or on the moment of a signal"
    return f"cannot tell: the same build passes {runs} runs; {why}. Run more: capmatrix run {larger}"


def _machine(recorded: Recorded) -> str:
    return "this machine's own CPU" if recorded.cpu == NATIVE else f"-cpu {recorded.cpu}"


def _session(recorded: Recorded, sandbox_name: str) -> Session:
    catalog = every_profile(load_catalog(data_root()))
    find_cell(catalog, recorded)
    sandbox = choose_sandbox(recorded.sandbox if sandbox_name == "same" else sandbox_name)
    settings = Settings(recorded.seed, recorded.exhaustive, recorded.placements)
    return Session(catalog, sandbox, settings, cache_root() / "corpora")


def _show(failure: Failure, console: Console) -> None:
    """The inputs, the compiler's message, and the rows of expected and got around the first wrong byte."""
    details = failure.details
    if "log" in details:
        console.print(details["log"], highlight=False, soft_wrap=True)
    if failure.input:
        console.print(
            f"  case {failure.input.name} ({failure.input.origin}), placement {failure.placement}", highlight=False
        )
        for name, value in failure.input.inputs.items():
            text = f"{value.hex() or '(empty)'} ({len(value)} bytes)" if isinstance(value, bytes) else f"{value:#x}"
            shown = (
                text if len(text) <= 200 else f"{text[:160]}... ({len(value) if isinstance(value, bytes) else 4} bytes)"
            )
            console.print(f"  {name} = {shown}", highlight=False, soft_wrap=True)
    if "expected" in details:
        _show_bytes(
            bytes.fromhex(details["expected"]), bytes.fromhex(details["got"]), details["first_wrong_byte"], console
        )


def _show_bytes(expected: bytes, got: bytes, first: int, console: Console) -> None:
    console.print(
        f"  first wrong byte {first}, in block {first // 64} of 64 bytes, block {first // 16} of 16", highlight=False
    )
    start = max(0, first // _ROW - _ROWS_AROUND) * _ROW
    for row in range(start, min(len(expected), start + (2 * _ROWS_AROUND + 1) * _ROW), _ROW):
        one, other = expected[row : row + _ROW], got[row : row + _ROW]
        console.print(f"  {row:6d} expected {one.hex(' ')}", highlight=False)
        marked = [(f" {b:02x}", "bold red") if a != b else f" {b:02x}" for a, b in zip(one, other, strict=True)]
        console.print(styled(f"  {'':6} got     ", *marked))
