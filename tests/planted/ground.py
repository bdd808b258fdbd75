"""Where cells of planted or sound sources are run: in this process, on the real QEMU of a sandbox."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from matrix.cases.case import Case
from matrix.cases.placement import QUICK
from matrix.checks import every_cell, probed
from matrix.errors import MatrixError
from matrix.model.catalog import every_profile, load_catalog
from matrix.plan.cell import COMPILER_MISSING, HOST_LACKS, Cell
from matrix.plan.plan import find
from matrix.report.failures import failure_record, write_failure
from matrix.run.repro import read_failure, run_again
from matrix.run.runner import run_cell
from matrix.run.session import Session, Settings
from matrix.run.verdict import NOT_RUN, CellResult, Failure
from matrix.sandbox.base import Sandbox
from matrix.sandbox.locks import cache_root

from .plants import PlantError


class Ground:
    """One source tree and one target, or TARGET@PROFILE, in one sandbox: runs cells and remembers what became of them.

    ``placements`` is ``quick`` or ``full``; ``case`` is the only one that is run, of the exhaustive corpus, '' for all;
    ``deadline`` is in seconds per request, 0 for the usual one.
    """

    def __init__(
        self, sandbox: Sandbox, root: Path, target: str, placements: str, case: str, deadline: float = 0
    ) -> None:
        settings = Settings(placements=placements, exhaustive=bool(case))
        self._case = case
        if deadline:
            settings = replace(settings, deadline=deadline)
        catalog = every_profile(load_catalog(root))
        catalog = replace(catalog, targets=catalog.targets.only([target]))
        abilities = probed(sandbox, catalog, [catalog.targets.get(target)])
        self._cells = [cell for cell in every_cell(catalog, abilities) if cell.target == target]
        self._session = Session(catalog, sandbox, settings, cache_root() / "corpora")
        self._results: dict[str, CellResult] = {}

    def close(self) -> None:
        """End the guest; the next cell starts another. One that gets signals is busy even when it has no work."""
        self._session.close()

    def has(self, cell_id: str) -> bool:
        """Whether the plan of these sources has the cell."""
        return find(self._cells, cell_id) is not None

    def lacking(self, cell_ids: Iterable[str]) -> str:
        """The reason why the plan skips one of the cells on this machine: it lacks the compiler of their profile, or a
        capability of the CPU; '' when it skips none for that."""
        found = [find(self._cells, cell_id) for cell_id in cell_ids]
        reasons = [cell.reason for cell in found if cell and cell.reason in (COMPILER_MISSING, HOST_LACKS)]
        return reasons[0] if reasons else ""

    def cell(self, cell_id: str) -> Cell:
        """The cell. Raises PlantError when the plan lacks it or skips it."""
        cell = find(self._cells, cell_id)
        if cell is None:
            raise PlantError(f"the plan has no cell {cell_id}")
        if cell.reason:
            raise PlantError(f"the plan skips {cell_id}: {cell.reason} ({cell.detail})")
        return cell

    def run(self, cell_id: str) -> CellResult:
        """What becomes of the cell; an error outside of it is its failure, as in a run under pytest."""
        if cell_id not in self._results:
            cell = self.cell(cell_id)
            try:
                result = run_cell(self._session, cell, self._only(cell))
            except MatrixError as problem:
                result = CellResult(cell_id, failures=[Failure(NOT_RUN, str(problem))])
            self._results[cell_id] = result
        return self._results[cell_id]

    def _only(self, cell: Cell) -> tuple[Case, str] | None:
        if not self._case:
            return None
        corpus = self._session.corpus(cell.provider, cell.algorithm)
        case = next((case for case in corpus.cases if case.name == self._case), None)
        if case is None:
            raise PlantError(f"{cell.algorithm} has no case {self._case}")
        return case, QUICK[0].name

    def record(self, cell_id: str, failure: Failure, folder: Path) -> Path:
        """Write the failure file of ``failure`` below ``folder`` and return its path."""
        settings = self._session.settings.recorded()
        facts = {**self.run(cell_id).facts, "sandbox": self._session.sandbox.name}
        cell = self.cell(cell_id)
        return folder / write_failure(
            folder, cell, failure, failure_record(cell, failure, failure.input, facts, settings)
        )

    def again(self, file: Path) -> CellResult:
        """Run the failure of ``file`` again on these sources."""
        recorded = read_failure(file)
        try:
            return run_again(self._session, recorded)
        except MatrixError as problem:
            return CellResult(recorded.cell_id, failures=[Failure(NOT_RUN, str(problem))])
