"""Collecting needs no compiler, no emulator and no guest, and gives the same ids in every process."""

import os
from pathlib import Path

from matrix.checks import every_cell
from matrix.model.catalog import load_catalog

from . import support


def _bare(tmp_path: Path, seed: str) -> dict[str, str]:
    """An environment in which no tool can be found and nothing was ever built."""
    empty = tmp_path / "bin"
    empty.mkdir(exist_ok=True)
    return {"PATH": str(empty), "CAPMATRIX_CACHE": str(tmp_path / "cache"), "PYTHONHASHSEED": seed}


def test_collect_only_needs_nothing(tmp_path: Path) -> None:
    tests = str(support.REPOSITORY / "tests" / "conformance")
    command = ("-m", "pytest", tests, "--collect-only", "-q", "-p", "no:cacheprovider")
    found = []
    for seed in ("1", "2"):
        status, output = support.python(tmp_path / seed, *command, more=_bare(tmp_path, seed))
        assert status == 0, output
        found.append(support.collected(output))
    cache = tmp_path / "cache"
    assert not [path for path in cache.rglob("*") if path.is_file()], "something was built or probed"
    assert not (tmp_path / "1" / support.JOURNAL).exists()
    assert found[0] == found[1]
    assert len(set(found[0])) == len(found[0])
    assert set(found[0]) == {cell.id for cell in every_cell(load_catalog(support.REPOSITORY), None)}


def test_a_run_without_tools_says_what_to_install(tmp_path: Path) -> None:
    """The same environment is not enough to run, and the message names the programs and the way out."""
    status, output = support.python(tmp_path / "run", *support.conformance("-q"), more=_bare(tmp_path, "0"))
    assert status == 16
    for words in ("arm-linux-gnueabihf-gcc", "qemu-arm", "not found", "./toxw --install"):
        assert words in output
    assert os.listdir(tmp_path / "run") == []


def test_two_xdist_workers_agree_with_a_collection(tmp_path: Path) -> None:
    """What two workers ran is what a collection promised, each cell once. xdist refuses workers that disagree."""
    options = ("-q", "--algorithm", "chacha20", "--enforcement", "hard")
    status, output = support.python(tmp_path / "collect", *support.conformance("--collect-only", *options))
    assert status == 0, output
    promised = support.collected(output)
    assert promised
    status, output = support.python(tmp_path / "run", *support.conformance("-n", "2", *options))
    assert status == 0, output
    assert "processes 2;" in output
    rows = support.journal(tmp_path / "run")
    support.check_balance(rows)
    assert sorted(row["id"] for row in support.lines(rows, "cell")) == sorted(promised)
