"""pytest glue only: options, parametrization, scheduling, reports."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from matrix.environment import allow_enough_files, check_environment
from matrix.errors import NOTHING_RAN, EngineError, MatrixError, SelectionError, StoreError
from matrix.options import add_options, add_short_names, option, settings, wanted_cells
from matrix.plan.cell import REASONS, Cell
from matrix.report.costs import load_costs
from matrix.report.failures import failure_lines, forget_failures, keep_failures
from matrix.report.header import run_header
from matrix.report.journal import journal_path
from matrix.report.recorder import Recorder
from matrix.reporter import KEY as _KEY
from matrix.reporter import OUTSIDE, Reporter
from matrix.resources import CELL_TEST, conformance_root
from matrix.run.runner import run_cell
from matrix.run.session import Session
from matrix.run.state import RunState, controller_state, worker_state
from matrix.run.verdict import CellResult
from matrix.scheduling import CellScheduling
from matrix.stopping import Stopping, leave_ending_to_the_controller

_STATE = pytest.StashKey[RunState]()
_RECORDER = pytest.StashKey[Recorder]()
_SESSION = pytest.StashKey[Session]()
_STOPPING = pytest.StashKey[Stopping]()
_ATTEMPTS = pytest.StashKey[dict[str, list[bool]]]()
"""By cell id: whether each of its attempts in this process passed. There are more when a plugin runs it again."""
_Error = type("error", (pytest.exit.Exception,), {})
"""pytest.exit's exception by the name with which pytest prints it: each of our errors begins with ``error: ``."""

_ONLY_COLLECTED = SelectionError(
    "nothing ran",
    where="PYTEST_ADDOPTS or --pytest",
    why="pytest was told only to collect",
    step="take that option away; `capmatrix list` prints cells without running them",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the matrix."""
    add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(parser: pytest.Parser) -> None:
    """Now all plugins are loaded, and the names that are still free are known."""
    add_short_names(parser)


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
    wanted = wanted_cells(config)
    try:
        if handed is not None:
            config.stash[_STATE] = worker_state(wanted, settings(config), handed[_KEY])
            leave_ending_to_the_controller()
            return
        check_environment()
        allow_enough_files()
        stopping = config.stash[_STOPPING] = Stopping()
        stopping.install()
        if option(config, "run_id") and config.getoption("collectonly"):
            raise _Error(str(_ONLY_COLLECTED), returncode=NOTHING_RAN)
        # What was recorded differs between machines, and after each shard: shards are cut by guesses, or they would not
        # add up to the whole.
        costs = {} if wanted.shard else load_costs()
        state = controller_state(
            wanted, settings(config), option(config, "sandbox"), costs, config.getoption("collectonly")
        )
        if not state.selected:
            step = "`capmatrix list TARGET` prints the cells that there are; leave out or correct a filter"
            raise SelectionError("no cell is selected", why="the filters leave nothing of the plan", step=step)
        recorder = None if config.getoption("collectonly") else _recorder(config, state)
    except MatrixError as problem:
        raise _Error(str(problem), returncode=problem.exit_code) from None
    config.stash[_STATE] = state
    if recorder:
        config.stash[_RECORDER] = recorder
        # Without a name that `-p no:NAME` could keep out.
        config.pluginmanager.register(Reporter(recorder, stopping, [cell.id for cell in state.selected]))


def _recorder(config: pytest.Config, state: RunState) -> Recorder:
    header = run_header(state, config.invocation_params.args, option(config, "run_id"))
    path = journal_path(config.invocation_params.dir, option(config, "journal"), state.wanted.shard)
    recorder = Recorder(path, state.selected, header)
    if (parent := option(config, "parent")) >= 0:
        recorder.give_journal(parent)
    return recorder


@pytest.hookimpl(wrapper=True)
def pytest_sessionstart(session: pytest.Session) -> Iterator[None]:
    """Start pytest-xdist's workers undisturbed by signals."""
    if _STOPPING in session.config.stash:
        with session.config.stash[_STOPPING].held_back():
            yield
    else:
        yield


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


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One node per selected cell."""
    test = CELL_TEST.rpartition("::")[2]
    if metafunc.function.__name__ == test and "cell" in metafunc.fixturenames and _STATE in metafunc.config.stash:
        cells = metafunc.config.stash[_STATE].selected
        metafunc.parametrize("cell", cells, ids=[cell.id for cell in cells])


def pytest_itemcollected(item: pytest.Item) -> None:
    """``-k`` knows a cell by its kind too."""
    if cell := _cell_of(item):
        item.extra_keyword_matches.add(cell.kind)


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
    if _STOPPING in config.stash:
        config.stash[_STOPPING].end_begins()
        if _RECORDER in config.stash and config.stash[_RECORDER].ledger.entries:
            config.stash[_STOPPING].hurry_workers()  # at least one of them runs; one that starts is left alone
    if _SESSION not in config.stash:
        return
    own = config.stash[_SESSION]
    own.close()
    if _RECORDER in config.stash:
        config.stash[_RECORDER].process_ended(own.counts.as_json())
    else:
        config.workeroutput[_KEY] = own.counts.as_json()  # type: ignore[attr-defined]  # xdist adds it


def pytest_unconfigure(config: pytest.Config) -> None:
    """Give the signals back."""
    if _STOPPING in config.stash:
        config.stash[_STOPPING].remove()


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
        attempts = config.stash.setdefault(_ATTEMPTS, {}).setdefault(cell.id, [])
        attempts.append(False)
        node.user_properties[:] = [row for row in node.user_properties if row[0] not in (_KEY, OUTSIDE)]
        result: CellResult | MatrixError
        try:
            if len(attempts) == 1:
                forget_failures(config.invocation_params.dir, cell)
            result = run_cell(session, cell)
        except MatrixError as problem:
            result = problem
        if isinstance(result, MatrixError):
            if isinstance(result, EngineError | StoreError):
                request.session.shouldstop = str(result)  # no later cell can run either: they count as not run
            node.user_properties.append((OUTSIDE, result.exit_code))
            pytest.fail(str(result), pytrace=False)
        told = {**keep_failures(config.invocation_params.dir, session, cell, result), "attempt": len(attempts)}
        node.user_properties.append((_KEY, told))
        if result.failures:
            pytest.fail("\n".join(_lines(told)), pytrace=False)
        attempts[-1] = True
        if not all(attempts):
            text = f"{cell.id}: passed in attempt {len(attempts)}, but failed in attempt {attempts.index(False) + 1}"
            pytest.fail(f"{text}: a cell that has failed once in a run has failed", pytrace=False)

    return check


def _lines(result: dict[str, Any]) -> Iterator[str]:
    for failure in result["failures"]:
        place = f" (case {failure['case']}, placement {failure['placement']})" if failure["case"] else ""
        yield f"{result['id']}{place}"
        yield from (f"  {line}" for line in failure_lines(failure))
    if result["stopped"]:
        yield f"{result['id']}: {result['stopped']}"
