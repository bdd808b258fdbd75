"""How pytest-xdist shares out cells: kept together by guest, cut into chunks by cost so that all cores have work."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from matrix.plan.cell import Cell
from matrix.plan.selection import cost
from matrix.resources import CELL_TEST

_CHUNKS_PER_WORKER = 4


def cell_id(nodeid: str) -> str:
    """The cell id in a pytest node id, or '' when it is no cell. Node ids begin at pytest's root folder, which is the
    conformance folder itself when neither it nor the current folder is below a pytest configuration."""
    name, bracket, rest = nodeid.partition("[")
    folder, _, file = name.partition("::")[0].replace("\\", "/").rpartition("/")
    is_cell = bracket and file == CELL_TEST.partition("::")[0] and f"/{folder}".endswith(("/tests/conformance", "/"))
    return rest.removesuffix("]") if is_cell else ""


def chunks(cells: Iterable[Cell], costs: Mapping[str, float], workers: int) -> dict[str, str]:
    """{cell id: chunk}: cells of one guest in order, a new chunk when one would cost more than a fair part of all."""
    cells = list(cells)
    limit = sum(cost(cell, costs) for cell in cells) / max(1, workers * _CHUNKS_PER_WORKER)
    result: dict[str, str] = {}
    spent: dict[tuple[str, str, str], tuple[int, float]] = {}
    for cell in cells:
        number, used = spent.get(cell.guest, (0, 0.0))
        price = cost(cell, costs)
        if used and used + price > limit:
            number, used = number + 1, 0.0
        spent[cell.guest] = (number, used + price)
        result[cell.id] = f"{'|'.join(cell.guest)}|{number}"
    return result


class CellScheduling(LoadScopeScheduling):
    """LoadScopeScheduling with chunks of cells as scopes; ``loadgroup`` does not group on pytest 9.2 (xdist 3.8)."""

    def __init__(self, config: pytest.Config, log: Any, cells: Iterable[Cell], costs: Mapping[str, float]) -> None:
        super().__init__(config, log)
        self._chunks = chunks(cells, costs, self.numnodes)

    def _split_scope(self, nodeid: str) -> str:
        return self._chunks.get(cell_id(nodeid)) or super()._split_scope(nodeid)

    def remove_node(self, node: Any) -> str | None:
        """As LoadScopeScheduling, but the cell at which an xdist worker died is not given to another one: it has its
        verdict, failed(not-run), and a cell that kills its process would kill the next one too."""
        workload: dict[str, dict[str, bool]] = self.assigned_work[node]
        running = [(scope, nodeid) for scope, unit in workload.items() for nodeid, ended in unit.items() if not ended]
        if not running:
            super().remove_node(node)
            return None
        scope, crashed = running[0]
        workload[scope][crashed] = True
        for ended in [name for name, unit in workload.items() if all(unit.values())]:
            del workload[ended]
        super().remove_node(node)
        return crashed
