"""Run one cell: build its worker, tell its mask, and let its check do the rest."""

import time

from matrix.cases.case import Case
from matrix.checks import check_of
from matrix.plan.cell import Cell
from matrix.run import verdict as vd
from matrix.run.session import Bench, Session
from matrix.run.verdict import CellResult, Failure


def run_cell(session: Session, cell: Cell, only: tuple[Case, str] | None = None) -> CellResult:
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
            check_of(cell).run(bench, result)
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
    """The first line that says an error, and how many there are."""
    lines = log.splitlines()
    errors = [line for line in lines if "rror: " in line]
    more = f" (the first of {len(errors)} errors: repro prints them all)" if len(errors) > 1 else ""
    return next(iter([*errors, *(line for line in lines if "rror" in line), *lines]), "no message") + more
