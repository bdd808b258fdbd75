"""A run that executes nothing is never green and says why."""

from pathlib import Path

import pytest

from . import support


def test_filters_that_leave_nothing(tmp_path: Path) -> None:
    """Said before a process of pytest-xdist starts."""
    status, output = support.python(tmp_path, *support.conformance("-n", "2", "--variant", "avx2"))
    assert status == 21
    assert "\nerror: no cell is selected" in f"\n{output}"
    assert "the filters leave nothing of the plan" in output
    assert not (tmp_path / support.JOURNAL).exists()


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_keyword_that_matches_nothing(tmp_path: Path, workers: str) -> None:
    status, output = support.python(tmp_path, *support.conformance("-n", workers, "-k", "nothing"))
    assert status == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "no cell is selected: `-k` or the node ids leave nothing of the plan" in output
    assert "ledger: planned 0 = 0 passed + 0 failed + 0 skipped" in output
    ledger = support.check_balance(support.journal(tmp_path))
    assert ledger["planned"] == 0


def test_an_empty_shard(tmp_path: Path) -> None:
    status, output = support.python(
        tmp_path, *support.conformance("--algorithm", "chacha20", "--enforcement", "soft", "--shard", "9/9")
    )
    assert status == 21
    assert "shard '9/9' is empty" in output


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("arm32-none", "unknown target 'arm32-none'"),
        ("arm32-noneon/hard/none/chacha20-nothing", "there is no cell 'arm32-noneon/hard/none/chacha20-nothing'"),
    ],
)
def test_names_of_nothing(tmp_path: Path, name: str, words: str) -> None:
    status, output = support.python(tmp_path, "-m", "matrix", "run", name, "--sandbox", "host")
    assert status == 21
    assert words in output
