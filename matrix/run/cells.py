"""Run one cell of each kind: by name, through the dispatcher, what the dispatcher takes, and what must trap."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from matrix.cases.case import Case
from matrix.cases.placement import QUICK, Binding, Placement, Run, make_run
from matrix.model.choice import chosen_for, length_classes
from matrix.model.interface import Interface, Operation
from matrix.model.plan import Cell
from matrix.run import verdict as vd
from matrix.run.expectation import Row, expected_variant
from matrix.run.judge import answer_of, describe_crash, judge, signal_name
from matrix.run.session import Bench, Session
from matrix.run.symbols import Symbols
from matrix.run.verdict import CellResult, Failure
from matrix.worker import outcome as oc
from matrix.worker import protocol as pr
from matrix.worker.protocol import Op

MOST_FAILURES = 5
"""A cell stops after so many failures: more of them say little, and a kernel that hangs would take all day."""
MOST_TIMEOUTS = 1


@dataclass
class _Job:
    """One case in one placement, on its way."""

    interface: Interface
    operation: Operation
    case: Case
    placement: Placement
    run: Run


@dataclass
class _Collector:
    """Gathers what a cell's cases did."""

    result: CellResult
    timeouts: int = 0

    def add(self, failure: Failure | None, job: _Job) -> None:
        if failure:
            failure.case = job.case.name
            failure.placement = job.placement.name
            failure.input = job.case
            failure.details |= {
                "operation": job.operation.name,
                "algorithm": job.case.algorithm,
                "origin": job.case.origin,
            }
            self.result.failures.append(failure)
            self.timeouts += failure.kind == vd.TIMEOUT

    @property
    def full(self) -> bool:
        return len(self.result.failures) >= MOST_FAILURES or self.timeouts >= MOST_TIMEOUTS


def run_cell(
    session: Session, cell: Cell, expectation: tuple[Row, ...], only: tuple[Case, str] | None = None
) -> CellResult:
    """Run ``cell`` and return what it did; with ``only`` just that case in the placement of that name.

    Raises MatrixError only for what is wrong outside the cell.
    """
    started = time.perf_counter()
    result = CellResult(cell.id)
    bench = Bench(session, cell, only)
    broken = _build_failures(bench)
    if broken:
        result.failures = broken
    else:
        failure = bench.apply_mask()
        result.detected = bench.detected
        if failure:
            result.failures.append(failure)
        else:
            _KINDS[cell.kind](bench, result, expectation)
    if not result.failures and not result.runs:
        result.failures.append(Failure(vd.NOT_RUN, "no case ran in this cell"))
    result.facts["build_id"] = bench.built.build_id
    result.facts["compiler"] = bench.built.compiler
    result.seconds = time.perf_counter() - started
    return result


def _build_failures(bench: Bench) -> list[Failure]:
    """Failures of files that the cell needs: the variant's own, or any that the mask admits to the dispatcher."""
    cell, built = bench.cell, bench.built
    if cell.variant:
        needed = {f"{cell.algorithm}-{cell.variant}"}
    else:
        needed = {
            f"{v.algorithm}-{v.name}"
            for v in bench.session.catalog.provider(cell.provider).variants
            if cell.algorithm in ("", v.algorithm) and cell.mask.closed.issuperset(v.requires)
        }
    return [
        Failure(vd.BUILD, f"{name} does not compile: {_first_error(log)}", details={"log": log, "file": name})
        for name, log in built.failed.items()
        if name in needed
    ]


def _first_error(log: str) -> str:
    lines = log.splitlines()
    return next((line for line in lines if "rror" in line), lines[0] if lines else "no message")


def _run_jobs(
    bench: Bench, collector: _Collector, jobs: Iterator[_Job], check: Callable[[_Job, pr.RunReply], Failure | None]
) -> None:
    """Send ``jobs`` through the guest, judge every answer, and stop when the collector is full."""
    flying: deque[_Job] = deque()
    symbols = bench.session.symbols(bench.cell)

    def requests() -> Iterator[tuple[Op, bytes]]:
        for job in jobs:
            flying.append(job)
            yield Op.RUN, job.run.payload

    outcomes = bench.guest.many(requests())
    seen: set[str] = set()
    for outcome in outcomes:
        job = flying.popleft()
        failure = judge(job.operation, job.case, job.run, outcome, symbols)
        if failure is None:
            reply = answer_of(outcome, job.run)
            assert reply is not None
            for index, count in reply.entered.items():
                name = bench.built.functions[index].name
                collector.result.entered[name] = collector.result.entered.get(name, 0) + count
            failure = check(job, reply)
        collector.add(failure, job)
        collector.result.runs += 1
        if job.case.name not in seen:
            seen.add(job.case.name)
            collector.result.cases += 1
        if collector.full:
            break
    outcomes.close()


