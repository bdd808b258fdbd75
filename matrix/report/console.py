"""The console that everything is printed on."""

from typing import TextIO

from rich.console import Console

_WIDTH = 120
"""Columns where the output is no terminal and nobody has said how wide it is."""


def make_console(file: TextIO | None = None, terminal: bool | None = None, colours: bool | None = None) -> Console:
    """A console on ``file`` (default: standard output) that does not wrap what is not printed on a terminal.

    ``terminal`` and ``colours`` say whether it is one and takes colours where rich cannot find out. Without rich's
    emoji: ``file.S:100:`` in a compiler's message is a line, and not the sign for a hundred points.
    """
    console = Console(file=file, force_terminal=colours, emoji=False)
    if console.is_terminal if terminal is None else terminal:
        return console
    return Console(file=file, force_terminal=colours, emoji=False, width=_WIDTH)
