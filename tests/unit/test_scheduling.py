"""Chunks of cells: each cell in one, guests kept together, cost bounded; and xdist shares them out as one unit."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrix.checks import every_cell
from matrix.model.catalog import Catalog
from matrix.plan.cell import Cell
from matrix.plan.selection import cost
from matrix.scheduling import CellScheduling, cell_id, chunks

COSTS = st.lists(st.floats(0.001, 50), min_size=8, max_size=40)


def _costs(cells: tuple[Cell, ...], seconds: list[float]) -> dict[str, float]:
    return {cell.id: seconds[index % len(seconds)] for index, cell in enumerate(cells)}


@given(seconds=COSTS, workers=st.integers(1, 16))
def test_every_cell_is_in_one_chunk_of_its_guest_and_chunks_are_bounded(
    small: Catalog, seconds: list[float], workers: int
) -> None:
    cells = every_cell(small, None)
    costs = _costs(cells, seconds)
    found = chunks(cells, costs, workers)
    assert list(found) == [cell.id for cell in cells]
    by_chunk: dict[str, list[Cell]] = {}
    for cell in cells:
        by_chunk.setdefault(found[cell.id], []).append(cell)
    limit = sum(cost(cell, costs) for cell in cells) / (4 * workers)
    for members in by_chunk.values():
        assert len({cell.guest for cell in members}) == 1
        assert len(members) == 1 or sum(cost(cell, costs) for cell in members) <= limit * (1 + 1e-9)


@given(seconds=COSTS, workers=st.integers(1, 16))
def test_a_guest_is_not_cut_more_often_than_its_cost_asks(small: Catalog, seconds: list[float], workers: int) -> None:
    cells = every_cell(small, None)
    costs = _costs(cells, seconds)
    found = chunks(cells, costs, workers)
    limit = sum(cost(cell, costs) for cell in cells) / (4 * workers)
    for guest in {cell.guest for cell in cells}:
        own = [cell for cell in cells if cell.guest == guest]
        runs = list(dict.fromkeys(found[cell.id] for cell in own))
        loads = [sum(cost(cell, costs) for cell in own if found[cell.id] == run) for run in runs]
        following = [next(cost(cell, costs) for cell in own if found[cell.id] == run) for run in runs[1:]]
        for load, price in zip(loads, following, strict=False):
            assert load + price > limit * (1 - 1e-9), "the next cell would have fitted"


def test_no_cells_are_no_chunks() -> None:
    assert chunks([], {}, 4) == {}


@pytest.mark.parametrize(
    ("nodeid", "name"),
    [
        ("tests/conformance/test_cells.py::test_cell[x64/hard/none/hash]", "x64/hard/none/hash"),
        ("tests\\conformance\\test_cells.py::test_cell[x64/hard/none/hash-c]", "x64/hard/none/hash-c"),
        ("../lib/matrix/data/tests/conformance/test_cells.py::test_cell[a/b/c/d:e-f]", "a/b/c/d:e-f"),
        ("test_cells.py::test_cell[x64/hard/ssse3+avx2/dispatch]", "x64/hard/ssse3+avx2/dispatch"),
        ("tests/conformance/test_cells.py::test_cell", ""),
        ("tests/unit/test_cells.py::test_cell[x64/hard/none/hash]", ""),
        ("tests/unit/test_plan.py::test_tests_conformance_[a]", ""),
        ("test_other.py::test_mask[a]", ""),
        ("mytests/conformance/test_cells.py::test_cell[a]", ""),
    ],
)
def test_cell_ids_in_node_ids(nodeid: str, name: str) -> None:
    assert cell_id(nodeid) == name


class Node:
    """An xdist worker as the scheduler sees it: takes indices, may be told to shut down."""

    def __init__(self, number: int) -> None:
        self.gateway = SimpleNamespace(id=f"gw{number}")
        self.shutting_down = False
        self.sent: list[list[int]] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        self.sent.append(indices)

    def shutdown(self) -> None:
        self.shutting_down = True


class Config:
    """The options that xdist's scheduler reads."""

    def __init__(self, nodes: int) -> None:
        self.option = SimpleNamespace(loadscopereorder=True)
        self._tx = ["popen"] * nodes

    def getvalue(self, name: str) -> list[str]:
        assert name == "tx"
        return self._tx

    getoption = getvalue


def _log() -> Any:
    def log(*_: object) -> None:
        pass

    return SimpleNamespace(loadscopesched=log)


def _scheduling(cells: tuple[Cell, ...], nodes: list[Node], more: list[str]) -> tuple[CellScheduling, list[str]]:
    config: Any = Config(len(nodes))
    scheduling = CellScheduling(config, _log(), cells, {})
    collection = [f"tests/conformance/test_cells.py::test_cell[{cell.id}]" for cell in cells] + more
    for node in nodes:
        scheduling.add_node(node)
    for node in nodes:
        scheduling.add_node_collection(node, collection)
    scheduling.schedule()
    return scheduling, collection


def test_xdist_sends_each_chunk_whole_to_one_worker(small: Catalog) -> None:
    cells = every_cell(small, None)
    nodes = [Node(0), Node(1)]
    other = ["tests/unit/test_x.py::test_a", "tests/unit/test_x.py::test_b"]
    scheduling, collection = _scheduling(cells, nodes, other)
    done: dict[int, Node] = {}
    while scheduling.has_pending:
        for node in nodes:
            for index in [index for part in node.sent for index in part if index not in done]:
                done[index] = node
                scheduling.mark_test_complete(node, index)
    assert sorted(done) == list(range(len(collection)))
    expected = chunks(cells, {}, 2)
    sent = [[collection[index] for index in part] for node in nodes for part in node.sent]
    found = [[cell_id(nodeid) for nodeid in part] for part in sent if part != other]
    assert sorted(map(sorted, found)) == sorted(
        sorted(name for name, chunk in expected.items() if chunk == one) for one in set(expected.values())
    )
    assert other in sent, "what is no cell goes by its file, as xdist does it"
    assert all(node.sent for node in nodes)
    assert all(node.shutting_down for node in nodes)


def test_the_cell_of_a_dead_worker_is_not_run_again_and_the_others_are(small: Catalog) -> None:
    cells = every_cell(small, None)
    first, second = Node(0), Node(1)
    scheduling, collection = _scheduling(cells, [first, second], [])
    scheduling.mark_test_complete(first, first.sent[0][0])
    in_flight = [index for part in first.sent for index in part][1:]
    assert scheduling.remove_node(first) == collection[in_flight[0]]
    done: set[int] = set()
    while scheduling.has_pending:
        for index in [index for part in second.sent for index in part if index not in done]:
            done.add(index)
            scheduling.mark_test_complete(second, index)
    assert done == set(range(len(collection))) - {first.sent[0][0], in_flight[0]}


def test_an_idle_worker_may_leave(small: Catalog) -> None:
    cells = every_cell(small, None)
    nodes = [Node(number) for number in range(3)]
    scheduling, _ = _scheduling(cells[:1], nodes, [])
    idle = [node for node in nodes if not node.sent]
    assert len(idle) == 2
    assert all(node.shutting_down for node in idle)
    busy = next(node for node in nodes if node.sent)
    scheduling.mark_test_complete(busy, 0)
    assert scheduling.remove_node(busy) is None
