"""Foreign text made safe to show: what a guest, a compiler, a name or a file of somebody else says stays mere text."""

from typing import Any

LINES = "\n\t"
"""What may stay in text of several lines; everything else that is no printable character is written as an escape."""


def plain(text: str, keep: str = LINES) -> str:
    """``text`` with ``\\x1b`` in place of an ESC, and alike for every character that is not printable.

    These are the control characters of ASCII, DEL, those of Latin-1 (``\\x9b`` begins a terminal's command too), marks
    that turn the direction of a line, characters without width, and lone surrogates, which no stream can encode.
    Characters in ``keep`` stay. Doing it twice changes nothing.
    """
    if text.isprintable():
        return text
    return "".join(c if c in keep or c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def plain_line(text: str) -> str:
    """``text`` as ``plain`` makes it, on one line."""
    return plain(text, keep="")


def plain_values(value: Any) -> Any:
    """A JSON value with all text in it made plain, keys included."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, dict):
        return {plain(key): plain_values(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(inner) for inner in value]
    return value
