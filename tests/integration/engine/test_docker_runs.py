"""Whole runs in the docker sandbox: the host's cells and verdicts, and two runs side by side."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from matrix.errors import ToolError
from matrix.model.catalog import Catalog, every_profile
from matrix.sandbox.docker import DockerSandbox

from ..support import MAIN_TARGET, check_balance, finish, journal, lines, python, start
from .ground import containers

SOME = "dispatch or chacha20 or poly1305"


def verdicts(folder: Path) -> dict[str, tuple[str, list[str], int]]:
    """Of every cell its verdict, its kinds of failure and how many cases it ran."""
    return {row["id"]: (row["verdict"], row["kinds"], row["runs"]) for row in lines(journal(folder), "cell")}


def test_the_same_cells_and_verdicts_as_on_the_host_and_no_tool_installed(
    engine: Any, shared_cache: Path, tmp_path: Path, catalog: Catalog
) -> None:
    """Cells of every kind, of an algorithm without and one with a state, and of one that is made of others. All cells
    of the target run on the host in test_main_job, and in docker as `tox -e arm32-noneon`."""
    target = catalog.targets.get(MAIN_TARGET)
    more = {"CAPMATRIX_CACHE": str(shared_cache)}
    run = ["-m", "matrix", "run", MAIN_TARGET, "-n", "2", "-k", SOME]
    # No compiler, emulator or ninja is to be found on this path.
    (tmp_path / "empty").mkdir()
    bare = more | {"PATH": str(tmp_path / "empty")}
    status, output = python(tmp_path / "docker", *run, "--sandbox", "auto", more=bare)
    assert status == 0, output
    assert "sandbox: docker" in output
    ledger = check_balance(journal(tmp_path / "docker"))
    assert ledger["passed"] == ledger["planned"] > 10
    subjects = {name.split("/")[3] for name in verdicts(tmp_path / "docker")}
    assert {"dispatch", "chacha20", "poly1305-armv7", "chacha20_poly1305-composed@a15"} <= subjects
    assert lines(journal(tmp_path / "docker"), "run")[0]["sandbox"] == "docker"
    if not (shutil.which(target.compiler) and shutil.which(target.qemu)):
        pytest.skip("the host sandbox has no compiler or emulator to compare with")
    status, output = python(tmp_path / "host", *run, "--sandbox", "host", more=more)
    assert status == 0, output
    assert verdicts(tmp_path / "host") == verdicts(tmp_path / "docker")


def test_two_runs_at_once_share_and_do_not_disturb(engine: Any, cache: Path, tmp_path: Path) -> None:
    run = ["-m", "matrix", "run", MAIN_TARGET, "-n", "1", "--sandbox", "docker", "--pytest=--algorithm=poly1305"]
    folders = [tmp_path / "one", tmp_path / "two"]
    processes = [start(folder, *run, more={"CAPMATRIX_CACHE": str(cache)}) for folder in folders]
    for process in processes:
        status, output = finish(process)
        assert status == 0, output
    for folder in folders:
        ledger = check_balance(journal(folder))
        assert ledger["passed"] == ledger["planned"] > 0
        assert not ledger["notes"]
    assert verdicts(folders[0]) == verdicts(folders[1])
    owners = {f" {process.pid} " for process in processes}
    assert not [one for one in containers(engine) if any(pid in one.labels["capmatrix.owner"] for pid in owners)]


def test_a_profile_has_its_compiler_in_an_image_of_its_own(
    engine: Any, shared_cache: Path, warm_sandbox: DockerSandbox, tmp_path: Path, catalog: Catalog
) -> None:
    targets = every_profile(catalog).targets
    plain, own = targets.get(MAIN_TARGET), targets.get(f"{MAIN_TARGET}@clang")
    warm_sandbox.ready_for(plain)
    with pytest.raises(ToolError, match="clang"):
        warm_sandbox.run([own.c_compiler, "--version"])
    warm_sandbox.ready_for(own)
    assert "clang version" in warm_sandbox.run([own.c_compiler, "--version"]).stdout
    run = ["-m", "matrix", "run", MAIN_TARGET, "-n", "1", "--sandbox", "docker", "--profile", "clang"]
    run += ["--pytest=--algorithm=sha1", "--pytest=--variant=c"]
    status, output = python(tmp_path, *run, more={"CAPMATRIX_CACHE": str(shared_cache)})
    assert status == 0, output
    rows = {row["id"]: str(row) for row in lines(journal(tmp_path), "cell")}
    assert {name.split("/")[0] for name in rows} == {plain.name, own.name}
    for name, row in rows.items():
        assert ("clang version" in row) == name.startswith(own.name), row
