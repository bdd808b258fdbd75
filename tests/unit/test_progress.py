"""What is shown while images are built comes from the engine and from folders' names: it stays mere text."""

import io

import pytest

from matrix.commands.images import _progress
from matrix.report.console import make_console


@pytest.mark.parametrize("text", ["[/x]", "[bold]", "\\[/x]", "[red]a[/]", "[[/]"])
def test_markup_in_a_step_is_text(text: str) -> None:
    console = make_console(io.StringIO(), colours=True)
    assert console.is_terminal
    with _progress(console, text) as say:
        say(text)
        say(f"+ {text}")
