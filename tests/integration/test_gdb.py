"""``repro --gdb``: gdb stops in the failing kernel with the failing input in memory, on 32-bit ARM, AArch64 and x86."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from matrix.commands.debugging import quoted, sources_command

from . import support

WRONG = {
    "arm32-noneon/hard/none/chacha20-armv7": (
        "kernels/chacha20/chacha20_armv7_arm32.S",
        "        FEED_FORWARD 14, x14, x15, 24\n",
        "        FEED_FORWARD 14, x14, x15, 23\n",
        "$r1",
    ),
    "aarch64/hard/neon/chacha20-neon": (
        "kernels/chacha20/chacha20_neon_aarch64.S",
        "        FEED_FORWARD v20, v21, v22, v23\n",
        "        FEED_FORWARD v20, v21, v22, v22\n",
        "$x1",
    ),
    "x86/hard/sse2+ssse3/chacha20-ssse3": (
        "kernels/chacha20/chacha20_ssse3_x86.S",
        "        movdqa  [esp + ROWS + 48], row3\n        cmp     left, 256\n",
        "        movdqa  [esp + ROWS + 48], row2\n        cmp     left, 256\n",
        "*(void **)($esp + 8)",
    ),
}
"""By cell: a file, a line of it and its wrong form, and where the message's address is when the kernel is entered."""


FOLDERS = ("a b'c$d", 'quoted "twice" \\n', "~ (and) $HOME; `x` #")
"""Where each checkout lies: gdb shows the source line from every one."""


@pytest.mark.parametrize(("cell", "folder"), list(zip(WRONG, FOLDERS, strict=True)))
def test_gdb_stops_in_the_failing_kernel(tmp_path: Path, cell: str, folder: str) -> None:
    assert shutil.which("gdb-multiarch"), "gdb-multiarch is needed: apt-get install gdb-multiarch"
    file, sound, wrong, message = WRONG[cell]
    repository = support.copy_repository(tmp_path / folder)
    support.replace(repository / file, sound, wrong)
    work = tmp_path / "work"
    status, output = support.python(work, "-m", "matrix", "run", cell, "-n", "0", "--sandbox", "host", root=repository)
    assert status == 1, output
    failure = sorted((work / "failures" / cell).glob("*-after.json"))[0]

    commands = ["backtrace 1", f"x/8xb {message}", "x/i $pc", "list"]
    words = [word for command in commands for word in ("--gdb-command", command)]
    status, output = support.python(work, "-m", "matrix", "repro", str(failure), *words, root=repository)
    assert status == 0, output
    function = f"chacha20_xor_{cell.rpartition('-')[2]}"
    assert f"Breakpoint 1, {function} ()" in output
    assert Path(file).name in output, "gdb names the source file"
    number, text = next(line.split("\t", 1) for line in output.splitlines() if re.match(r"\d+\t\s*\S", line))
    assert text in (repository / file).read_text().splitlines()[int(number) - 1], "gdb shows the source line"
    data = bytes.fromhex(_input(failure, "data"))[:8]
    shown = " ".join(line.partition(":")[2] for line in output.splitlines() if "\t0x" in line and "=>" not in line)
    assert [int(word, 16) for word in shown.split()][:8] == list(data), "the failing input lies in memory"
    assert f"<{function}" in output


@pytest.mark.parametrize(
    "name", [*FOLDERS, "with:colon", "with: colon and 'quote", "\u00fc\u00df", "tab\there", "a,b=c*d?[e]"]
)
def test_gdb_finds_sources_in_any_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "x.c").write_text("int main(void)\n{\n    return 42; /* the line */\n}\n")
    build = ["gcc", "-g", "x.c", "-o", "program", f"-fdebug-prefix-map={folder}=."]
    subprocess.run(build, cwd=folder, check=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    argv = ["gdb-multiarch", "-q", "-nx", "-batch"]
    for command in (f"file {quoted(folder / 'program')}", sources_command(folder), "list main"):
        argv += ["-ex", command]
    done = subprocess.run(argv, cwd=elsewhere, capture_output=True, text=True, check=False)
    assert "/* the line */" in done.stdout, done.stdout + done.stderr


def _input(failure: Path, name: str) -> str:
    value = json.loads(failure.read_text())["case"]["inputs"][name]
    assert isinstance(value, str)
    return value
