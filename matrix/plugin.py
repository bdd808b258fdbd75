"""pytest glue only: options, parametrization, scheduling, reports."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from matrix.errors import EngineError, MatrixError, SelectionError, StoreError
from matrix.model.plan import KINDS, REASONS, Cell
from matrix.model.selection import CPU_HELP, FILTERS, Selection
from matrix.model.target import EVERY_PROFILE
from matrix.report.costs import load_costs
from matrix.report.failures import failure_lines, forget_failures, keep_failures
from matrix.report.header import run_header
from matrix.report.journal import journal_path
from matrix.report.recorder import Recorder
from matrix.reporter import KEY as _KEY
from matrix.reporter import OUTSIDE, Reporter
from matrix.resources import conformance_root
from matrix.run.cells import run_cell
from matrix.run.session import Session, Settings
from matrix.run.state import RunState, controller_state, worker_state
from matrix.run.verdict import CellResult
from matrix.scheduling import CellScheduling

_STATE = pytest.StashKey[RunState]()
_RECORDER = pytest.StashKey[Recorder]()
_SESSION = pytest.StashKey[Session]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the matrix."""
    group = parser.getgroup("capmatrix", "conformance test matrix")
    profiles = "build and run the targets this way too (`all`: every way)"
    for name, text in {"target": "run this target", **FILTERS, "profile": profiles}.items():
        group.addoption(f"--{name}", action="append", default=[], metavar="NAME", help=f"{text}; repeatable")
    group.addoption("--cpu", default="", metavar="STRING", help=CPU_HELP)
    group.addoption("--shard", default="", metavar="I/N", help="run part I of N")
    sandbox = os.environ.get("CAPMATRIX_SANDBOX", "auto")
    group.addoption("--sandbox", default=sandbox, choices=("auto", "docker", "host"), help="where to build and run")
    group.addoption(
        "--placements",
        default="quick",
        choices=("quick", "full"),
        help="quick: two for every case; full: all, with offsets, in place, cut into pieces",
    )
    group.addoption("--seed", type=int, default=1, help="seed of the random cases")
    group.addoption("--exhaustive", action="store_true", help="run the full corpus everywhere")
    group.addoption("--journal", default="", metavar="FILE", help="where the journal goes, if not to .capmatrix/")


def _worker_input(config: pytest.Config) -> dict[str, Any] | None:
    """What the controller handed to this xdist worker, None in a controller."""
    return getattr(config, "workerinput", None)


def _wants_cells(config: pytest.Config) -> bool:
    """Whether this run may collect conformance tests; the plan and its probes are made for no other run."""
    root = conformance_root()
    start = Path(config.invocation_params.dir)
    paths = [(start / argument.split("::")[0]).resolve() for argument in config.args]
    return any(path == root or root in path.parents or path in root.parents for path in paths)


def pytest_configure(config: pytest.Config) -> None:
    """Make the plan: the controller probes, workers take over what it found."""
    handed = _worker_input(config)
    if (_KEY not in handed) if handed is not None else not _wants_cells(config):
        return
    option = config.getoption
    wanted = Selection(
        targets=tuple(option("target")),
        providers=tuple(option("provider")),
        enforcements=tuple(option("enforcement")),
        masks=tuple(option("mask")),
        algorithms=tuple(option("algorithm")),
        variants=tuple(option("variant")),
        cpu=option("cpu"),
        shard=option("shard"),
        profiles=tuple(option("profile")) or ((EVERY_PROFILE,) if option("exhaustive") else ()),
    )
    settings = Settings(option("seed"), option("exhaustive"), option("placements"))
    try:
        if handed is not None:
            config.stash[_STATE] = worker_state(wanted, settings, handed[_KEY])
            return
        # What was recorded differs between machines, and after each shard: shards are cut by guesses, or they would not
        # add up to the whole.
        costs = {} if wanted.shard else load_costs()
        state = controller_state(wanted, settings, option("sandbox"), costs, option("collectonly"))
        if not state.selected:
            step = "`python -m matrix list TARGET` prints the cells that there are; leave out or correct a filter"
            raise SelectionError("no cell is selected", why="the filters leave nothing of the plan", step=step)
        recorder = None if option("collectonly") else _recorder(config, state)
    except MatrixError as problem:
        pytest.exit(str(problem), returncode=problem.exit_code)
    config.stash[_STATE] = state
    if recorder:
        config.stash[_RECORDER] = recorder
        config.pluginmanager.register(Reporter(config.stash[_RECORDER], config), "capmatrix-reporter")


