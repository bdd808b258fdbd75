"""Run what failed once more, alone in a fresh guest: a failure that needs other calls, or a signal, is told as such,
and one in a chain is traced to its round."""

from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import replace

from matrix.cases.case import Case
from matrix.cases.chain import ChainLayout, first_wrong_round, round_case
from matrix.cases.layout import Run
from matrix.errors import GuestError, OracleError
from matrix.model.interface import Operation
from matrix.oracles.registry import oracle
from matrix.run import verdict as vd
from matrix.run.judge import answer_of, judge
from matrix.run.naming import name_functions
from matrix.run.plausible import plausible
from matrix.run.session import Bench
from matrix.run.verdict import Failure
from matrix.worker.outcome import Outcome
from matrix.worker.protocol import Op
from matrix.worker.window import Request

Failed = tuple[Failure, Operation, Case, Run]
"""A failure and what failed."""
_EARLIER = "it depends on earlier calls, or is not deterministic"
_SIGNALS = "it needs a signal at the right moment: does the code keep data below the stack pointer?"


def confirm(bench: Bench, failed: Iterable[Failed]) -> None:
    """Mark the failures that their case alone does not show, so that their file is for the whole cell, and say why.

    Where signals arrive all the time a case is tried as often as ``repro`` tries it.
    """
    alarmed = bench.session.alarmed
    for failure, operation, case, run in failed:
        if failure.kind == vd.UNRELIABLE:
            continue  # the guest has tried it alone already, and nobody knows whether the case has to do with it
        if failure.needs_cell and not alarmed:
            failure.summary += f": {_EARLIER}"  # the guest has tried it alone already
        elif failure.needs_cell:
            failure.needs_cell = not _failure_alone(bench, operation, case, run)
            failure.summary += f": {_SIGNALS}" if not failure.needs_cell else f": {_EARLIER}, or {_SIGNALS}"
        elif failure.kind in (vd.WRONG_ANSWER, vd.VIOLATION) and not _failure_alone(bench, operation, case, run):
            failure.needs_cell = True
            why = f"{_EARLIER}, or {_SIGNALS}" if alarmed else _EARLIER
            failure.summary += f"; alone in a fresh guest it passes: {why}"
        elif case.chain and failure.kind in vd.BY_THE_KERNEL:
            try:
                _trace_to_round(bench, failure, operation, case, run)
            except OracleError as problem:  # what was measured is kept
                failure.summary += f"; its round cannot be found: {problem.what}: {problem.why}"


def _outcomes_alone(bench: Bench, case: Case, run: Run) -> Generator[Outcome, None, None]:
    """What comes of the case, as often as it is tried, in a guest that has run nothing else."""
    bench.guest.close()
    outcomes = bench.guest.many(Request(Op.RUN, run.payload, case.seconds) for _ in range(bench.session.tries(case)))
    with closing(outcomes):
        yield from outcomes


def _failure_alone(bench: Bench, operation: Operation, case: Case, run: Run) -> Failure | None:
    """How the case fails in a guest that has run nothing else, None when it passes there."""
    symbols = bench.session.symbols(bench.cell)
    with closing(_outcomes_alone(bench, case, run)) as outcomes:
        for answer in outcomes:
            outcome = plausible(answer, run)
            failure = judge(operation, case, run, outcome, symbols, bench.cpu_words)
            failure = failure or (tape_failure(case, run, outcome) if case.chain else None)
            if failure:
                name_functions(bench, operation, run, outcome, failure)
                return failure
    return None


def tape_failure(case: Case, run: Run, outcome: Outcome) -> Failure | None:
    """Why a chain that ends with the right answer is wrong all the same: an earlier answer, written over by a later
    round, is not what it was. None when nothing is."""
    turn = _first_wrong_round(case, run, outcome)
    if turn is None:
        return None
    assert case.chain
    text = (
        f"the answer of round {turn + 1} of {case.chain.rounds:,} is wrong, or was written over; the last one is right"
    )
    return Failure(vd.WRONG_ANSWER, text)


def _first_wrong_round(case: Case, run: Run, outcome: Outcome) -> int | None:
    try:
        layout, reply = run.layout, answer_of(outcome, run)
    except GuestError:
        return None  # it has failed for its form
    assert isinstance(layout, ChainLayout)
    assert case.chain
    if reply is None:
        return None
    return first_wrong_round(case, case.chain, oracle(layout.interface, case.operation), reply.outputs[0])


def _trace_to_round(bench: Bench, failure: Failure, operation: Operation, case: Case, run: Run) -> None:
    """Say in which round a chain failed, and make that round the failure's case where it fails alone.

    Then ``repro --gdb`` stops in the very call, and not hundreds of calls before it.
    """
    layout, chain = run.layout, case.chain
    assert isinstance(layout, ChainLayout)
    assert chain
    turn = _failing_round(bench, failure, case, run)
    if turn is None:
        return
    answer = oracle(layout.interface, operation.name)
    # The rounds that are given this answer may have written over it.
    for number in range(turn, min(turn + layout.rounds_in_window(case) + 1, chain.rounds)):
        entered = case.number + number * run.steps // chain.rounds  # in the state in which the chain has entered it
        alone = replace(round_case(case, chain, answer, number), number=entered)
        alone_run = layout.one_round().run(alone)
        assert alone_run, "a message in one piece can always be laid out"
        if why := _failure_alone(bench, operation, alone, alone_run):
            failure.kind, failure.input = why.kind, alone
            failure.summary = f"round {number + 1} of {chain.rounds:,}: {why.summary}"
            failure.details |= why.details
            return
    failure.summary += f"; first wrong in round {turn + 1} of {chain.rounds:,}, which passes alone"


def _failing_round(bench: Bench, failure: Failure, case: Case, run: Run) -> int | None:
    """The round, counted from 0, in which the call fails, or whose answer is the first wrong one on the tape."""
    assert case.chain
    step = failure.details.get("step")
    if step is not None:
        return int(step) * case.chain.rounds // run.steps
    if failure.kind != vd.WRONG_ANSWER:
        return None
    (outcome,) = _outcomes_alone(bench, case, run)
    return _first_wrong_round(case, run, outcome)
