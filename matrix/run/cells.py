"""Run one cell of each kind: by name, through the dispatcher, what the dispatcher takes, and what must trap."""

import time
from collections.abc import Callable, Iterable, Iterator

from matrix.build.prototypes import Function
from matrix.cases.case import Case, Chain
from matrix.cases.chain import layout_of
from matrix.cases.layout import Binding, Layout
from matrix.cases.placement import QUICK
from matrix.errors import GuestError
from matrix.model.choice import choose, chosen_for
from matrix.model.interface import Interface, Operation
from matrix.model.plan import Cell
from matrix.run import verdict as vd
from matrix.run.expectation import FILE, Row, expected_variant
from matrix.run.judge import describe_crash, judge
from matrix.run.plausible import plausible, unknown_function
from matrix.run.session import Bench, Session
from matrix.run.stream import Collector, Job, Subject, run_jobs, subject
from matrix.run.symbols import Symbols
from matrix.run.verdict import CellResult, Failure
from matrix.run.wiping import check_wiping
from matrix.worker import outcome as oc
from matrix.worker import protocol as pr
from matrix.worker.protocol import Op


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
        Failure(vd.BUILD, f"{name} does not build: {_first_error(log)}", details={"log": log, "file": name})
        for name, log in built.failed.items()
        if name in needed
    ]


def _first_error(log: str) -> str:
    """The line that says the error; source that is shown with a warning above it may have the word in it too."""
    lines = log.splitlines()
    said = [line for word in ("rror: ", "rror") for line in lines if word in line]
    return next(iter([*said, *lines]), "no message")


def _jobs(bench: Bench, bind: Callable[[Interface, Operation], Binding | None], result: CellResult) -> Iterator[Job]:
    """The cases of the cell's operations, each in its placements, in corpus order."""
    for interface in bench.interfaces():
        for operation in interface.operations.values():
            binding = bind(interface, operation)
            if binding is None:
                continue
            about = subject(bench, interface, operation)
            layouts: dict[tuple[str, Chain | None], Layout] = {}
            placements = bench.placements(interface, operation, binding)
            for turn, case in enumerate(bench.cases(interface, operation, bench.tier)):
                if case.skip:
                    result.skipped_cases[case.skip] = result.skipped_cases.get(case.skip, 0) + 1
                    continue
                for placement in placements.of(case, turn):
                    key = (placement.name, case.chain)
                    layout = layouts.get(key)
                    if layout is None:
                        bound = bench.rebind(binding, interface, operation, placement)
                        layout = layouts[key] = layout_of(interface, operation, bound, placement, case.chain)
                    run = layout.run(case)
                    if run is not None:
                        yield Job(about, case, placement, run)


def _run_variant(bench: Bench, result: CellResult, _expectation: tuple[Row, ...]) -> None:
    """By name: the variant's own functions must be entered (compositions enter others too)."""
    cell = bench.cell

    def check(about: Subject, _length: int, entered: dict[int, int], _whole: bool) -> Failure | None:
        functions = [bench.built.functions[index] for index in entered]
        if any(f.interface is about.interface and f.variant and f.variant.name == cell.variant for f in functions):
            return None
        return Failure(vd.WRONG_VARIANT, f"{cell.variant} was not entered, but {_names(f.name for f in functions)}")

    collector = Collector(result)
    run_jobs(bench, collector, _jobs(bench, bench.bind_variant, result), check)
    if not result.failures:
        check_wiping(bench, collector)
        collector.name_cases()


