"""Foreign text that is shown: no character of it reaches a terminal, a report or a file that is not printable."""

import ast
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

import matrix
from matrix.errors import ReproError
from matrix.plain import LINES, plain, plain_line, plain_values
from matrix.report.console import make_console, styled
from matrix.run.verdict import CRASH, CellResult, Failure

SOURCES = Path(matrix.__file__).parent
HOSTILE = "\x1b]0;title\x07\x9b2J\x7f\u202egnp\x00\udc80\r\u2028\u200b [/x] [bold]loud[/bold] :100:"
SHOWN = r"\x1b]0;title\x07\x9b2J\x7f\u202egnp\x00\udc80\r\u2028\u200b [/x] [bold]loud[/bold] :100:"


def test_what_is_shown_of_hostile_text() -> None:
    assert plain(HOSTILE) == SHOWN
    assert plain("two\n\tlines ü 漢") == "two\n\tlines ü 漢"
    assert plain_line("two\n\tlines") == r"two\n\tlines"
    assert plain_values({HOSTILE: [HOSTILE, 1, None, (HOSTILE,)]}) == {SHOWN: [SHOWN, 1, None, [SHOWN]]}


@given(st.text(st.characters()))
def test_nothing_but_printable_text_is_left(text: str) -> None:
    shown = plain(text)
    assert all(c.isprintable() or c in LINES for c in shown)
    assert plain_line(text).isprintable()
    assert plain(shown) == shown
    shown.encode()


@given(st.text(st.characters()))
def test_printable_text_is_left_alone(text: str) -> None:
    printable = "".join(c for c in text if c.isprintable())
    assert plain(printable) == printable


@pytest.mark.parametrize("terminal", [True, False])
def test_a_console_shows_text_and_obeys_none(terminal: bool) -> None:
    """Printed, in every place of a table, and in a styled line."""
    out = io.StringIO()
    console = make_console(out, terminal)
    console.width = 200
    console.print(HOSTILE, highlight=False, soft_wrap=True)
    console.print(styled("x ", (HOSTILE, "bold"), HOSTILE), soft_wrap=True)
    table = Table(title=HOSTILE)
    table.add_column(HOSTILE)
    table.add_row(HOSTILE)
    console.print(table)
    printed = out.getvalue()
    assert printed.count(SHOWN) == 6
    assert all(c.isprintable() or c == "\n" for c in printed)


def test_text_is_styled_by_us_alone() -> None:
    """Text that is made elsewhere would not be made plain; markup in a literal would be shown as it stands."""
    for path in SOURCES.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in ("rich.text", "rich.markup"):
                assert path.name in ("console.py", "grid.py"), path
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, str) and "[/]" in node.value), path


def test_an_error_is_plain() -> None:
    error = ReproError(HOSTILE, where=HOSTILE, why=f"first\n{HOSTILE}", step=HOSTILE)
    assert str(error) == f"{SHOWN}\n  where: {SHOWN}\n  why: first\n{SHOWN}\n  next: {SHOWN}"
    assert error.where == HOSTILE, "a path is still a path"


def test_what_a_cell_reports_is_plain() -> None:
    """The form that journal, failure file, pytest's report and JUnit are made of."""
    result = CellResult("x64/hard/none/hash-c")
    result.failures.append(Failure(CRASH, f"ended\n{HOSTILE}", "edge-1", "after", {"log": HOSTILE, "deep": [HOSTILE]}))
    (row,) = result.as_json()["failures"]
    assert row["summary"] == rf"ended\n{SHOWN}"
    assert row["details"] == {"log": SHOWN, "deep": [SHOWN]}
    assert json.dumps(row, ensure_ascii=False).isprintable()
