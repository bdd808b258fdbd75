"""A kernel that starts processes: they end with the run, however it ends, also those that have lost their parent."""

import os
import signal
import time
from pathlib import Path

import pytest

from matrix.sandbox.host_channel import leash

from . import support
from .test_repro import KERNEL

CELL = f"{support.MAIN_TARGET}/hard/none/chacha20-c"
REQUIRES = "requires  = []\n"
CALLS = f'{REQUIRES}calls     = ["syscall"]\nwritable  = "counts its calls"\n'
ENTRY = "    size_t done;\n    unsigned i;\n"
HELPER = """#include <stdint.h>

long syscall(long, ...);

static long system_call(long number, long one)
{
    return syscall(number, one, 0L, 0L, 0L);
}
"""
TWICE = """
    static unsigned calls;

    if (++calls == 200) {
        long child = system_call(2, 0);    /* fork */

        if (child == 0) {
            system_call(66, 0);            /* setsid */
            if (system_call(2, 0) == 0)
                for (;;)
                    system_call(29, 0);    /* pause */
            system_call(1, 0);             /* exit */
        }
        system_call(114, child);           /* wait4 */
    }
"""


def _repository(folder: Path) -> Path:
    """A copy in which the kernel starts, once, a process with a session of its own by way of another."""
    repository = support.copy_repository(folder / "repository")
    support.replace(repository / KERNEL, REQUIRES, CALLS)
    support.replace(repository / KERNEL, "#include <stdint.h>\n", HELPER)
    support.replace(repository / KERNEL, ENTRY, ENTRY + TWICE)
    return repository


def _below(folder: Path) -> list[int]:
    """Processes that work in the sandbox of the run in ``folder``: guests, and what they have started."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "cwd").startswith(f"{folder}/cache/"):
                found.append(int(entry.name))
        except OSError:
            continue  # it has ended, or is another user's
    return found


@pytest.fixture(autouse=True)
def namespace() -> None:
    if "unshare" not in leash():
        pytest.skip("no-pid-namespace: this system allows none here")


def test_a_process_that_got_away_fails_the_cell_and_is_gone(tmp_path: Path) -> None:
    repository = _repository(tmp_path)
    more = {"CAPMATRIX_CACHE": str(support.empty_cache(tmp_path / "cache"))}
    command = ("-m", "matrix", "run", CELL, "-n", "0", "--sandbox", "host")
    process = support.start(tmp_path / "work", *command, root=repository, more=more)
    status, output = support.finish(process)
    assert status == 1, output
    assert support.check_balance(support.journal(tmp_path / "work"))["kinds"] == {"violation": 1}
    assert "the guest has started 1 process that did not end" in output
    assert not _below(tmp_path)


def test_a_process_that_got_away_ends_with_a_killed_run(tmp_path: Path) -> None:
    repository = _repository(tmp_path)
    more = {"CAPMATRIX_CACHE": str(support.empty_cache(tmp_path / "cache"))}
    command = ("-m", "matrix", "run", CELL, "-n", "0", "--sandbox", "host", "--placements", "full")
    process = support.start(tmp_path / "work", *command, root=repository, more=more)

    support.wait_until(lambda: any(_got_away(pid) for pid in _below(tmp_path)), process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    end = time.monotonic() + 60
    while _below(tmp_path) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _below(tmp_path)
    support.finish(process)


def _got_away(pid: int) -> bool:
    """Whether this is a copy of the guest whose session has lost its first process."""
    try:
        copy = Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"qemu-")
        return copy and not Path(f"/proc/{os.getsid(pid)}").exists()
    except OSError:
        return False
