"""Profiles that bring a compiler: skipped with a reason where it is missing, or installed before the run."""

import os
import shutil
from pathlib import Path

import pytest

from . import support

TARGET = f"{support.MAIN_TARGET}@clang"
APT_GET = """#!/bin/sh
echo "$*" >> {log}
case $* in *install*clang*) ln -sf {clang} {programs}/clang ;; esac
"""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder for PATH with this machine's programs but without clang, and an apt-get that only brings that back."""
    clang = shutil.which("clang")
    if clang is None:
        pytest.skip("compiler-missing: `capmatrix doctor --install --profile clang`")
    folder = tmp_path / "programs"
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for path in Path(place).glob("*"):
            if not path.name.startswith(("clang", "apt-get", "sudo")) and not (folder / path.name).exists():
                (folder / path.name).symlink_to(path)
    script = APT_GET.format(log=tmp_path / "apt.log", clang=Path(clang).resolve(), programs=folder)
    for name, text in (("apt-get", script), ("sudo", '#!/bin/sh\nexec "$@"\n')):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def _run(folder: Path, programs: Path, install: str) -> tuple[int, str]:
    more = {"PATH": str(programs), "CAPMATRIX_INSTALL": install}
    words = ["--sandbox", "host", "-n", "0", "--pytest=--algorithm=sha1", "--pytest=--variant=c"]
    return support.python(folder, "-m", "matrix", "run", TARGET, *words, more=more)


def test_a_missing_compiler_is_a_planned_skip(tmp_path: Path, programs: Path) -> None:
    status, output = _run(tmp_path / "run", programs, install="")
    assert status == 5, output
    ledger = support.check_balance(support.journal(tmp_path / "run"))
    assert ledger["planned"] == ledger["skipped"] > 0
    assert "compiler-missing" in output
    assert not (tmp_path / "apt.log").exists()


def test_a_missing_compiler_is_installed_if_that_is_asked_for(tmp_path: Path, programs: Path) -> None:
    status, output = _run(tmp_path / "run", programs, install="1")
    assert status == 0, output
    assert "install -y --no-install-recommends clang\n" in (tmp_path / "apt.log").read_text()
    ledger = support.check_balance(support.journal(tmp_path / "run"))
    assert ledger["planned"] == ledger["passed"] > 0
    facts = support.lines(support.journal(tmp_path / "run"), "cell")[0]
    assert "clang version" in str(facts), "the journal names the compiler of C"
