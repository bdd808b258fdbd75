"""pytest glue of the controller: takes in reports as they arrive and prints the summary."""

from collections.abc import Iterator
from typing import Any

import pytest

from matrix.report.console import make_console
from matrix.report.recorder import Recorder
from matrix.scheduling import cell_id
from matrix.stopping import Stopping

KEY = "capmatrix"
"""Key of what controller and xdist workers hand each other, and of a cell's result in its report."""
OUTSIDE = "capmatrix-outside"
"""Key of the exit code of an error outside of a cell, in its report."""


def _is_told(report: object) -> bool:
    """Whether the summary says all that there is to say of a failed test: not of one that raised what it should not."""
    return any(key in (KEY, OUTSIDE) for key, _ in getattr(report, "user_properties", ()))


class Reporter:
    """Hooks that only the process with the recorder has."""

    def __init__(self, recorder: Recorder, stopping: Stopping, selected: list[str]) -> None:
        self._recorder = recorder
        self._stopping = stopping
        self._selected = selected
        self._closed = False

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Without xdist the items are the plan; ``-k`` and the like have been applied."""
        self._recorder.plan([name for name in (cell_id(item.nodeid) for item in session.items) if name])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        """With xdist a worker says which nodes there are."""
        self._recorder.plan([name for name in map(cell_id, ids) if name])

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """An xdist worker ended; one that crashed leaves nothing."""
        ended = getattr(node, "workeroutput", {}).get(KEY)
        if ended:
            self._recorder.process_ended(ended)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Journal and ledger take in a cell as soon as it ends; every attempt, where another plugin runs it again."""
        name = cell_id(report.nodeid)
        if not name:
            return
        told = dict(report.user_properties)
        result, code = told.get(KEY), told.get(OUTSIDE, 0)
        if report.when == "call" and isinstance(result, dict):
            self._recorder.result(result)
        elif report.skipped:
            text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            reason, _, detail = text.removeprefix("Skipped: ").partition(": ")
            self._recorder.skipped(name, reason, detail)
        elif not report.passed:  # failed, or what a plugin calls a failure that it will try again
            self._recorder.broken(name, report.longreprtext, code if isinstance(code, int) else 0)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """The user, or a plugin, has stopped the run; pytest takes ``-x`` for an interrupt too."""
        words = str(excinfo.value)
        if self._stopping.signal or type(excinfo.value) is KeyboardInterrupt or words.endswith("keyboard-interrupt"):
            self._recorder.interrupted = self._stopping.signal or "KeyboardInterrupt"
        else:
            self._recorder.stopped = words

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Count what was not reached and write the ledger, which says how the run ends."""
        self._close()
        if self._recorder.journal_problem and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        if self._recorder.exit_code and session.exitstatus != pytest.ExitCode.INTERNAL_ERROR:
            session.exitstatus = self._recorder.exit_code

    @pytest.hookimpl(tryfirst=True)
    def pytest_unconfigure(self) -> None:
        """A session that was stopped while it started has no other end, and no cell of it was collected yet."""
        if not self._closed:
            self._stopping.end_begins()
            self._recorder.plan(self._selected)
            self._close()
            self._recorder.print_summary(make_console())

    def _close(self) -> None:
        self._recorder.interrupted = self._recorder.interrupted or self._stopping.signal
        self._recorder.close()
        self._closed = True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
        """Grid, failures and ledger. What these show of a failed cell pytest does not show before them once more."""
        failed = terminalreporter.stats.get("failed", [])
        told = [report for report in failed if _is_told(report)]
        failed[:] = [report for report in failed if report not in told]
        try:
            yield
        finally:
            failed += told
        terminalreporter.section("conformance matrix")
        file = terminalreporter._tw._file
        self._recorder.print_summary(make_console(file, bool(terminalreporter.isatty), terminalreporter.hasmarkup))
