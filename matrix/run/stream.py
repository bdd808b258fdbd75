"""Send many cases through a guest and judge every answer; the whole run of a cell is one stream."""

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from matrix.cases.case import Case
from matrix.cases.entry import describe_entry
from matrix.cases.layout import Run
from matrix.cases.material import clip
from matrix.cases.placement import Placement
from matrix.model.choice import length_classes
from matrix.model.interface import Interface, Operation
from matrix.run.confirm import confirm, tape_failure
from matrix.run.judge import judge
from matrix.run.naming import describe_inputs, name_functions, told_entered
from matrix.run.plausible import plausible, unknown_function
from matrix.run.session import Bench
from matrix.run.verdict import PROTOCOL, VIOLATION, CellResult, Failure
from matrix.worker import outcome as oc
from matrix.worker.protocol import Op, entered_bytes, read_entered
from matrix.worker.window import Request

MOST_FAILURES = 5
"""A cell stops after so many failures: more of them say little."""
MOST_SLOW = 3
"""And after so many that took seconds each. One case that hangs, in its two placements, does not cost the others."""

CheckEntered = Callable[["Subject", int, dict[int, int], bool], Failure | None]
"""Judges which functions were entered: (subject, bytes of the message, {function index: count}, in one piece)."""


@dataclass(frozen=True, eq=False)
class Subject:
    """One operation on one worker: what is the same for all of its cases."""

    interface: Interface
    operation: Operation
    classes: tuple[int, ...]
    length_role: str

    def length(self, case: Case) -> int:
        """Bytes of the input that steers the dispatcher."""
        value = case.inputs[self.length_role] if self.length_role else b""
        assert isinstance(value, bytes)
        return len(value)


def subject(bench: Bench, interface: Interface, operation: Operation) -> Subject:
    """The subject of an operation; its length is that of the input that is split, else the last call's.

    Classes of lengths stand for themselves by a length that the operation allows.
    """
    roles = [interface.calls[step.call].length_role for step in reversed(operation.steps)]
    steering = (role for role in (operation.split_role, *roles) if role)
    # A length with fixed choices, as that of a key, steers nothing.
    role = next((role for role in steering if operation.inputs[role].minimum is not None), "")
    classes = length_classes(operation, bench.variants(interface))
    if role:
        size = operation.inputs[role]
        classes = tuple(sorted({clip(size, n) if size.minimum is not None else min(size.choices) for n in classes}))
    return Subject(interface, operation, classes, role)


@dataclass(frozen=True, slots=True)
class Job:
    """One case in one placement, on its way."""

    subject: Subject
    case: Case
    placement: Placement
    run: Run


@dataclass
class Collector:
    """Gathers what a cell's cases did."""

    result: CellResult
    slow: int = 0
    last_case: Case | None = None
    failed: list[tuple[Failure, Job]] = field(default_factory=list)

    def add(self, failure: Failure | None, job: Job) -> None:
        """Count a run, and take in its failure if there is one."""
        self.result.runs += 1
        if job.case is not self.last_case:
            self.last_case = job.case
            self.result.cases += 1
        if failure:
            operation = job.subject.operation.name
            failure.details |= {"operation": operation, "algorithm": job.case.algorithm, "origin": job.case.origin}
            failure.details["entry"] = describe_entry(job.run.layout.entry(job.case))
            self.result.failures.append(failure)
            self.failed.append((failure, job))
            self.slow += failure.slow

    def name_cases(self) -> None:
        """Say which case each failure is of: it can be run alone unless the failure needs the whole cell."""
        for failure, job in self.failed:
            if failure.needs_cell:
                failure.summary += f" (case {job.case.name}, placement {job.placement.name})"
            else:
                failure.input = failure.input or job.case
                failure.case, failure.placement = failure.input.name, job.placement.name
            if inputs := describe_inputs(job.subject.operation, failure.input or job.case):
                failure.summary += f"; {inputs}"

    @property
    def full(self) -> bool:
        """Whether the cell should stop."""
        return len(self.result.failures) >= MOST_FAILURES or self.slow >= MOST_SLOW


