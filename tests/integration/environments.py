"""Environments that users have, and how one run of one cell must end in each.

python -m tests.integration.environments      prints the table
"""

import locale
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from . import support

CELL = "arm32-noneon/hard/none/poly1305"
SCRIPT = Path(sys.executable).parent / "capmatrix"
HOSTILE = """
[pytest]
addopts = --collect-only --nonsense
filterwarnings = error
testpaths = nowhere
"""
SHADOW = "raise SystemExit(0)\n"
TURKISH = "tr_TR.UTF-8"


_NO_MOUNTS = "no-mount-namespace: this system allows none here"


@dataclass
class Place:
    """Where a run is started: the folder, the source tree, variables, and shell words before and around the command.

    ``lacking`` says why this machine cannot have the environment.
    """

    folder: Path
    root: Path = support.REPOSITORY
    more: dict[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    before: str = ""
    prefix: tuple[str, ...] = ()
    lacking: str = ""


@dataclass(frozen=True)
class Environment:
    """One row: how it is made from an empty folder, and the exit code and words that a run there must end with."""

    make: Callable[[Path], Place]
    code: int = 0
    words: str = "ledger: planned 1 = 1 passed + 0 failed + 0 skipped"


@dataclass(frozen=True)
class End:
    """What became of a run."""

    code: int
    output: str
    ledger: Mapping[str, object] | None


def run(place: Place) -> End:
    """``capmatrix run`` of one cell in that place."""
    place.folder.mkdir(parents=True, exist_ok=True)
    told = support.environment(place.root, place.more)
    for name in place.without:
        told.pop(name, None)
    command = [*place.prefix, str(SCRIPT), "run", CELL, "-n", "0", "--sandbox", "host"]
    shell = f"{place.before}exec {shlex.join(command)}"
    done = subprocess.run(
        ["bash", "-c", shell],
        cwd=place.folder,
        env=told,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=200,
        check=False,
    )
    ledgers = (
        support.lines(support.journal(place.folder), "ledger") if (place.folder / support.JOURNAL).exists() else []
    )
    return End(done.returncode, done.stdout, ledgers[0] if ledgers else None)


def unprivileged() -> tuple[str, ...]:
    """Words before a command that make the modes of files count for root too."""
    return ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--") if os.geteuid() == 0 else ()


def _with(**more: str) -> Callable[[Path], Place]:
    return lambda folder: Place(folder / "work", more=more)


def _named(name: str) -> Callable[[Path], Place]:
    def make(folder: Path) -> Place:
        return Place(folder / name, root=support.copy_repository(folder / name / "source"))

    return make


def _someone_elses_checkout(folder: Path) -> Place:
    root = support.copy_repository(folder / "checkout")
    for path in [root, *root.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    return Place(folder / "work", root=root, prefix=unprivileged())


def _without_home(folder: Path) -> Place:
    return Place(folder / "work", without=("HOME", "XDG_CACHE_HOME"))


def _home_read_only(cache: str) -> Callable[[Path], Place]:
    def make(folder: Path) -> Place:
        home = folder / "home"
        home.mkdir()
        home.chmod(0o555)
        more = {"HOME": str(home), **({"CAPMATRIX_CACHE": str(folder / cache)} if cache else {})}
        without = () if cache else ("CAPMATRIX_CACHE", "XDG_CACHE_HOME")
        return Place(folder / "work", more=more, without=without, prefix=unprivileged())

    return make


def _small_cache(folder: Path) -> Place:
    cache = folder / "cache"
    cache.mkdir()
    can = shutil.which("unshare") and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0
    mount = f"mount -t tmpfs -o size=200k none {shlex.quote(str(cache))} && "
    place = Place(
        folder / "work",
        more={"CAPMATRIX_CACHE": str(cache)},
        lacking="" if can else "no-mount-namespace: this system allows none here",
    )
    # The namespace goes with the process, and the mount with it.
    command = f"{mount}exec {shlex.join([str(SCRIPT), 'run', CELL, '-n', '0', '--sandbox', 'host'])}"
    place.before = f"exec unshare -m sh -c {shlex.quote(command)}; "
    return place


def _limits(words: str) -> Callable[[Path], Place]:
    return lambda folder: Place(folder / "work", before=f"{words}; ")


def _turkish(folder: Path) -> Place:
    try:
        kept = locale.setlocale(locale.LC_ALL)
        locale.setlocale(locale.LC_ALL, TURKISH)
        locale.setlocale(locale.LC_ALL, kept)
        lacking = ""
    except locale.Error:
        lacking = f"locale-missing: {TURKISH}"
    return Place(folder / "work", more={"LC_ALL": TURKISH}, lacking=lacking)


def shadowed(folder: Path) -> Place:
    """A folder with files that have the names of ours, and settings for pytest that are not meant for us."""
    work = folder / "work"
    (work / "tests").mkdir(parents=True)
    for name in ("matrix.py", "tests/__init__.py", "pytest.py", "execnet.py", "conftest.py", "test_mask.py"):
        (work / name).write_text(SHADOW)
    (work / "pytest.ini").write_text(HOSTILE)
    return Place(work)


FULL_DISK = "No space left on device"
ENVIRONMENTS: dict[str, Environment] = {
    "plain": Environment(_with()),
    "a checkout of somebody else": Environment(_someone_elses_checkout),
    "a path with spaces and quotes": Environment(_named("a b 'c' \"d\" $e")),
    "a path with umlauts": Environment(_named("Prüfstände ß €")),
    "umask 077": Environment(_limits("umask 077")),
    "no HOME": Environment(_without_home),
    "a read-only HOME": Environment(_home_read_only(""), 22, "error: the cache cannot be written"),
    "a read-only HOME, CAPMATRIX_CACHE": Environment(_home_read_only("cache")),
    "a small tmpfs for the cache": Environment(_small_cache, 22, FULL_DISK),
    "ulimit -n 64": Environment(_limits("ulimit -n 64"), 16, "error: too few files may be open at once"),
    "ulimit -Sn 64": Environment(_limits("ulimit -Sn 64")),
    "LC_ALL=C": Environment(_with(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")),
    "LC_ALL=tr_TR.UTF-8": Environment(_turkish),
    "PYTHONOPTIMIZE=2": Environment(_with(PYTHONOPTIMIZE="2")),
    "PYTHONWARNINGS=error": Environment(_with(PYTHONWARNINGS="error")),
    "PYTHONDEVMODE=1": Environment(_with(PYTHONDEVMODE="1")),
    "PYTHONSAFEPATH=1": Environment(_with(PYTHONSAFEPATH="1")),
    "matrix.py, tests, pytest.ini here": Environment(shadowed),
}


def main() -> None:
    """Print a row per environment."""
    for name, environment in ENVIRONMENTS.items():
        with tempfile.TemporaryDirectory() as folder:
            place = environment.make(Path(folder))
            end = None if place.lacking else run(place)
        if end is None:
            print(f"{name:36} {place.lacking}")
            continue
        ledger = "none" if end.ledger is None else f"{end.ledger['passed']} passed, {end.ledger['failed']} failed"
        right = end.code == environment.code and environment.words in end.output and "Traceback" not in end.output
        print(f"{name:36} exit code {end.code:3}   ledger {ledger:20} {'right' if right else 'WRONG'}", flush=True)


if __name__ == "__main__":
    main()