def _run_mask(bench: Bench, result: CellResult, _expectation: tuple[Row, ...]) -> None:
    """Through the dispatcher: exactly the variants that the mask and length give may be entered."""
    cell = bench.cell

    def check(about: Subject, length: int, entered: dict[int, int], whole: bool) -> Failure | None:
        algorithm = about.interface.algorithm
        functions = [bench.built.functions[index] for index in entered]
        foreign = [f.name for f in functions if f.variant and not cell.mask.closed.issuperset(f.variant.requires)]
        if foreign:
            return Failure(vd.WRONG_VARIANT, f"{_names(foreign)} needs more than the mask {cell.mask}")
        if not whole:
            return None  # each piece has a length of its own, and takes what that length gives
        chosen = chosen_for(about.operation, about.interface, bench.variants(about.interface), cell.mask.closed, length)
        wanted = {f"{algorithm}.{call}.{variant.name}" for call, variant in chosen if variant}
        own, inner = _own_and_inner(about, functions)
        if own != wanted:
            return Failure(vd.WRONG_VARIANT, f"entered {_names(own)}, planned {_names(wanted)}")
        planned = {name for f in inner for name in _planned(bench, about.interface, f.call.name)}
        if odd := [f.name for f in inner if f.name not in planned]:
            return Failure(vd.WRONG_VARIANT, f"entered {_names(odd)}, planned inside is {_names(planned)}")
        return None

    run_jobs(bench, Collector(result), _jobs(bench, bench.bind_dispatch, result), check)


def _own_and_inner(about: Subject, functions: list[Function]) -> tuple[set[str], list[Function]]:
    """Of the variants' functions of the operation's algorithm: the names of those that its steps call, and the others,
    which a composition of the algorithm's own calls (a hash of its compression function) has entered by dispatch."""
    mine = [f for f in functions if f.variant and f.interface is about.interface]
    calls = {step.call for step in about.operation.steps}
    return {f.name for f in mine if f.call.name in calls}, [f for f in mine if f.call.name not in calls]


def _planned(bench: Bench, interface: Interface, call: str) -> set[str]:
    """The variants' functions that the dispatcher may take for ``call`` at the cell's mask, at whatever length."""
    variants, mask = bench.variants(interface), bench.cell.mask.closed
    taken = {choose(variants, call, mask, bound) for bound in {0, *(v.min_bytes.get(call, 0) for v in variants)}}
    return {f"{interface.algorithm}.{call}.{variant.name}" for variant in taken if variant}


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


def _run_dispatch(bench: Bench, result: CellResult, expectation: tuple[Row, ...]) -> None:
    """For every call and length class: what CHOOSE says and what a run enters, against the hand-typed expectation."""
    target, mask = bench.built.target, bench.cell.mask.closed

    def expected(interface: Interface, call: str, length: int) -> str:
        length = length if interface.calls[call].length_role else 0
        return expected_variant(expectation, interface.algorithm, call, target.arch, target.assembly, mask, length)

    def check(about: Subject, length: int, entered: dict[int, int], _whole: bool) -> Failure | None:
        algorithm = about.interface.algorithm
        steps = about.operation.steps
        wanted = {f"{algorithm}.{step.call}.{expected(about.interface, step.call, length)}" for step in steps}
        own, _ = _own_and_inner(about, [bench.built.functions[index] for index in entered])
        if own != wanted:
            text = f"{length} bytes entered {_names(own)}, expected {_names(wanted)} by {FILE.name}"
            return Failure(vd.WRONG_VARIANT, text)
        return None

    jobs: list[Job] = []
    for interface in bench.interfaces():
        for operation in interface.operations.values():
            binding = bench.bind_dispatch(interface, operation)
            if binding is None:
                continue
            about = subject(bench, interface, operation)
            layout = Layout(interface, operation, binding, QUICK[0])
            cases = [case for case in bench.cases(interface, operation, "full") if case.plain and not case.skip]
            for length in about.classes:
                _compare_choices(bench, result, about, length, expected)
                case = next((case for case in cases if about.length(case) == length), None)
                if case:
                    jobs.append(_job(about, layout, case))
                elif about.length_role:
                    text = f"{interface.algorithm}.{operation.name}: the corpus has no case of {length} bytes"
                    result.failures.append(Failure(vd.NOT_RUN, text))
    run_jobs(bench, Collector(result), jobs, check)


def _job(about: Subject, layout: Layout, case: Case) -> Job:
    run = layout.run(case)
    assert run is not None, "a message in one piece can always be laid out"
    return Job(about, case, layout.placement, run)


