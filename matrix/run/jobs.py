"""The work of a cell as jobs: each case of its operations in each of its placements."""

from collections.abc import Callable, Iterator

from matrix.cases.case import Case, Chain
from matrix.cases.chain import layout_of
from matrix.cases.layout import Binding, Layout
from matrix.model.interface import Interface, Operation
from matrix.run.session import Bench
from matrix.run.stream import Job, Subject, subject
from matrix.run.verdict import CellResult


def jobs(bench: Bench, bind: Callable[[Interface, Operation], Binding | None], result: CellResult) -> Iterator[Job]:
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


def whole_job(about: Subject, layout: Layout, case: Case) -> Job:
    """``case`` in one piece, as the layout places it."""
    run = layout.run(case)
    assert run is not None, "a message in one piece can always be laid out"
    return Job(about, case, layout.placement, run)