def _recorder(config: pytest.Config, state: RunState) -> Recorder:
    header = run_header(state, config.invocation_params.args)
    path = journal_path(config.invocation_params.dir, config.getoption("journal"), state.wanted.shard)
    return Recorder(path, state.selected, header)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hand the controller's plan to an xdist worker."""
    if _STATE in node.config.stash:
        node.workerinput[_KEY] = node.config.stash[_STATE].handover()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> CellScheduling | None:
    """Schedule cells by guest."""
    if _STATE not in config.stash:
        return None
    state = config.stash[_STATE]
    return CellScheduling(config, log, state.selected, state.costs)


def pytest_pycollect_makeitem(collector: pytest.Collector, name: str) -> list[pytest.Item] | None:
    """A kind with no selected cell has no node at all: pytest would count a place-holder."""
    kind = name.removeprefix("test_")
    is_ours = name.startswith("test_") and kind in KINDS and conformance_root() in collector.path.parents
    return [] if is_ours and _STATE in collector.config.stash and not _cells(collector.config, kind) else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One node per selected cell of the test's kind."""
    kind = metafunc.function.__name__.removeprefix("test_")
    if "cell" in metafunc.fixturenames and kind in KINDS and _STATE in metafunc.config.stash:
        cells = _cells(metafunc.config, kind)
        metafunc.parametrize("cell", cells, ids=[cell.id for cell in cells])


def _cells(config: pytest.Config, kind: str) -> list[Cell]:
    return [cell for cell in config.stash[_STATE].selected if cell.kind == kind]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Bring the cells of one guest together."""
    if _STATE not in config.stash:
        return
    order = {cell.guest: position for position, cell in enumerate(reversed(config.stash[_STATE].selected))}

    def place(item: pytest.Item) -> int:
        cell = _cell_of(item)
        return -order.get(cell.guest, 0) if cell else 0

    items.sort(key=place)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """End this process's guest and say how many there were."""
    config = session.config
    if _SESSION not in config.stash:
        return
    own = config.stash[_SESSION]
    own.close()
    if _RECORDER in config.stash:
        config.stash[_RECORDER].process_ended(own.counts.as_json())
    else:
        config.workeroutput[_KEY] = own.counts.as_json()  # type: ignore[attr-defined]  # xdist adds it


@pytest.hookimpl(tryfirst=True)
def pytest_keyboard_interrupt(excinfo: pytest.ExceptionInfo[BaseException]) -> None:
    """Leave out of the traceback what has no line.

    Ctrl-C may come at an instruction that belongs to no line (CPython's ``co_lines``); pytest's own report of it would
    end in a TypeError, and the run with 1 instead of 2.
    """
    excinfo.traceback = excinfo.traceback.filter(_has_line)


def _has_line(entry: Any) -> bool:
    try:
        return bool(entry.lineno >= 0)
    except TypeError:
        return False


def _cell_of(item: pytest.Item) -> Cell | None:
    callspec = getattr(item, "callspec", None)
    cell = callspec.params.get("cell") if callspec else None
    return cell if isinstance(cell, Cell) else None


@pytest.fixture
def check_cell(request: pytest.FixtureRequest) -> Callable[[Cell], None]:
    """Run one cell in this process's session, report its result, and fail the test when the cell fails."""
    config = request.config
    node = request.node

    def check(cell: Cell) -> None:
        if cell.reason:
            pytest.skip(f"{cell.reason}: {REASONS[cell.reason]} ({cell.detail})")
        if _SESSION not in config.stash:
            config.stash[_SESSION] = config.stash[_STATE].session()
        session = config.stash[_SESSION]
        result: CellResult | MatrixError
        try:
            forget_failures(config.invocation_params.dir, cell)
            result = run_cell(session, cell, config.stash[_STATE].expectation)
        except MatrixError as problem:
            result = problem
        if isinstance(result, MatrixError):
            if isinstance(result, EngineError | StoreError):
                request.session.shouldstop = str(result)  # no later cell can run either: they count as not run
            node.user_properties.append((OUTSIDE, result.exit_code))
            pytest.fail(str(result), pytrace=False)
        told = keep_failures(config.invocation_params.dir, session, cell, result)
        node.user_properties.append((_KEY, told))
        if result.failures:
            pytest.fail("\n".join(_lines(told)), pytrace=False)

    return check


def _lines(result: dict[str, Any]) -> Iterator[str]:
    for failure in result["failures"]:
        place = f" (case {failure['case']}, placement {failure['placement']})" if failure["case"] else ""
        yield f"{result['id']}{place}"
        yield from (f"  {line}" for line in failure_lines(failure))
    if result["stopped"]:
        yield f"{result['id']}: {result['stopped']}"