@dataclass
class _Entered:
    """What was entered, counted by the bytes that say so: the same few occur in all answers, and are judged once."""

    bench: Bench
    check: CheckEntered
    seen: Counter[bytes] = field(default_factory=Counter)
    right: set[tuple[Subject, int, bool, bytes]] = field(default_factory=set)

    def judge(self, job: Job, told: bytes) -> Failure | None:
        if told not in self.seen and (why := unknown_function(read_entered(told), len(self.bench.built.functions))):
            return Failure(PROTOCOL, f"the guest wrote garbage: {why}")
        self.seen[told] += 1
        length = job.subject.length(job.case)
        whole = job.placement.whole and not job.case.total
        key = (job.subject, bisect_right(job.subject.classes, length), whole, told)
        if key in self.right:
            return None
        failure = self.check(job.subject, length, read_entered(told), whole)
        if failure is None:
            self.right.add(key)
        return failure

    def totals(self) -> dict[str, int]:
        """{function: how often it was entered} over all answers."""
        counts: Counter[str] = Counter()
        for told, times in self.seen.items():
            for index, count in read_entered(told).items():
                counts[self.bench.built.functions[index].name] += count * times
        return dict(counts)


def run_jobs(bench: Bench, collector: Collector, jobs: Iterable[Job], check: CheckEntered) -> None:
    """Send ``jobs`` through the cell's guest, judge every answer, and stop when the collector is full."""
    jobs = iter(jobs)
    flying: deque[Job] = deque()
    symbols = bench.session.symbols(bench.cell)
    entered = _Entered(bench, check)

    def requests() -> Iterator[Request]:
        for job in jobs:
            flying.append(job)
            yield Request(Op.RUN, job.run.payload, job.case.seconds)

    outcomes = bench.guest.many(requests())
    for outcome in outcomes:
        job = flying.popleft()
        outcome = plausible(outcome, job.run)
        told = _told_when_right(outcome, job.run)
        if told is None:
            failure = judge(job.subject.operation, job.case, job.run, outcome, symbols, bench.cpu_words)
            if failure is None and job.case.chain:
                failure = tape_failure(job.case, job.run, outcome)
            if failure:
                name_functions(bench, job.subject.operation, job.run, outcome, failure)
            elif isinstance(outcome, oc.Answer):
                told = told_entered(outcome, job.run)
        else:
            failure = None
        if told is not None:
            failure = entered.judge(job, told)
        collector.add(failure, job)
        if collector.full:
            break
    outcomes.close()
    if strays := bench.guest.strays():
        text = f"the guest has started {strays} process{'es' if strays > 1 else ''} that did not end"
        collector.result.failures.append(Failure(VIOLATION, text, details={"check": oc.PROCESS}))
    if collector.full:
        collector.result.stopped = _stopped(collector, [*flying, *jobs])
    confirm(bench, ((failure, job.subject.operation, job.case, job.run) for failure, job in collector.failed))
    collector.name_cases()
    collector.result.entered |= entered.totals()


def _stopped(collector: Collector, left: Iterable[Job]) -> str:
    """Why the cell stopped and what of it was not run; '' when nothing was left."""
    cases = {id(job.case) for job in left} - {id(collector.last_case)}
    if not cases:
        return ""
    failures = len(collector.result.failures)
    after = f"{collector.slow} timeouts" if collector.slow >= MOST_SLOW else f"{failures} failures"
    return f"stopped after {after}; {len(cases):,} case{'s' if len(cases) > 1 else ''} not run"


def _told_when_right(outcome: oc.Outcome, run: Run) -> bytes | None:
    """What was entered, when the answer is right to the last byte; None leaves the judgement to ``judge``."""
    if not isinstance(outcome, oc.Answer):
        return None
    expected = run.expected()
    if expected is None:
        return None
    told = entered_bytes(outcome.payload, run.steps, len(expected))
    return told if told is not None and outcome.payload.endswith(expected) else None
