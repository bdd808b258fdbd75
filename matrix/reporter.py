"""pytest glue of the controller: takes in reports as they arrive and prints the summary."""

from collections.abc import Iterator
from typing import Any

import pytest

from matrix.report.console import make_console
from matrix.report.recorder import Recorder
from matrix.run.verdict import FAILED, PASSED
from matrix.scheduling import cell_id

KEY = "capmatrix"
"""Key of what controller and xdist workers hand each other, and of a cell's result in its report."""
OUTSIDE = "capmatrix-outside"
"""Key of the exit code of an error outside of a cell, in its report."""


def _is_told(report: object) -> bool:
    """Whether the summary says all that there is to say of a failed test: not of one that raised what it should not."""
    return any(key in (KEY, OUTSIDE) for key, _ in getattr(report, "user_properties", ()))


class Reporter:
    """Hooks that only the process with the recorder has."""

    def __init__(self, recorder: Recorder, config: pytest.Config) -> None:
        self._recorder = recorder
        self._config = config

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
        """Journal and ledger take in a cell as soon as it ends."""
        name = cell_id(report.nodeid)
        if not name:
            return
        result = next((value for key, value in report.user_properties if key == KEY), None)
        if report.when == "call" and isinstance(result, dict):
            self._recorder.result(result)
        elif report.skipped:
            text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            reason, _, detail = text.removeprefix("Skipped: ").partition(": ")
            self._recorder.skipped(name, reason, detail)
        elif report.failed:
            code = next((value for key, value in report.user_properties if key == OUTSIDE), 0)
            self._recorder.broken(name, report.longreprtext, code if isinstance(code, int) else 0)

    def pytest_keyboard_interrupt(self) -> None:
        """The user has stopped the run."""
        self._recorder.interrupted = True

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Count what was not reached; a run with an unreached cell cannot be green."""
        missing = self._recorder.close()
        counts = self._recorder.ledger.counts
        nothing_ran = bool(self._recorder.ledger.planned) and not counts[PASSED] and not counts[FAILED]
        if self._recorder.journal_problem and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        failed = (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
        if session.exitstatus in failed and self._recorder.outside_code:
            session.exitstatus = self._recorder.outside_code
        if (missing or nothing_ran) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED if missing else pytest.ExitCode.NO_TESTS_COLLECTED

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
