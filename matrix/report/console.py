"""The console that everything is printed on: it shows text as it is, and obeys nothing that stands in it."""

from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from matrix.plain import plain

_WIDTH = 120
"""Columns where the output is no terminal and nobody has said how wide it is."""


class _Plain(Console):
    """A console on which text cannot style itself: escape sequences are shown, and ``[bold]`` is six letters."""

    def render_str(self, text: str, **options: Any) -> Text:
        """As rich's; every text that is printed, and every text in a table, comes through here."""
        return super().render_str(plain(text), **options)


def make_console(file: TextIO | None = None, terminal: bool | None = None, colours: bool | None = None) -> Console:
    """A console on ``file`` (default: standard output) that does not wrap what is not printed on a terminal.

    ``terminal`` and ``colours`` say whether it is one and takes colours where rich cannot find out. Without rich's
    markup, and without its emoji: ``file.S:100:`` in a compiler's message is a line, and not the sign for a hundred
    points.
    """
    console = _Plain(file=file, force_terminal=colours, emoji=False, markup=False)
    if console.is_terminal if terminal is None else terminal:
        return console
    return _Plain(file=file, force_terminal=colours, emoji=False, markup=False, width=_WIDTH)


def styled(*parts: str | tuple[str, str]) -> Text:
    """``parts`` in a row for a console: texts, and (text, style) where one is to be styled."""
    return Text.assemble(*(plain(part) if isinstance(part, str) else (plain(part[0]), part[1]) for part in parts))