def _compare_choices(
    bench: Bench,
    result: CellResult,
    about: Subject,
    length: int,
    expected: Callable[[Interface, str, int], str],
) -> None:
    for step in about.operation.steps:
        name = f"{about.interface.algorithm}.{step.call}"
        index = bench.built.function(name)
        assert index is not None, "the operation was bound"
        outcome = bench.guest.one(Op.CHOOSE, pr.encode_choose(index, length))
        if not isinstance(outcome, oc.Answer):
            result.failures.append(Failure(vd.PROTOCOL, f"CHOOSE {name}: {oc.describe(outcome)}"))
            continue
        try:
            chosen = pr.decode_choose(outcome.payload)
        except GuestError as problem:
            result.failures.append(Failure(vd.PROTOCOL, f"CHOOSE {name}: {problem.what}: {problem.why}"))
            continue
        functions = len(bench.built.functions)
        if chosen != pr.NOTHING and (why := unknown_function([chosen], functions)):
            result.failures.append(Failure(vd.PROTOCOL, f"CHOOSE {name}: the guest wrote garbage: {why}"))
            continue
        got = "nothing" if chosen == pr.NOTHING else bench.built.functions[chosen].name
        wanted = f"{name}.{expected(about.interface, step.call, length)}"
        if got != wanted:
            text = f"with mask {bench.cell.mask} and {length} bytes the dispatcher takes {got}, expected {wanted}"
            result.failures.append(Failure(vd.WRONG_VARIANT, f"{text} by {FILE.name}"))


def _run_trap(bench: Bench, result: CellResult, _expectation: tuple[Row, ...]) -> None:
    """Without one of its capabilities the variant must die of SIGILL inside its own file, on each of its operations."""
    cell = bench.cell
    symbols = bench.session.symbols(cell)
    own = bench.session.own_functions(cell)
    collector = Collector(result)
    for interface in bench.interfaces():
        for operation in interface.operations.values():
            binding = bench.bind_variant(interface, operation)
            if binding is None:
                continue
            cases = [case for case in bench.cases(interface, operation, "boundary") if case.plain and not case.skip]
            case = max(cases, key=lambda case: sum(len(v) for v in case.inputs.values() if isinstance(v, bytes)))
            # Without the steps that another variant lends: that one would trap first.
            own_calls = next(v.provides for v in bench.variants(interface) if v.name == cell.variant)
            layout = Layout(interface, operation, binding, QUICK[0], own_calls)
            job = _job(subject(bench, interface, operation), layout, case)
            outcome = plausible(bench.guest.one(Op.RUN, job.run.payload), job.run)
            collector.add(_not_trapped(cell, job, outcome, symbols, own), job)
    collector.name_cases()


def _not_trapped(cell: Cell, job: Job, outcome: oc.Outcome, symbols: Symbols, own: frozenset[str]) -> Failure | None:
    if isinstance(outcome, oc.Crashed) and oc.signal_name(outcome.signal.number) == "SIGILL":
        located = symbols.locate(outcome.signal.pc)
        if located and located[0] in own:
            return None
        failure = describe_crash(job.run, outcome.signal, symbols)
        text = f"trapped outside the variant's file: {failure.summary}"
        return Failure(vd.NOT_TRAPPED, text, details=failure.details)
    if isinstance(outcome, oc.Answer):
        why = "the header asks for more than the code needs, or the case does not reach such an instruction"
        return Failure(vd.NOT_TRAPPED, f"ran to its end on a CPU without {cell.lost}: {why}")
    other = judge(job.subject.operation, job.case, job.run, outcome, symbols)
    assert other is not None, "what is no answer is a failure"
    return Failure(vd.NOT_TRAPPED, f"SIGILL expected: {other.summary}", details=other.details)


_KINDS: dict[str, Callable[[Bench, CellResult, tuple[Row, ...]], None]] = {
    "variant": _run_variant,
    "mask": _run_mask,
    "dispatch": _run_dispatch,
    "trap": _run_trap,
}
