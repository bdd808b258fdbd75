"""The console: what a compiler or a kernel says comes out as it is."""

import ast
import io
from pathlib import Path

import pytest

import matrix
from matrix.report.console import make_console

SOURCES = Path(matrix.__file__).parent


@pytest.mark.parametrize("terminal", [True, False])
def test_a_line_number_is_no_emoji(terminal: bool) -> None:
    out = io.StringIO()
    text = "kernels/chacha20/chacha20_armv7_arm32.S:100: Error: too many positional arguments"
    make_console(out, terminal).print(text, highlight=False, soft_wrap=True)
    assert out.getvalue() == f"{text}\n"


def test_a_file_is_not_wrapped_at_the_width_of_a_terminal() -> None:
    out = io.StringIO()
    make_console(out, terminal=False).print("x" * 119, highlight=False)
    assert out.getvalue() == f"{'x' * 119}\n"


def test_there_is_no_other_console() -> None:
    """One made elsewhere would have rich's emoji and markup again, and obey escape sequences."""
    makers = {
        path.name
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Console", "_Plain")
    }
    assert makers == {"console.py"}
