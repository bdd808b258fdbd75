"""Which source line an instruction of a linked program comes from."""

import shutil
import subprocess
from pathlib import Path

import pytest

from matrix.run.symbols import Symbols

COMPILER = shutil.which("x86_64-linux-gnu-gcc") or shutil.which("gcc")

KERNEL = """
        .text
        .globl  known
        .type   known, @function
known:  nop
        ud2
        .size   known, . - known
"""
WITHOUT = KERNEL.replace("known", "unknown")
START = ".globl _start\n.type _start, @function\n_start: call known\n.size _start, . - _start\n"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Symbols:
    """Three files in one program; the second has no debug information."""
    if not COMPILER:
        pytest.skip("compiler-missing: gcc")
    folder = tmp_path_factory.mktemp("lines")
    for name, text, flags in (("kernel", KERNEL, ["-g"]), ("without", WITHOUT, []), ("start", START, ["-g"])):
        (folder / f"{name}.s").write_text(text)
        _compile(folder, *flags, "-c", f"{name}.s", "-o", f"{name}.o")
    _compile(folder, "-static", "-nostdlib", "kernel.o", "without.o", "start.o", "-o", "program")
    return Symbols((folder / "program").read_bytes(), "x86_64")


def _compile(folder: Path, *words: str) -> None:
    assert COMPILER
    subprocess.run([COMPILER, "-m64", *words], cwd=folder, check=True, capture_output=True)


def _at(program: Symbols, name: str) -> int:
    return next(start for start, _, other, _ in program._functions if other == name)


def test_an_instruction_has_its_line(program: Symbols) -> None:
    at = _at(program, "known")
    assert program.source(at).endswith("kernel.s:5")
    assert program.source(at + 1).endswith("kernel.s:6")
    assert program.source(_at(program, "_start")).endswith("start.s:3")


def test_code_without_debug_information_is_not_given_the_line_before_it(program: Symbols) -> None:
    at = _at(program, "unknown")
    assert program.instruction(at) == "nop"
    assert program.source(at) == ""


def test_what_is_no_function_has_no_line(program: Symbols) -> None:
    assert program.source(0) == ""
    assert program.source(_at(program, "_start") + 64) == ""
