"""``matrix run`` as a user types it: options, what is left lying in the folder, and what is wrong around a run."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from matrix.report.journal import read_journal

from ..planted import plants
from . import support

CELL = "arm32-noneon/hard/none/chacha20-armv7"
KERNEL = "kernels/chacha20/chacha20_armv7_arm32.S"
TABLE = "tests/conformance/expected_dispatch.toml"


def _run(
    folder: Path, *options: str, root: Path = support.REPOSITORY, more: dict[str, str] | None = None
) -> tuple[int, str]:
    return support.python(folder, "-m", "matrix", "run", *options, "--sandbox", "host", root=root, more=more)


def _cells(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(row["id"] for row in support.lines(rows, "cell"))


def test_filters_of_pytest_and_a_journal_elsewhere(tmp_path: Path) -> None:
    options = ["--algorithm", "chacha20", "--enforcement", "soft", "--mask", "none", "-x", "--journal", "other/j.jsonl"]
    status, output = _run(tmp_path, support.MAIN_TARGET, "-n", "0", "-k", "not dispatch", *options)
    assert status == 0, output
    assert _cells(list(read_journal(tmp_path / "other" / "j.jsonl"))) == ["arm32-noneon/soft/none/chacha20"]
    assert not (tmp_path / ".capmatrix").exists()


def test_collected_are_the_cells_and_nothing_else(tmp_path: Path) -> None:
    for workers, words in (("0", "collected 1 item\n"), ("2", "2 workers [1 item]")):
        options = ("--algorithm", "chacha20", "--enforcement", "soft", "-n", workers)
        status, output = support.python(tmp_path, *support.conformance(*options))
        assert status == 0, output
        assert words in output


@pytest.mark.parametrize("way", ["environment", "option"])
def test_a_collection_is_not_a_run(tmp_path: Path, way: str) -> None:
    options, more = ["-n", "2", "--algorithm", "chacha20"], {}
    if way == "option":
        options.append("--pytest=--collect-only")
    else:
        more["PYTEST_ADDOPTS"] = "--collect-only"
    status, output = _run(tmp_path, support.MAIN_TARGET, *options, more=more)
    assert status == pytest.ExitCode.NO_TESTS_COLLECTED, output
    assert "error: nothing ran" in output
    assert "PYTEST_ADDOPTS" in output


def test_failures_go_when_their_cell_runs_again_and_the_kernel_is_named_by_its_path(tmp_path: Path) -> None:
    """One cell that dies of SIGILL and one that does not build; then the first is mended and run alone."""
    repository, work = support.copy_repository(tmp_path / "repository"), tmp_path / "work"
    for name in ("chacha20/neon-in-armv7", "chacha20/c-wrong-prototype"):
        plants.change_sources(plants.load(name), repository)
    other = CELL.replace("armv7", "c")
    status, output = _run(work, CELL, other, "-n", "0", root=repository)
    assert status == 1, output
    assert re.search(r"instruction `vld1\.32 \{d0\}, \[r0\]` at \S+:\d+, on a CPU without neon, aes", output)
    assert re.search(r"stopped after 5 failures; \d,\d{3} cases not run", output)
    (row,) = [row for row in support.lines(support.journal(work), "cell") if row["id"] == CELL]
    assert row["stopped"] in output
    assert "does not build: kernels/chacha20/chacha20_c.c:" in output
    (build,) = (work / "failures" / other).iterdir()
    log = json.loads(build.read_text())["failure"]["details"]["log"]
    assert "sources/" not in log
    assert "generated/prototypes.h" in log
    assert len(list((work / "failures" / CELL).iterdir())) == 5

    (repository / KERNEL).write_bytes((support.REPOSITORY / KERNEL).read_bytes())
    status, output = _run(work, CELL, "-n", "0", root=repository)
    assert status == 0, output
    assert not (work / "failures" / CELL).exists()
    assert build.exists(), "that cell was not run"


def test_a_second_run_in_a_folder_is_refused_while_the_first_goes_on(tmp_path: Path) -> None:
    command = ["-m", "matrix", "run", support.MAIN_TARGET, "-n", "1", "--sandbox", "host"]
    first = support.start(tmp_path, *command)
    try:
        support.wait_for_cells(tmp_path, first, 1)
        status, output = _run(tmp_path, CELL, "-n", "0")
        assert status == 22, output
        assert "the journal is in use" in output
        assert first.poll() is None, "the first run was over too soon to tell"
    finally:
        first.terminate()
        support.finish(first)


def test_a_damaged_cache_is_built_anew(tmp_path: Path) -> None:
    """All of it at once; objects are read again because the workers that they were linked into are gone."""
    cache = support.empty_cache(tmp_path / "cache")
    more = {"CAPMATRIX_CACHE": str(cache)}
    status, output = _run(tmp_path / "work", CELL, "-n", "0", more=more)
    assert status == 0, output
    for gone in ((), ("workers",)):
        damaged = [path for path in (cache / "host").rglob("*") if path.is_file() and path.suffix in ("", ".o")]
        assert {path.relative_to(cache / "host").parts[0] for path in damaged} >= {"workers", "objects", "probes"}
        for path in damaged:
            os.truncate(path, path.stat().st_size // 2)
        for path in [path for name in gone for path in (cache / "host" / name).iterdir()]:
            path.unlink()
        for path in (cache / "abilities").iterdir():
            path.unlink()
        status, output = _run(tmp_path / "work", CELL, "-n", "0", more=more)
        assert status == 0, output


def test_a_cache_that_cannot_be_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    for command in (["run", CELL, "-n", "0"], ["explain", CELL, "--probe"]):
        words = ["-m", "matrix", *command, "--sandbox", "host"]
        status, output = support.python(tmp_path, *words, more={"CAPMATRIX_CACHE": str(tmp_path / "cache")})
        assert status == 22, output
        assert output.count("the cache cannot be written") == 1
        assert "Traceback" not in output


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('variant   = "neon"', 'variant   = "noen"', "did you mean 'neon'?"),
        ("[[expect]]", "[[expect", "is not TOML"),
        ("", "", "restore the file"),
    ],
)
def test_a_wrong_expectation_is_found_before_anything_runs(tmp_path: Path, old: str, new: str, words: str) -> None:
    repository = support.copy_repository(tmp_path / "repository")
    table = repository / TABLE
    if old:
        table.write_text(table.read_text().replace(old, new, 1))
    else:
        table.unlink()
    more = {"CAPMATRIX_CACHE": str(tmp_path / "cache")}
    status, output = _run(tmp_path / "work", support.MAIN_TARGET, "-n", "2", root=repository, more=more)
    assert status == 11, output
    assert output.count(words) == 1
    assert not (tmp_path / "cache" / "host").exists(), "nothing was built"
    assert not (tmp_path / "work" / ".capmatrix").exists()
