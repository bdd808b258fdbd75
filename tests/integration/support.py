"""What the integration tests share: runs of the matrix as a user starts them, copies of the repository, processes."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from matrix.report.journal import read_journal
from matrix.sandbox.locks import cache_root

REPOSITORY = Path(__file__).resolve().parents[2]
JOURNAL = Path(".capmatrix") / "journal.jsonl"
"""Where a run leaves its journal, relative to the folder it was started in."""
MAIN_TARGET = "arm32-noneon"
_LIMIT = 300.0
"""Seconds that one run may take."""
_IN_A_COPY = ("matrix", "kernels", "images", "vectors", "tests/conformance", "conftest.py", "pyproject.toml")


def environment(root: Path = REPOSITORY, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment, with ``python`` this interpreter and ``matrix`` the package below ``root``."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    own = {"PATH": path, "PYTHONPATH": str(root)}
    # Those are of the run that these tests are part of; without kept bytecode each process of a run starts 0.4 s later.
    foreign = ("PYTEST_", "TOX_", "CAPMATRIX_STARTED_IN", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return {**kept, **own, **(more or {})}


def start(
    folder: Path, *arguments: str, root: Path = REPOSITORY, more: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start ``python arguments...`` in ``folder``; stdout and stderr come together, to be read to their end."""
    folder.mkdir(parents=True, exist_ok=True)
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment(root, more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Wait for the end of ``process``: its exit status and output."""
    try:
        output, _ = process.communicate(timeout=_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        raise AssertionError(f"no end after {_LIMIT:.0f} s:\n{output}") from None
    return process.returncode, output


def python(
    folder: Path, *arguments: str, root: Path = REPOSITORY, more: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """``python arguments...`` in ``folder``: exit status and output."""
    return finish(start(folder, *arguments, root=root, more=more))


def conformance(*options: str, root: Path = REPOSITORY, target: str = MAIN_TARGET) -> list[str]:
    """Arguments of python that run the conformance tests of ``target`` in the host sandbox, as plain pytest."""
    tests = str(root / "tests" / "conformance")
    return [
        "-m",
        "pytest",
        tests,
        "-p",
        "no:cacheprovider",
        "--capmatrix-sandbox=host",
        f"--capmatrix-target={target}",
        *options,
    ]


def git(repository: Path, *arguments: str) -> str:
    """Output of a git command that succeeds."""
    who = ["-c", "user.name=tester", "-c", "user.email=tester@localhost"]
    done = subprocess.run(
        ["git", *who, *arguments],
        cwd=repository,
        env=environment(repository, {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"git {arguments[0]}: {done.stdout}{done.stderr}"
    return done.stdout


def copy_repository(to: Path) -> Path:
    """A copy of what a run needs, to be changed by a test."""
    # Bytecode is copied too, with the times that make it valid; what is being written is not there for long.
    skip = shutil.ignore_patterns("*.pyc.*")
    for name in _IN_A_COPY:
        source, copy = REPOSITORY / name, to / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=skip)
        else:
            shutil.copy(source, copy)
    return to


def empty_cache(folder: Path) -> Path:
    """A new cache folder without builds and probes. Corpora take a minute and depend on no compiler: it shares them."""
    (cache_root() / "corpora").mkdir(parents=True, exist_ok=True)
    folder.mkdir()
    (folder / "corpora").symlink_to(cache_root() / "corpora")
    return folder


def replace(file: Path, old: str, new: str) -> None:
    """Replace ``old``, which must occur exactly once."""
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{file} has changed: {text.count(old)} times {old!r}"
    file.write_text(text.replace(old, new), encoding="utf-8")


def journal(folder: Path) -> list[dict[str, Any]]:
    """The lines of the journal that a run in ``folder`` left."""
    return list(read_journal(folder / JOURNAL))


def lines(rows: list[dict[str, Any]], sort: str) -> list[dict[str, Any]]:
    """The journal lines of one sort."""
    return [row for row in rows if row["line"] == sort]


def check_balance(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The ledger line of a journal, after a look that it adds up and that every planned cell has exactly one line."""
    (ledger,) = lines(rows, "ledger")
    assert rows[0]["line"] == "run"
    assert rows[-1] is ledger
    assert ledger["planned"] == ledger["passed"] + ledger["failed"] + ledger["skipped"]
    ids = [row["id"] for row in lines(rows, "cell")]
    assert len(ids) == len(set(ids)) == ledger["planned"]
    assert sum(ledger["kinds"].values()) == ledger["failed"]
    return ledger


def collected(output: str) -> list[str]:
    """The cell ids in the output of ``pytest --collect-only -q``, in order."""
    return [line.partition("[")[2].removesuffix("]") for line in output.splitlines() if "::test_" in line]


def repro_lines(output: str) -> list[str]:
    """The commands that a run printed for its failures, each once."""
    return list(dict.fromkeys(re.findall(r"^ *(\S*capmatrix repro \S+)$", output, re.MULTILINE)))


def wait_for_cells(folder: Path, process: subprocess.Popen[str], count: int) -> None:
    """Wait until the run ``process`` in ``folder`` has written ``count`` cells into its journal."""
    path = folder / JOURNAL

    def enough() -> bool:
        return path.exists() and path.read_text().count('"line": "cell"') >= count

    wait_until(enough, process)


def wait_until(reached: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait while ``process`` runs until ``reached`` holds."""
    end = time.monotonic() + _LIMIT
    while not reached():
        assert process.poll() is None, f"the run ended too early:\n{process.communicate()[0]}"
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def descendants(pid: int) -> Iterator[tuple[int, str]]:
    """(pid, command line) of every process that ``pid`` started, directly or not, as /proc shows them."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue  # it has ended meanwhile
            children.setdefault(parent, []).append(int(entry.name))
    waiting = list(children.get(pid, []))
    while waiting:
        one = waiting.pop()
        waiting += children.get(one, [])
        try:
            yield one, (Path("/proc") / str(one) / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue


def guests(pid: int) -> list[int]:
    """The guests that the run ``pid`` and its xdist workers have started and that still run."""
    named = [(one, command) for one, command in descendants(pid) if f"workers/{MAIN_TARGET}-" in command]
    return [one for one, command in named if command.startswith("qemu-")]


def owner(guest: int) -> int:
    """The pid of the run, or of its xdist worker, that has started ``guest`` by way of others."""
    pid = guest
    while "python" not in os.readlink(f"/proc/{pid}/exe"):
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid


def wait_for_end(pid: int, seconds: float = 60) -> None:
    """Wait until the process ``pid``, which need not be a child of this one, has ended."""
    end = time.monotonic() + seconds
    while _state(pid) not in "XZ":
        assert time.monotonic() < end, f"process {pid} is still there after {seconds:.0f} s, in state {_state(pid)}"
        time.sleep(0.01)


def _state(pid: int) -> str:
    """The state letter in /proc; X when there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"
