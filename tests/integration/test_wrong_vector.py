"""A published answer that contradicts the oracle ends a run with the exit code of vectors, whoever runs the cells."""

from pathlib import Path

import pytest

from matrix.errors import VectorError

from . import support

CELL = "x86_64-noasm/hard/none/sha1-c"


@pytest.mark.parametrize("processes", ["0", "1"])
def test_a_wrong_published_answer(tmp_path: Path, processes: str) -> None:
    repository = support.copy_repository(tmp_path / "repository")
    support.replace(repository / "vectors" / "sha1.toml", "84 98 3e 44", "84 98 3e 45")
    work = tmp_path / "work"
    command = ("-m", "matrix", "run", CELL, "-n", processes, "--sandbox", "host")
    status, output = support.python(work, *command, root=repository)
    assert status == VectorError.exit_code, output
    line = next(line for line in output.splitlines() if line.startswith("  not-run: "))
    for part in (
        "vector fips180-2-a.2 contradicts the oracle",
        "sha1.toml, entry fips180-2-a.2",
        "published digest = 84",
    ):
        assert part in line
    support.check_balance(support.journal(work))