def _jobs(
    bench: Bench, tier: str, bind: Callable[[Interface, Operation], Binding | None], result: CellResult
) -> Iterator[_Job]:
    for interface in bench.interfaces():
        for operation in interface.operations.values():
            binding = bind(interface, operation)
            if binding is None:
                continue
            for case in bench.cases(interface, operation, tier):
                if case.skip:
                    result.skipped_cases[case.skip] = result.skipped_cases.get(case.skip, 0) + 1
                    continue
                for placement in bench.placements():
                    run = make_run(interface, operation, case, binding, placement)
                    yield _Job(interface, operation, case, placement, run)


def _run_variant(bench: Bench, result: CellResult, _expectation: tuple[Row, ...]) -> None:
    """By name: the full corpus; only the variant's own functions may be entered (compositions enter others)."""
    cell = bench.cell

    def check(job: _Job, reply: pr.RunReply) -> Failure | None:
        entered = {bench.built.functions[index] for index in reply.entered}
        own = [f for f in entered if f.interface is job.interface]
        if not any(f.variant and f.variant.name == cell.variant for f in own):
            return Failure(vd.WRONG_VARIANT, f"{cell.variant} was not entered, but {_names(f.name for f in entered)}")
        return None

    _run_jobs(bench, _Collector(result), _jobs(bench, cell.tier, bench.bind_variant, result), check)


def _run_mask(bench: Bench, result: CellResult, _expectation: tuple[Row, ...]) -> None:
    """Through the dispatcher: exactly the variants that the mask and length give may be entered."""
    cell = bench.cell

    def check(job: _Job, reply: pr.RunReply) -> Failure | None:
        chosen = chosen_for(job.operation, job.interface, bench.variants(job.interface), cell.mask.closed, _length(job))
        wanted = {f"{job.interface.algorithm}.{call}.{v.name}" for call, v in chosen if v}
        entered = {bench.built.functions[index] for index in reply.entered}
        own = {f.name for f in entered if f.variant and f.interface is job.interface}
        if own != wanted:
            return Failure(vd.WRONG_VARIANT, f"entered {_names(own)}, planned {_names(wanted)}")
        foreign = [f for f in entered if f.variant and not cell.mask.closed.issuperset(f.variant.requires)]
        if foreign:
            return Failure(vd.WRONG_VARIANT, f"{_names(f.name for f in foreign)} needs more than the mask {cell.mask}")
        return None

    _run_jobs(bench, _Collector(result), _jobs(bench, cell.tier, bench.bind_dispatch, result), check)


def _length(job: _Job) -> int:
    """Bytes of the input that steers the dispatcher: the one that is split, else the last call's."""
    roles = [job.interface.calls[step.call].length_role for step in reversed(job.operation.steps)]
    value = next((job.case.inputs[role] for role in (job.operation.split_role, *roles) if role), b"")
    assert isinstance(value, bytes)
    return len(value)


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


def _run_dispatch(bench: Bench, result: CellResult, expectation: tuple[Row, ...]) -> None:
    """For every call and length class: what CHOOSE says and what a run enters, against the hand-typed expectation."""
    target, mask = bench.built.target, bench.cell.mask.closed
    collector = _Collector(result)

    def expected(interface: Interface, call: str, length: int) -> str:
        length = length if interface.calls[call].length_role else 0
        return expected_variant(expectation, interface.algorithm, call, target.arch, target.assembly, mask, length)

    def check(job: _Job, reply: pr.RunReply) -> Failure | None:
        algorithm = job.interface.algorithm
        wanted = {
            f"{algorithm}.{step.call}.{expected(job.interface, step.call, _length(job))}"
            for step in job.operation.steps
        }
        functions = (bench.built.functions[index] for index in reply.entered)
        own = {f.name for f in functions if f.variant and f.interface is job.interface}
        if own != wanted:
            return Failure(vd.WRONG_VARIANT, f"{_length(job)} bytes entered {_names(own)}, expected {_names(wanted)}")
        return None

    jobs: list[_Job] = []
    for interface in bench.interfaces():
        for operation in interface.operations.values():
            binding = bench.bind_dispatch(interface, operation)
            if binding is None:
                continue
            cases = bench.cases(interface, operation, "full")
            for length in length_classes(operation, bench.variants(interface)):
                _compare_choices(bench, result, interface, operation, length, expected)
                job = _job_of_length(interface, operation, cases, binding, length)
                if job:
                    jobs.append(job)
                else:
                    text = f"{interface.algorithm}.{operation.name}: the corpus has no case of {length} bytes"
                    result.failures.append(Failure(vd.NOT_RUN, text))
    _run_jobs(bench, collector, iter(jobs), check)


