"""The summary's line about a cell that ended without a result of its own."""

import pytest

from matrix.report.recorder import headline


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "[gw0] linux -- Python 3.11.2 /venv/bin/python\nvector v contradicts the oracle\n  where: a.toml, entry v\n"
            "  why: published 1; oracle 2\n  next: correct it",
            "vector v contradicts the oracle; a.toml, entry v; published 1; oracle 2",
        ),
        ("the engine is gone", "the engine is gone"),
        ("def f():\n>       raise KeyError(1)\nE       KeyError: 1\n\nf.py:3: KeyError", "KeyError: 1"),
    ],
)
def test_the_line_says_what_happened(text: str, line: str) -> None:
    assert headline(text) == line
