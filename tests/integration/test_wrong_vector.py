"""A published answer that contradicts the oracle ends a run with the exit code of vectors, whoever runs the cells."""

from pathlib import Path

import pytest

from matrix.errors import VectorError

from . import support

CELL = "x86_64-noasm/hard/none/sha1-c"


def test_a_wrong_published_answer(tmp_path: Path) -> None:
    """Told whole, also when a process of pytest-xdist has found it."""
    repository = support.copy_repository(tmp_path / "repository")
    support.replace(repository / "vectors" / "sha1.toml", "84 98 3e 44", "84 98 3e 45")
    work = tmp_path / "work"
    command = ("-m", "matrix", "run", CELL, "-n", "1", "--sandbox", "host")
    status, output = support.python(work, *command, root=repository)
    assert status == VectorError.exit_code, output
    told = output.partition("  not-run: ")[2].splitlines()
    assert told[0] == "vector fips180-2-a.2 contradicts the oracle"
    assert told[1].endswith("sha1.toml, entry fips180-2-a.2")
    assert told[2].startswith("    why: published digest = 84")
    assert told[3].startswith("    next: ")
    assert output.count("contradicts the oracle") == 1
    support.check_balance(support.journal(work))


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("sources.toml", 'key = "hex KEY", nonce', 'kye = "hex KEY", nonce', "unknown input 'kye'; did you mean 'key'"),
        ("sources.toml", '"hex NONCE"', '"iex NONCE"', "'iex NONCE' is not 'hex FIELD'"),
        ("x25519.toml", 'target    = "x86_64"', 'target    = "x86-64"', "unknown target 'x86-64'"),
    ],
)
def test_a_misspelt_word_of_a_vector_ends_every_run(tmp_path: Path, file: str, old: str, new: str, words: str) -> None:
    """Also a run that would not read that algorithm's vectors."""
    repository = support.copy_repository(tmp_path / "repository")
    support.replace(repository / "vectors" / file, old, new)
    command = ("-m", "matrix", "run", CELL, "-n", "0", "--sandbox", "host")
    status, output = support.python(tmp_path / "work", *command, root=repository)
    assert status == VectorError.exit_code, output
    assert words in output
    assert file in output
