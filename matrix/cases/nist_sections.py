"""NIST response files with sections: ``[ENCRYPT]`` and ``[DECRYPT]`` above ``NAME = value`` entries.

The section, in lower case, is the result word of its entries, so that a use in ``sources.toml`` says which sections it
takes, and the first part of their labels, since each section counts from 0.
"""

from dataclasses import replace

from matrix.cases.formats import Entry, parse_nist
from matrix.errors import VectorError

_SECTIONS = {"[ENCRYPT]": "encrypt", "[DECRYPT]": "decrypt"}


def parse_nist_sections(text: str, where: str) -> list[Entry]:
    """The entries of all sections in file order, labelled ``encrypt-0`` and so on.

    Raises VectorError: an unknown section, one that comes twice, an entry before the first.
    """
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("[")]
    if parse_nist(_only(lines, 0, starts[0] if starts else len(lines)), where):
        raise VectorError("a vector file does not start with a section", where=where, why="entries come before one")
    entries: list[Entry] = []
    seen: set[str] = set()
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        section = _SECTIONS.get(lines[start].strip())
        if section is None or section in seen:
            why = f"{lines[start].strip()} is unknown, or comes twice"
            raise VectorError("a vector file has a wrong section", where=f"{where}, line {start + 1}", why=why)
        seen.add(section)
        for entry in parse_nist(_only(lines, start + 1, end), where):
            entries.append(replace(entry, label=f"{section}-{entry.label}", result=section))
    return entries


def _only(lines: list[str], start: int, end: int) -> str:
    """Lines ``start`` to ``end``, with empty ones before them, so that messages name the right line."""
    return "\n".join([*[""] * start, *lines[start:end]])
