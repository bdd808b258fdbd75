"""A handful of the 200 runs that `tox -e exit-codes` makes: exit code and ledger agree each time."""

from pathlib import Path

from .many_runs import many_runs


def test_exit_codes_are_the_ledgers(tmp_path: Path) -> None:
    """Half of the runs fail here, so that a few show both ends."""
    ends = many_runs(4, tmp_path, odds=1)
    assert sum(ends.values()) == 4
    assert all(status == failed for _, status, failed in ends), ends
