"""Runs a cell that fails in about one run of ten many times, and compares each exit code with the run's own ledger.

    python -m tests.integration.many_runs [RUNS [FOLDER]]

Each second run has reruns. `tox -e exit-codes` makes 200; a handful is part of the integration tests.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

from . import flaky, support

RERUNS = 2


def one_run(folder: Path, repository: Path, reruns: int) -> tuple[int, int, int]:
    """(exit code, failed cells in the ledger, attempts) of one run in ``folder``."""
    options = ["-n", "0", "--sandbox", "host", *([f"--pytest=--reruns={reruns}"] if reruns else [])]
    status, output = support.python(folder, "-m", "matrix", "run", flaky.CELL, *options, root=repository)
    rows = support.journal(folder)
    ledgers = support.lines(rows, "ledger")
    assert len(ledgers) == 1, output
    assert ledgers[0]["planned"] == ledgers[0]["passed"] + ledgers[0]["failed"] == 1
    return status, ledgers[0]["failed"], len(support.lines(rows, "cell"))


def many_runs(count: int, folder: Path, odds: int = 10) -> Counter[tuple[str, int, int]]:
    """How often ``count`` runs ended as (with or without reruns, exit code, failed cells in the ledger)."""
    repository = support.copy_repository(folder / "repository")
    flaky.plant_at_random(repository, odds)
    ends: Counter[tuple[str, int, int]] = Counter()
    for number in range(count):
        reruns = RERUNS if number % 2 else 0
        status, failed, attempts = one_run(folder / "work", repository, reruns)
        assert attempts == (1 + reruns if failed else 1), f"{attempts} attempts, {failed} failed"
        ends["with reruns" if reruns else "without", status, failed] += 1
    return ends


def main() -> int:
    """Print the table; 1 when an exit code differs from its ledger."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as made:
        ends = many_runs(count, Path(sys.argv[2] if len(sys.argv) > 2 else made))
    print("reruns       exit code  failed in the ledger   runs")
    for (reruns, status, failed), number in sorted(ends.items()):
        print(f"{reruns:12} {status:9} {failed:21} {number:6}")
    wrong = sum(number for (_, status, failed), number in ends.items() if status != failed)
    print(f"{count} runs, {wrong} whose exit code is not the ledger's")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
