"""Two shards together are the whole, whatever was recorded between them."""

from pathlib import Path

import pytest

from matrix.report.journal import journal_path, read_journal
from matrix.sandbox.locks import cache_root

from . import support


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache that has everything built, and no costs recorded."""
    fresh = tmp_path / "cache"
    fresh.mkdir()
    for name in ("abilities", "corpora", "host"):
        known = cache_root() / name
        known.mkdir(parents=True, exist_ok=True)
        (fresh / name).symlink_to(known)
    return fresh


def _run(folder: Path, cache: Path, shard: str) -> set[str]:
    """Ids of the cells that the shard ran; its journal names it."""
    command = support.conformance("-q", "--algorithm", "chacha20", "--shard", shard)
    status, output = support.python(folder, *command, more={"CAPMATRIX_CACHE": str(cache)})
    assert status == 0, output
    index, _, count = shard.partition("/")
    assert f"\nledger: shard {index} of {count}: planned " in output
    return _cells(folder, shard)


def _cells(folder: Path, shard: str) -> set[str]:
    """Ids of the cells in the journal of the shard, which says whose it is."""
    rows = list(read_journal(journal_path(folder, shard=shard)))
    ledger = support.check_balance(rows)
    assert ledger["failed"] == 0
    assert [rows[0]["shard"], ledger["shard"]] == [shard, shard]
    return {row["id"] for row in support.lines(rows, "cell")}


def _collect(folder: Path, cache: Path, *options: str) -> set[str]:
    """Ids of the cells that would run."""
    command = support.conformance("-q", "--algorithm", "chacha20", "--collect-only", *options)
    status, output = support.python(folder, *command, more={"CAPMATRIX_CACHE": str(cache)})
    assert status == 0, output
    return set(support.collected(output))


def test_two_shards_are_the_whole(tmp_path: Path, cache: Path) -> None:
    """Between the shards costs are recorded, as on a machine that runs both; the second leaves the first's journal."""
    first = _run(tmp_path / "work", cache, "1/2")
    assert (cache / "costs.json").exists()
    second = _run(tmp_path / "work", cache, "2/2")
    assert first
    assert second
    assert _cells(tmp_path / "work", "1/2") == first
    assert not first & second
    assert first | second == _collect(tmp_path / "whole", cache)
    assert _collect(tmp_path / "again", cache, "--shard", "1/2") == first
