"""Check ``dispatch``: what the dispatcher takes for every call and length class at every mask, against a hand-typed
table."""

from collections.abc import Callable, Iterator

from matrix.cases.layout import Layout
from matrix.cases.placement import QUICK
from matrix.errors import GuestError
from matrix.model.interface import Interface
from matrix.plan.cell import EMULATED, Cell
from matrix.plan.planner import Planner
from matrix.run import verdict as vd
from matrix.run.entered import names, own_and_inner
from matrix.run.expectation import FILE, expected_variant
from matrix.run.jobs import whole_job
from matrix.run.plausible import unknown_function
from matrix.run.session import Bench
from matrix.run.stream import Collector, Job, Subject, run_jobs, subject
from matrix.run.verdict import CellResult, Failure
from matrix.worker import outcome as oc
from matrix.worker import protocol as pr
from matrix.worker.protocol import Op

_BY = f"by {FILE} (type it there if the dispatcher was meant to change)"


class DispatchCheck:
    """For every call and length class: what CHOOSE says and what a run enters, against the hand-typed expectation."""

    name = "dispatch"
    guess = 0.1
    what = (
        "asks the dispatcher what it takes for every call and length class, runs one case of each class, and compares "
        "with tests/conformance/expected_dispatch.toml"
    )
    ends_guests = False
    takes_one_case = False

    def column(self, cell: Cell) -> str:
        """How the mask is told."""
        return f"{cell.enforcement} masks"

    def cells(self, planner: Planner) -> Iterator[Cell]:
        """One cell per mask and enforcement, for all algorithms; sanitizers look at variants by name alone."""
        if planner.target.sanitize:
            return
        for enforcement in EMULATED:
            for mask in planner.masks:
                yield planner.placed(planner.cell(enforcement, mask))

    def run(self, bench: Bench, result: CellResult) -> None:
        """Ask for every length class, and run a case of each."""
        target, mask = bench.built.target, bench.cell.mask.closed

        def expected(interface: Interface, call: str, length: int) -> str:
            length = length if interface.calls[call].length_role else 0
            return expected_variant(bench.session.expectation, interface.algorithm, call, target, mask, length)

        def check(about: Subject, length: int, entered: dict[int, int], _whole: bool) -> Failure | None:
            algorithm = about.interface.algorithm
            steps = about.operation.steps
            wanted = {f"{algorithm}.{step.call}.{expected(about.interface, step.call, length)}" for step in steps}
            own, _ = own_and_inner(about, [bench.built.functions[index] for index in entered])
            if own != wanted:
                text = f"{length} bytes entered {names(own)}, expected {names(wanted)} {_BY}"
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
                        jobs.append(whole_job(about, layout, case))
                    elif about.length_role:
                        text = f"{interface.algorithm}.{operation.name}: the corpus has no case of {length} bytes"
                        result.failures.append(Failure(vd.NOT_RUN, text))
        run_jobs(bench, Collector(result), jobs, check)


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
            result.failures.append(Failure(vd.WRONG_VARIANT, f"{text} {_BY}"))


CHECK = DispatchCheck()
