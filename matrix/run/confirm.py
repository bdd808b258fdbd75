"""Run what failed once more, alone in a fresh guest: a failure that needs other calls, or a signal, is told as such."""

from collections.abc import Iterable

from matrix.cases.case import Case
from matrix.cases.layout import Run
from matrix.model.interface import Operation
from matrix.run import verdict as vd
from matrix.run.judge import judge
from matrix.run.session import Bench
from matrix.run.verdict import Failure
from matrix.worker.process import Request
from matrix.worker.protocol import Op

Failed = tuple[Failure, Operation, Case, Run]
"""A failure and what failed."""
_EARLIER = "it depends on earlier calls"
_SIGNALS = "it needs a signal at the right moment: does the code keep data below the stack pointer?"


def confirm(bench: Bench, failed: Iterable[Failed]) -> None:
    """Mark the failures that their case alone does not show, so that their file is for the whole cell, and say why.

    Where signals arrive all the time a case is tried as often as ``repro`` tries it.
    """
    alarmed = bench.session.alarmed
    for failure, operation, case, run in failed:
        if failure.needs_cell and not alarmed:
            failure.summary += f": {_EARLIER}"  # the guest has tried it alone already
        elif failure.needs_cell:
            failure.needs_cell = not _fails_alone(bench, operation, case, run)
            failure.summary += f": {_SIGNALS}" if not failure.needs_cell else f": {_EARLIER}, or {_SIGNALS}"
        elif failure.kind in (vd.WRONG_ANSWER, vd.VIOLATION) and not _fails_alone(bench, operation, case, run):
            failure.needs_cell = True
            why = f"{_EARLIER}, or {_SIGNALS}" if alarmed else _EARLIER
            failure.summary += f"; alone in a fresh guest it passes: {why}"


def _fails_alone(bench: Bench, operation: Operation, case: Case, run: Run) -> bool:
    """Whether the case fails in a guest that has run nothing else."""
    guest = bench.guest
    guest.close()
    symbols = bench.session.symbols(bench.cell)
    outcomes = guest.many(Request(Op.RUN, run.payload, case.seconds) for _ in range(bench.session.tries(case)))
    fails = any(judge(operation, case, run, outcome, symbols) for outcome in outcomes)
    outcomes.close()
    return fails
