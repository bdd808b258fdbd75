"""Check ``trap``: a variant on a CPU that lost one capability that it requires must die of SIGILL in its own file."""

from collections.abc import Iterator
from dataclasses import replace

from matrix.cases.layout import Layout
from matrix.cases.placement import QUICK
from matrix.model.instructions import InstructionTable
from matrix.model.kernel import Variant
from matrix.model.mask import Mask
from matrix.plan.cell import Cell, Enforcement
from matrix.plan.planner import Planner
from matrix.run import verdict as vd
from matrix.run.jobs import whole_job
from matrix.run.judge import describe_crash, judge
from matrix.run.plausible import plausible
from matrix.run.session import Bench
from matrix.run.stream import Collector, Job, subject
from matrix.run.symbols import Symbols
from matrix.run.verdict import CellResult, Failure
from matrix.worker import outcome as oc
from matrix.worker.protocol import Op


class TrapCheck:
    """Without one of its capabilities the variant must die of SIGILL inside its own file, on each of its operations."""

    name = "trap"
    guess = 0.2
    what = "runs this variant by name on a CPU that lacks {lost}: it must die of SIGILL inside its own file"
    ends_guests = True
    takes_one_case = False

    def column(self, _cell: Cell) -> str:
        """All in one."""
        return "trap"

    def cells(self, planner: Planner) -> Iterator[Cell]:
        """One cell per variant and capability that it requires and whose loss shows; sanitizers look at what runs."""
        if planner.target.sanitize:
            return
        instructions = planner.catalog.instructions[planner.target.arch]
        for variant in planner.variants:
            for lost in trapping(variant, instructions):
                closed = planner.table.without(planner.table.closure(variant.requires), lost)
                mask = Mask(planner.table.sorted(closed & set(planner.lattice)), closed)
                cell = planner.cell(Enforcement.HARD, mask, variant.algorithm, variant.name)
                yield planner.placed(replace(cell, lost=lost))

    def run(self, bench: Bench, result: CellResult) -> None:
        """One case of each operation, on the CPU without the capability."""
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
                job = whole_job(subject(bench, interface, operation), layout, case)
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
        why = (
            "the header asks for more than the code needs, the case does not reach such an instruction, or it is one "
            "that does not trap (`traps = false` in kernels/instructions.toml)"
        )
        return Failure(vd.NOT_TRAPPED, f"ran to its end on a CPU without {cell.lost}: {why}")
    other = judge(job.subject.operation, job.case, job.run, outcome, symbols)
    assert other is not None, "what is no answer is a failure"
    return Failure(vd.NOT_TRAPPED, f"SIGILL expected: {other.summary}", details=other.details)


def trapping(variant: Variant, instructions: InstructionTable) -> tuple[str, ...]:
    """The capabilities that ``variant`` requires and whose loss can raise SIGILL: each has a trap cell."""
    table = instructions.capabilities
    closed = table.closure(variant.requires)
    return tuple(lost for lost in variant.requires if not instructions.silent(closed, table.without(closed, lost)))


def why_no_trap(variant: Variant, instructions: InstructionTable) -> str:
    """Why ``variant`` lacks trap cells; empty when the plan has one for each capability that it requires."""
    table = instructions.capabilities
    if variant.requires:
        shown = trapping(variant, instructions)
        silent = " ".join(name for name in variant.requires if name not in shown)
        return silent and f"none takes {silent} away: a CPU without it raises no SIGILL but does something else"
    why = "no capability is required, so there is no CPU to trap on"
    unrefused = [row.name for row in table.rows if not (row.flags or row.march or row.gas)]
    if variant.assembly and unrefused:
        names = " ".join(unrefused)
        why += f"; the assembler accepts instructions of {names} unasked, so nothing shows whether they are used"
    return why


CHECK = TrapCheck()
