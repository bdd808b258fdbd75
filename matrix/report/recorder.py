"""Takes in what cells report, in the controller: journal, ledger, and the summary at the end."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from matrix.errors import INTERRUPTED, NOTHING_RAN, StoreError
from matrix.plan.cell import Cell
from matrix.report.console import styled
from matrix.report.costs import save_costs
from matrix.report.failures import failure_lines
from matrix.report.grid import grids
from matrix.report.handover import give
from matrix.report.journal import Journal
from matrix.report.ledger import Entry, Ledger
from matrix.run.verdict import FAILED, NOT_RUN, PASSED, SKIPPED

_MOST_SHOWN = 20
_HEAD = ("id", "verdict", "kinds", "cpu")
"""What stands first in the line of a cell."""


class Recorder:
    """One per run, in the process that prints the summary."""

    def __init__(self, path: Path, cells: Iterable[Cell], header: Mapping[str, Any]) -> None:
        self.ledger = Ledger(shard=header.get("shard", ""))
        self._cells = tuple(cells)
        self._by_id = {cell.id: cell for cell in self._cells}
        self._journal = Journal(path)
        self._journal.write("run", **header)
        self._header = header
        self._failures: dict[str, list[list[str]]] = {}
        self._attempts: dict[str, list[str]] = {}
        self._outside: dict[str, int] = {}
        self._guests = 0
        self._requests = 0
        self._notes: list[str] = []
        self._facts: dict[str, set[str]] = {}
        self._processes = 0
        self._not_reached = 0
        self.interrupted = ""
        """The signal that ended the run, '' when none did."""
        self.stopped = ""
        """Why pytest or a plugin ended the run before its end, '' when nothing did."""
        self.path = path

    def give_journal(self, descriptor: int) -> None:
        """Give the open journal to the parent of this process. Raises OSError."""
        give(self._journal, descriptor)

    def plan(self, cell_ids: list[str]) -> None:
        """Cells that will be run."""
        self.ledger.plan(cell_ids)

    def result(self, result: dict[str, Any]) -> None:
        """A cell ran to its end; ``result`` is CellResult's JSON form with the failure files' paths."""
        failures = result["failures"]
        kinds = tuple(failure["kind"] for failure in failures)
        self._attempts.setdefault(result["id"], []).append(FAILED if failures else PASSED)
        self.ledger.record(result["id"], Entry(FAILED if failures else PASSED, kinds=kinds, result=result))
        for name in ("compiler",):
            if name in result["facts"]:
                self._facts.setdefault(name, set()).add(result["facts"][name])
        for failure in failures:
            self._fail(result["id"], list(failure_lines(failure)))
        told = {**result, "kinds": kinds, "cpu": self._cpu(result["id"])}
        row = {name: told.pop(name) for name in _HEAD}
        self._journal.write("cell", **row, **{name: value for name, value in told.items() if name != "failures"})
        for failure in failures:
            self._journal.write("failure", id=result["id"], **failure)

    def skipped(self, cell_id: str, reason: str, detail: str) -> None:
        """A cell is skipped, by decision of the plan."""
        self.ledger.record(cell_id, Entry(SKIPPED, reason=reason))
        row = {"id": cell_id, "verdict": SKIPPED, "reason": reason, "cpu": self._cpu(cell_id), "detail": detail}
        self._journal.write("cell", **row)

    def _cpu(self, cell_id: str) -> str:
        """The string for ``-cpu``."""
        return self._by_id[cell_id].cpu if cell_id in self._by_id else ""

    def broken(self, cell_id: str, text: str, code: int = 0) -> None:
        """A cell ended without a result of its own: an error outside of it, with its exit code if it is one of ours."""
        self._outside[cell_id] = code
        self._attempts.setdefault(cell_id, []).append(FAILED)
        self.ledger.record(cell_id, Entry(FAILED, kinds=(NOT_RUN,)))
        # All of an error of ours, which pytest does not show; of a traceback, which it shows, the line that says it.
        self._fail(cell_id, [f"{NOT_RUN}: {line}" for line in [own_text(text) if code else headline(text)]])
        self._journal.write("cell", id=cell_id, verdict=FAILED, kinds=[NOT_RUN], text=text)

    def process_ended(self, counts: dict[str, Any]) -> None:
        """A process that ran cells ends: how many guests it started, how many requests they answered, and its notes."""
        self._guests += counts["guests"]
        self._requests += counts["requests"]
        self._notes += counts["notes"]
        self._processes += 1

    def close(self) -> list[str]:
        """End the run: count what was not reached, write the ledger, remember costs. Returns the ids not reached."""
        missing = self.ledger.close()
        self._not_reached = len(missing)
        for cell_id in missing:
            self._journal.write("cell", id=cell_id, verdict=FAILED, kinds=[NOT_RUN])
        counts = self.ledger.counts
        self._journal.write(
            "ledger",
            shard=self.ledger.shard,
            planned=len(self.ledger.planned),
            **counts,
            reasons=self.ledger.reasons,
            kinds=self.ledger.kinds,
            guests=self._guests,
            requests=self._requests,
            notes=self._notes,
            interrupted=self.interrupted,
            stopped=self.stopped,
            run_id=self._header.get("run_id", ""),
            exit_code=self.exit_code,
        )
        self._journal.close()
        seconds = {name: e.result["seconds"] for name, e in self.ledger.entries.items() if e.verdict == PASSED}
        try:
            save_costs(seconds)
        except StoreError as problem:
            self._notes.append(f"{problem.what}: {problem.why} ({problem.where}); shares of the work are guessed")
        return missing

    def _left_out(self) -> str:
        if not self.ledger.planned:
            return "there was no plan yet, and nothing ran"
        if not self._not_reached:
            return "every planned cell had ended"
        return f"{self._not_reached} planned cells did not run"

    def _fail(self, cell_id: str, lines: list[str]) -> None:
        self._failures.setdefault(cell_id, []).append(lines)

    def _print_failures(self, console: Console) -> None:
        """Of each failed cell every failure: what happened and the command that shows it again. What several cells say
        in the same words, as an error from outside, is printed once."""
        alike: dict[tuple[str, ...], list[str]] = {}
        for cell_id, failures in self._failures.items():
            lines = [line for failure in failures for line in failure]
            entry = self.ledger.entries.get(cell_id)
            if stopped := entry.result.get("stopped") if entry else "":
                lines.append(stopped)
            attempts = self._attempts.get(cell_id, [])
            if len(attempts) > 1:
                told = ", ".join(f"{number} {verdict}" for number, verdict in enumerate(attempts, 1))
                lines.append(f"attempts: {told}; a cell that has failed once in a run has failed")
            alike.setdefault(tuple(lines), []).append(cell_id)
        for said, (cell_id, *others) in list(alike.items())[:_MOST_SHOWN]:
            count = len(self._failures[cell_id])
            more = f" ({count} failures)" if count > 1 else ""
            more += f" (and {len(others)} cells more, in the same words)" if others else ""
            console.print(styled(("FAILED", "bold red"), f" {cell_id}{more}"), soft_wrap=True)
            for line in said:
                console.print(f"  {line}", highlight=False, soft_wrap=True)
        left = [cell_id for found in list(alike.values())[_MOST_SHOWN:] for cell_id in found]
        if left:
            text = f"... and {len(left)} failed cells more: failures/ and {self.path} have all of them"
            console.print(text, highlight=False, soft_wrap=True)

    @property
    def exit_code(self) -> int:
        """How a run with this ledger ends: 0 only when each cell that ran has passed, some did, and none was left out.

        An error outside of the cells gives its own code, if no cell failed of anything else.
        """
        if self.interrupted:
            return INTERRUPTED
        counts = self.ledger.counts
        if counts[FAILED]:
            ends = self.ledger.entries
            codes = [code for name, code in self._outside.items() if ends[name].kinds == (NOT_RUN,)]
            return codes[0] if codes and all(codes) and len(codes) == counts[FAILED] - self._not_reached else 1
        return 0 if counts[PASSED] else NOTHING_RAN

    @property
    def journal_problem(self) -> str:
        """Why the journal is incomplete, '' when it is not."""
        return self._journal.problem

    def print_summary(self, console: Console) -> None:
        """Grid, failures with their repro lines, notes, and the ledger as the last line."""
        for table in grids(self._cells, self.ledger):
            console.print(table)
        self._print_failures(console)
        if self._journal.problem:
            text = f"the journal {self.path} is incomplete: {self._journal.problem}"
            console.print(text, highlight=False, soft_wrap=True, style="bold red")
        for note in self._notes:
            console.print(f"note: {note}", highlight=False, soft_wrap=True)
        runs = sum(int(entry.result.get("runs", 0)) for entry in self.ledger.entries.values())
        versions = "; ".join(sorted({*self._header.get("qemu", {}).values(), *self._facts.get("compiler", set())}))
        console.print(f"sandbox {self._header.get('sandbox', '')}: {versions}", highlight=False, soft_wrap=True)
        counts = f"guests {self._guests}, runs {runs:,}, processes {self._processes}"
        if self.interrupted and not self._processes:
            counts = f"runs {runs:,}"  # the processes were stopped before they could tell
        text = f"nodes {len(self.ledger.planned)}, {counts}; journal {self.path}"
        console.print(text, highlight=False, soft_wrap=True)
        if self.interrupted:
            text = f"interrupted by {self.interrupted}: {self._left_out()}"
            console.print(text, highlight=False, style="bold red")
        elif self._not_reached:
            why = f" ({self.stopped})" if self.stopped else ""
            text = f"stopped: {self._not_reached} planned cells did not run{why}"
            console.print(text, highlight=False, markup=False, soft_wrap=True, style="bold red")
        elif not self.ledger.planned:
            console.print("no cell is selected: `-k` or the node ids leave nothing of the plan", highlight=False)
        if self.ledger.planned and not counts_of_ends(self.ledger):
            console.print("nothing ran: every selected cell is skipped, which proves nothing", style="bold red")
        console.print(self.ledger.line(), highlight=False, soft_wrap=True, style="bold")


def own_text(text: str) -> str:
    """One of our errors as it was raised: pytest-xdist puts a line about its process before it."""
    return "\n  ".join(line for line in text.strip().splitlines() if not line.startswith("[gw"))


def headline(text: str) -> str:
    """The line that says what happened: of one of our errors what, where and why; of a traceback the exception.

    pytest-xdist puts a line about its process before the text.
    """
    lines = [line.strip() for line in text.strip().splitlines() if not line.startswith("[gw")]
    raised = [line.removeprefix("E").strip() for line in lines if line.startswith("E ")]
    if raised:
        return raised[0]
    parts = [line.partition(": ")[2] for line in lines[1:] if line.startswith(("where: ", "why: "))]
    return "; ".join([*lines[:1], *parts])


def counts_of_ends(ledger: Ledger) -> int:
    """How many cells ran, well or badly."""
    return ledger.counts[PASSED] + ledger.counts[FAILED]
