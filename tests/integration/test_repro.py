"""The printed repro line, taken literally: it shows the failure, sees it healed, and drives ``git bisect run``."""

import shutil
import subprocess
from pathlib import Path

import pytest

from . import support

CELL = "arm32-noneon/hard/none/chacha20-c"
KERNEL = "kernels/chacha20/chacha20_c.c"
SOUND = "stream[5] = x5 + state[5];"
WRONG = "stream[5] = x5 + state[4];"
"""The feed-forward of word 5, bytes 20 to 23 of each block, takes its neighbour."""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A copy of the repository."""
    return support.copy_repository(tmp_path / "repository")


def _run(folder: Path, root: Path) -> str:
    """Run the cell, which fails, and return the one repro line of its first failure."""
    status, output = support.python(folder, "-m", "matrix", "run", CELL, "-n", "0", "--sandbox", "host", root=root)
    assert status == 1, output
    printed = support.repro_lines(output)
    assert printed
    return printed[0]


def _shell(command: str, folder: Path, root: Path) -> tuple[int, str]:
    """What a shell makes of the printed line: exit status and output."""
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=support.environment(root),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_the_printed_line(tmp_path: Path, repository: Path) -> None:
    work = tmp_path / "work"
    kernel = repository / KERNEL
    support.replace(kernel, SOUND, WRONG)
    command = _run(work, repository)

    status, output = _shell(command, work, repository)
    assert status == 1, output
    assert f"{CELL} on -cpu cortex-a9" in output
    assert "wrong-answer: out: " in output
    assert "first wrong byte 20, in block 0 of 64 bytes, block 1 of 16" in output
    assert "expected" in output
    assert "got" in output
    assert "nonce = " in output

    support.replace(kernel, WRONG, SOUND)
    status, output = _shell(command, work, repository)
    assert status == 0, output
    assert "passes: 1 run" in output

    kernel.unlink()
    status, output = _shell(command, work, repository)
    assert status == 125, output
    assert f"the plan has no cell {CELL}" in output


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for name, text in (("cut.json", '{"format": 1, "cell"'), ("other.json", '{"format": 0}'), ("empty.json", "")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        status, output = _shell(f"capmatrix repro {name}", tmp_path, support.REPOSITORY)
        assert status == 128 + 15, output
        assert name in output
    status, output = _shell("capmatrix repro absent.json", tmp_path, support.REPOSITORY)
    assert status == 128 + 15, output


def test_what_does_not_build_is_shown_and_healed(tmp_path: Path, repository: Path) -> None:
    """A compiler's message is a failure of the cell; the worker's own sources are not, and cannot be judged."""
    work = tmp_path / "work"
    support.replace(repository / KERNEL, SOUND, "stream[5] = x5 + ;")
    command = _run(work, repository)
    status, output = _shell(command, work, repository)
    assert status == 1, output
    assert "chacha20-c does not build: " in output
    assert "expected expression before" in output
    support.replace(repository / KERNEL, "stream[5] = x5 + ;", SOUND)
    status, output = _shell(command, work, repository)
    assert status == 0, output
    support.replace(repository / "kernels/worker/main.c", "static void hello(void)", "static void hello(int)")
    status, output = _shell(command, work, repository)
    assert status == 125, output
    assert "cannot tell: the worker of arm32-noneon does not build" in output


def test_git_bisect_run(tmp_path: Path, repository: Path) -> None:
    """Seven commits, the kernel goes wrong in the fifth, and the second one's worker does not build at all."""
    assert shutil.which("git")
    work, kernel, main = tmp_path / "work", repository / KERNEL, repository / "kernels/worker/main.c"
    commits: list[str] = []

    def commit(text: str) -> None:
        support.git(repository, "add", "--all")
        support.git(repository, "commit", "--quiet", "--allow-empty", "--message", text)
        commits.append(support.git(repository, "rev-parse", "HEAD").strip())

    support.git(repository, "init", "--quiet")
    commit("start")
    support.replace(main, "static void hello(void)", "static void hello(int)")
    commit("the worker does not build")
    support.replace(main, "static void hello(int)", "static void hello(void)")
    commit("it does again")
    commit("nothing")
    support.replace(kernel, SOUND, WRONG)
    commit("a slip in the feed-forward")
    support.replace(kernel, "BLOCK = 64,", "BLOCK = 64, /* bytes */")
    commit("a comment")
    commit("nothing again")
    file = work / _run(work, repository).split()[-1]

    support.git(repository, "bisect", "start", commits[-1], commits[0])
    output = support.git(repository, "bisect", "run", "capmatrix", "repro", str(file))
    assert f"{commits[4]} is the first bad commit" in output


def test_a_build_that_fails_for_another_reason_tells_nothing(tmp_path: Path, repository: Path) -> None:
    work = tmp_path / "work"
    support.replace(repository / KERNEL, SOUND, WRONG)
    command = _run(work, repository)
    support.replace(repository / KERNEL, WRONG, "this does not compile;")
    status, output = _shell(command, work, repository)
    assert status == 125, output
    assert "cannot tell: this does not build, a wrong-answer was recorded" in output