def _compare_choices(
    bench: Bench,
    result: CellResult,
    interface: Interface,
    operation: Operation,
    length: int,
    expected: Callable[[Interface, str, int], str],
) -> None:
    for step in operation.steps:
        name = f"{interface.algorithm}.{step.call}"
        index = bench.built.function(name)
        assert index is not None, "the operation was bound"
        outcome = bench.guest.one(Op.CHOOSE, pr.encode_choose(index, length))
        if not isinstance(outcome, oc.Answer):
            result.failures.append(Failure(vd.PROTOCOL, f"CHOOSE {name}: {outcome}"))
            continue
        chosen = pr.decode_choose(outcome.payload)
        got = "nothing" if chosen == pr.NOTHING else bench.built.functions[chosen].name
        wanted = f"{name}.{expected(interface, step.call, length)}"
        if got != wanted:
            text = f"with mask {bench.cell.mask} and {length} bytes the dispatcher takes {got}, expected {wanted}"
            result.failures.append(Failure(vd.WRONG_VARIANT, text))


def _job_of_length(
    interface: Interface, operation: Operation, cases: list[Case], binding: Binding, length: int
) -> _Job | None:
    for case in cases:
        if not case.skip:
            job = _Job(interface, operation, case, QUICK[0], make_run(interface, operation, case, binding, QUICK[0]))
            if _length(job) == length:
                return job
    return None


def _run_trap(bench: Bench, result: CellResult, _expectation: tuple[Row, ...]) -> None:
    """Without one of its capabilities the variant must die of SIGILL inside its own file, on each of its operations."""
    cell = bench.cell
    symbols = bench.session.symbols(cell)
    own = bench.session.own_functions(cell)
    collector = _Collector(result)
    for interface in bench.interfaces():
        for operation in interface.operations.values():
            binding = bench.bind_variant(interface, operation)
            if binding is None:
                continue
            cases = [case for case in bench.cases(interface, operation, "boundary") if not case.skip]
            case = max(cases, key=lambda case: sum(len(v) for v in case.inputs.values() if isinstance(v, bytes)))
            job = _Job(interface, operation, case, QUICK[0], make_run(interface, operation, case, binding, QUICK[0]))
            outcome = bench.guest.one(Op.RUN, job.run.payload)
            collector.result.runs += 1
            collector.result.cases += 1
            collector.add(_not_trapped(cell, job, outcome, symbols, own), job)


def _not_trapped(cell: Cell, job: _Job, outcome: oc.Outcome, symbols: Symbols, own: frozenset[str]) -> Failure | None:
    if isinstance(outcome, oc.Crashed) and signal_name(outcome.signal.number) == "SIGILL":
        located = symbols.locate(outcome.signal.pc)
        if located and located[0] in own:
            return None
        failure = describe_crash(job.run, outcome.signal, symbols)
        return Failure(
            vd.NOT_TRAPPED, f"trapped outside the variant's file: {failure.summary}", details=failure.details
        )
    if isinstance(outcome, oc.Answer):
        text = f"ran to its end on a CPU without {cell.lost}: the header asks for more than the code needs"
        return Failure(vd.NOT_TRAPPED, text)
    failure_or_none = judge(job.operation, job.case, job.run, outcome, symbols)
    assert failure_or_none is not None
    return Failure(vd.NOT_TRAPPED, f"SIGILL expected: {failure_or_none.summary}", details=failure_or_none.details)


_KINDS: dict[str, Callable[[Bench, CellResult, tuple[Row, ...]], None]] = {
    "variant": _run_variant,
    "mask": _run_mask,
    "dispatch": _run_dispatch,
    "trap": _run_trap,
}
