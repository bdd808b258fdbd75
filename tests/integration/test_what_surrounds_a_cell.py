"""What goes wrong around a cell: an oracle that raises, a kernel file that vanishes, a changed failure file."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from matrix.checks import every_cell
from matrix.errors import HeaderError, OracleError
from matrix.model.catalog import load_catalog
from matrix.oracles.pyca import chacha20_xor
from matrix.plan.plan import find
from matrix.report.failures import encode_inputs
from matrix.run.runner import run_cell
from matrix.run.session import Session, Settings
from matrix.sandbox.host import HostSandbox
from matrix.sandbox.locks import cache_root
from matrix.worker.protocol import SLOT_BYTES

from . import support

CELL = "arm32-noneon/hard/none/chacha20-c"
OTHER = "arm32-noneon/soft/none/poly1305"
KERNEL = "kernels/chacha20/chacha20_c.c"
SOUND, WRONG = "stream[5] = x5 + state[5];", "stream[5] = x5 + state[4];"


def _run(folder: Path, root: Path, *cells: str, more: dict[str, str] | None = None) -> tuple[int, str]:
    return support.python(folder, "-m", "matrix", "run", *cells, "-n", "0", "--sandbox", "host", root=root, more=more)


def test_an_oracle_that_raises_takes_its_algorithm_along_and_nothing_else(tmp_path: Path) -> None:
    repository = support.copy_repository(tmp_path / "repository")
    room = "room = ((1 << 32) - counter) * "
    support.replace(repository / "matrix" / "oracles" / "pyca.py", room, f"{room}data[999] * ")
    status, output = _run(tmp_path, repository, CELL, OTHER)
    assert status == OracleError.exit_code, output
    assert "not-run: the oracle of chacha20 xor fails" in output
    assert re.search(r"where: case [\w.-]+; .*/matrix/oracles/pyca\.py, line \d+, in chacha20_xor\n", output)
    assert "why: IndexError: " in output
    assert "Traceback" not in output
    rows = support.journal(tmp_path)
    support.check_balance(rows)
    assert {row["id"]: row["verdict"] for row in support.lines(rows, "cell")} == {CELL: "failed", OTHER: "passed"}


def test_a_kernel_file_that_vanishes_in_mid_run_is_named(tmp_path: Path) -> None:
    repository = support.copy_repository(tmp_path / "repository")
    catalog = load_catalog(repository)
    cell = find(every_cell(catalog, None), CELL)
    assert cell
    session = Session(catalog, HostSandbox(cache_root() / "host"), Settings(), cache_root() / "corpora")
    (repository / KERNEL).unlink()
    with pytest.raises(HeaderError) as caught:
        run_cell(session, cell)
    assert caught.value.what == "cannot read chacha20_c.c"
    assert caught.value.where == str(repository / KERNEL)
    assert caught.value.why == "No such file or directory"


def _markup(record: dict[str, Any]) -> None:
    record["case"]["origin"] = record["failure"]["summary"] = "[/x] [bold] \x1b[2J \x00 \ud800"


def _too_long(record: dict[str, Any]) -> None:
    """A buffer that fills all the worker has, and begins behind its start: the kernel is never called."""
    inputs: dict[str, Any] = {"key": bytes(32), "nonce": bytes(12), "counter": 0, "data": bytes(SLOT_BYTES)}
    record["case"]["inputs"] = encode_inputs(inputs)
    record["case"]["expected"] = encode_inputs(dict(chacha20_xor(**inputs)))
    record["failure"]["placement"] = "all-offset-1"


def _other_answer(record: dict[str, Any]) -> None:
    record["case"]["expected"]["out"] = "00" * (len(record["case"]["expected"]["out"]) // 2)


CHANGED: list[tuple[Callable[[dict[str, Any]], None], int, str]] = [
    (_markup, 1, r"wrong-answer: \[/x\] \[bold\] \\x1b\[2J \\x00 \\ud800"),
    (_too_long, 125, r"cannot tell: the worker refuses the recorded input, so that the kernel was not called"),
    (_other_answer, 125, r"cannot tell: the recorded answer is not that of the oracle"),
]


def test_a_changed_failure_file_and_changed_sources(tmp_path: Path) -> None:
    """One failing run; its file as it is, after the sources have changed, and changed by hand."""
    repository, work = support.copy_repository(tmp_path / "repository"), tmp_path / "work"
    support.replace(repository / KERNEL, SOUND, WRONG)
    for command in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "start")):
        support.git(repository, *command)
    support.replace(repository / KERNEL, "BLOCK = 64,", "BLOCK = 64, /* bytes */")
    status, output = _run(work, repository, CELL)
    assert status == 1, output
    assert len(support.repro_lines(output)) == 1, "five cases of one cause are one failure"
    (row,) = support.lines(support.journal(work), "failure")
    file = work / row["file"]
    record = json.loads(file.read_text())
    assert record["facts"]["dirty"] == [KERNEL]
    (run,) = support.lines(support.journal(work), "run")
    assert run["dirty"] == [KERNEL]
    assert run["commit"] == record["facts"]["commit"]
    assert "-O2" in run["targets"]["arm32-noneon"]["kernels"]["chacha20-c"]
    (cell,) = support.lines(support.journal(work), "cell")
    assert cell["cpu"].startswith("cortex-")

    def repro() -> tuple[int, str]:
        return support.python(work, "-m", "matrix", "repro", str(file), root=repository)

    status, output = repro()
    assert status == 1, output
    assert f"recorded with changes that its commit does not have: {KERNEL}" in output
    assert "changed since it was recorded" not in output
    with (repository / "kernels/worker/wire.h").open("a") as stream:
        stream.write("\n")
    for change, code, words in CHANGED:
        changed = json.loads(json.dumps(record))
        change(changed)
        file.write_text(json.dumps(changed))
        status, output = repro()
        assert status == code, output
        assert "changed since it was recorded: kernels/worker/wire.h\n" in output
        assert re.search(words, output), output
        assert "Traceback" not in output


HOSTILE = "\x1b[2J\x9b\x7f\u202egnp [/x] [bold]loud"
SPEAKING = """\
long write(int, const void *, unsigned long);
void _exit(int);
static void speak(void)
{
    static const char text[] = {%s};
    write(2, text, sizeof text);
    _exit(3);
}
"""
REQUIRES = "requires  = []\n"


def test_what_a_guest_and_a_compiler_say_does_nothing_to_a_terminal(tmp_path: Path) -> None:
    """In the output of the run and of repro, in JUnit's file, in the journal and in the failure files."""
    repository, work = support.copy_repository(tmp_path / "repository"), tmp_path / "work"
    other = OTHER.replace("soft/none/poly1305", "hard/none/poly1305-c32")
    with (repository / KERNEL).open("a") as stream:
        stream.write(f"#error {HOSTILE}\n")
    call = "void poly1305_final_c32(void *ctx, uint8_t tag[16])\n{"
    speaking = SPEAKING % ", ".join(map(str, HOSTILE.encode()))
    speaker = repository / "kernels/poly1305/poly1305_c32.c"
    support.replace(speaker, call, f"{speaking}{call}\n    speak();")
    support.replace(speaker, REQUIRES, f'{REQUIRES}calls     = ["write", "_exit"]\n')
    status, output = _run(work, repository, CELL, other, "--pytest=--junitxml=junit.xml")
    assert status == 1, output
    files = [*(work / "failures").rglob("*.json"), work / "junit.xml", work / support.JOURNAL]
    assert len(files) >= 4
    _, again = support.python(work, "-m", "matrix", "repro", str(files[0]), root=repository)
    for said in (output, again, *(path.read_text() for path in files)):
        assert all(c.isprintable() or c in "\n\t" for c in said), said
        assert "[/x] [bold]loud" in said
    assert r"the guest ended with status 3: \x1b[2J" in output
    assert r"error: #error \x1b[2J" in output
