"""A run with three broken kernels, as a user sees it: three verdicts, three repro lines, and all cells ran."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from matrix.errors import ToolError

from ..planted import plants
from . import support

CRASH, BUILD, WRONG = (f"arm32-noneon/hard/none/{name}" for name in ("chacha20-armv7", "chacha20-c", "poly1305-armv7"))
PLANTS = ("chacha20/neon-in-armv7", "chacha20/c-wrong-prototype", "poly1305/armv7-partial-block-with-top-bit")
SAID = {
    CRASH: r"crash: SIGILL in chacha20_xor_armv7\+0x[0-9a-f]+, pc 0x[0-9a-f]+, instruction `vld1\.32 [^`]+`",
    BUILD: r"build: chacha20-c does not build: .*error: conflicting types for .chacha20_xor_c",
    WRONG: r"wrong-answer: tag: \d+ of 16 bytes are wrong, the first at ",
}
UNTOUCHED = "arm32-noneon/hard/none/poly1305-c32"


def test_a_run_with_broken_kernels(tmp_path: Path) -> None:
    repository = support.copy_repository(tmp_path / "repository")
    for name in PLANTS:
        plants.change_sources(plants.load(name), repository)
    work = tmp_path / "work"
    command = ["-m", "matrix", "run", support.MAIN_TARGET, "-n", "2", "--sandbox", "host"]
    for algorithm in ("chacha20", "poly1305"):
        command += ["--pytest", f"--algorithm={algorithm}"]
    status, output = support.python(work, *command, root=repository)
    assert status == 1, output
    rows = support.journal(work)
    ledger = support.check_balance(rows)
    assert set(ledger["kinds"]) >= {"crash", "build", "wrong-answer"}
    assert "not-run" not in ledger["kinds"]
    verdicts = {row["id"]: row["verdict"] for row in support.lines(rows, "cell")}
    assert verdicts[UNTOUCHED] == "passed"
    for cell, said in SAID.items():
        assert verdicts[cell] == "failed"
        block = re.search(
            rf"^FAILED {re.escape(cell)}(?: \(\d failures\))?\n  {said}.*\n  ((?:\S*/)?capmatrix repro \S+)$",
            output,
            re.MULTILINE,
        )
        assert block, f"{cell} in:\n{output}"
        assert output.count(block.group(1)) == 1, f"printed twice:\n{output}"
        done = subprocess.run(
            ["sh", "-c", block.group(1)],
            cwd=work,
            env=support.environment(repository),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 1, done.stdout + done.stderr
        assert re.search(said, done.stdout)


KILLED_COMPILER = """\
#!/bin/sh
case "$*" in
*chacha20_c.c*)
    echo "arm-linux-gnueabihf-gcc: fatal error: Killed signal terminated program cc1" >&2
    exit 1
    ;;
esac
exec {compiler} "$@"
"""


def test_a_killed_compiler_is_no_fault_of_the_kernel(tmp_path: Path) -> None:
    """As when memory runs out: run again, and do not look for the error in the file."""
    name = "arm-linux-gnueabihf-gcc"
    wrapper = tmp_path / "bin" / name
    wrapper.parent.mkdir()
    wrapper.write_text(KILLED_COMPILER.format(compiler=shutil.which(name)))
    wrapper.chmod(0o755)
    own = support.environment()["PATH"]
    more = {"PATH": f"{wrapper.parent}{os.pathsep}{own}", "CAPMATRIX_CACHE": str(tmp_path / "cache")}
    command = ["-m", "matrix", "run", BUILD, "-n", "0", "--sandbox", "host"]
    status, output = support.python(tmp_path / "work", *command, more=more)
    assert status == ToolError.exit_code, output
    assert "not-run: a compiler was killed" in output
    assert "build:" not in output
