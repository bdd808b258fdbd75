"""Run one failure again from its file, and say what is expected and what came."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matrix.cases.case import Case, Chain
from matrix.cases.corpus import input_problem, many_calls_problem, output_problem
from matrix.cases.placement import all_placements
from matrix.errors import ReproError
from matrix.model.catalog import Catalog
from matrix.model.plan import NATIVE, Cell, find, plan
from matrix.run.cells import run_cell
from matrix.run.expectation import load_expectation
from matrix.run.session import Session
from matrix.run.verdict import CellResult

FORMAT = 1
"""Version of failure files; matrix.report.failures writes them."""
GOOD, BAD, CANNOT_TELL = 0, 1, 125
"""Exit codes as ``git bisect run`` reads them (git-bisect(1))."""


@dataclass(frozen=True)
class Recorded:
    """A failure file: the cell, the case (None when the whole cell is meant), its placement, and what was seen."""

    cell_id: str
    cpu: str
    sandbox: str
    seed: int
    exhaustive: bool
    case: Case | None
    placement: str
    kind: str
    summary: str


def read_failure(path: Path) -> Recorded:
    """Read a failure file. Raises ReproError naming file, key and reason."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise ReproError("a failure file cannot be read", where=str(path), why=str(problem)) from None
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        why = f"format {raw.get('format') if isinstance(raw, dict) else type(raw).__name__}, {FORMAT} expected"
        raise ReproError("not a failure file of this version", where=str(path), why=why)
    try:
        failure, settings = raw["failure"], raw["settings"]
        return Recorded(
            _text(raw["cell"]["id"]),
            _text(raw["cell"]["cpu"]),
            _text(raw["facts"]["sandbox"]),
            int(settings["seed"]),
            bool(settings["exhaustive"]),
            _case(raw["case"]) if "case" in raw else None,
            _text(failure["placement"]),
            _text(failure["kind"]),
            _text(failure["summary"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        why = f"{type(problem).__name__}: {problem}"
        raise ReproError("a failure file lacks something", where=str(path), why=why) from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _case(raw: dict[str, Any]) -> Case:
    def decoded(values: dict[str, Any]) -> dict[str, bytes | int]:
        return {name: value if isinstance(value, int) else bytes.fromhex(value) for name, value in values.items()}

    expected, chain = raw["expected"], raw.get("chain")
    return Case(
        _text(raw["name"]),
        _text(raw["algorithm"]),
        _text(raw["operation"]),
        decoded(raw["inputs"]),
        _text(raw["origin"]),
        "full",
        None if expected is None else {name: bytes.fromhex(value) for name, value in expected.items()},
        chain=Chain(tuple(_text(role) for role in chain["feed"]), int(chain["rounds"])) if chain else None,
        total=int(raw.get("total", 0)),
    )


def find_cell(catalog: Catalog, recorded: Recorded) -> Cell:
    """The cell that the file names, on the CPU that it names. Raises ReproError when the plan has it no more, or when
    the recorded case is none of it any more: running nothing must not look like the failure."""
    target = recorded.cell_id.split("/")[0]
    known = any(row.name == target for row in catalog.targets.targets)
    cell = (
        find(plan(replace(catalog, targets=catalog.targets.only([target])), None), recorded.cell_id) if known else None
    )
    if cell is None:
        raise ReproError(f"the plan has no cell {recorded.cell_id}", why="its target, mask or variant is gone")
    if recorded.case and (why := _case_problem(catalog, cell, recorded.case, recorded.placement)):
        raise ReproError(f"case {recorded.case.name} does not fit {cell.id}", why=why)
    if recorded.cpu == NATIVE and not catalog.targets.get(cell.target).native:
        raise ReproError(f"{cell.target} does not run natively", why="`native` is not set in images/targets.toml")
    return replace(cell, cpu=recorded.cpu, enforcement="native" if recorded.cpu == NATIVE else cell.enforcement)


def _case_problem(catalog: Catalog, cell: Cell, case: Case, placement: str) -> str:
    """Why ``case`` in ``placement`` cannot be run in ``cell``, or ''."""
    provider = catalog.provider(cell.provider)
    interface = provider.interfaces.get(case.algorithm)
    if interface is None or case.operation not in interface.operations or cell.algorithm not in ("", case.algorithm):
        return f"the cell has no operation {case.algorithm}.{case.operation}"
    operation = interface.operations[case.operation]
    known = [row.name for row in all_placements(interface, operation, not cell.variant)]
    if placement not in known and placement.removeprefix("started-by-") not in [v.name for v in provider.variants]:
        return f"there is no placement {placement!r}"
    if case.expected is not None and set(case.expected) != set(operation.outputs):
        return f"outputs {sorted(case.expected)}, the operation has {sorted(operation.outputs)}"
    return (
        input_problem(operation, case.inputs)
        or many_calls_problem(interface, operation, case)
        or output_problem(operation, case.inputs, case.expected)
    )


def run_again(session: Session, recorded: Recorded) -> CellResult:
    """Run the recorded case alone, or the whole cell when no case was recorded; builds what is needed.

    Raises ReproError, ToolError, BuildError, GuestError.
    """
    cell = find_cell(session.catalog, recorded)
    only = (recorded.case, recorded.placement) if recorded.case else None
    if only and cell.kind in ("dispatch", "trap"):
        only = None  # these cells choose their own few cases
    expectation = load_expectation(session.catalog.root / "tests" / "conformance" / "expected_dispatch.toml")
    return run_cell(session, cell, expectation, only)
