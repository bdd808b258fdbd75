"""Failures of one cell that have one cause are one failure, which names every case that shows it."""

import re
from typing import Any

_TELLING = (
    "algorithm",
    "operation",
    "call",
    "output",
    "check",
    "registers",
    "signal",
    "symbol",
    "instruction",
    "place",
)
"""The details that tell two causes apart; others, such as the bytes that came, differ from case to case."""
_VALUE = re.compile(r"\b(?:0x[0-9a-f]+|\d[\d,.]*)\b")
_BYTES = re.compile(r"\b(expected|got) [0-9a-f]+\b")
_CASE = re.compile(r"\(case \S+, placement \S+\)|\bround [\d,]+ of [\d,]+\b")


def by_cause(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """``rows`` (the JSON form of a cell's failures, each with its ``file`` if it has one) with those of one cause in
    one: the first, whose ``also`` lists case, placement and file of the others."""
    first: dict[tuple[object, ...], dict[str, Any]] = {}
    for row in rows:
        key = _cause(row)
        if key in first:
            also = {name: row[name] for name in ("case", "placement", "file") if row.get(name)}
            first[key]["also"].append(also or {"summary": row["summary"]})
        else:
            first[key] = {name: value for name, value in row.items() if name != "details"}
            first[key] |= {"also": [], "details": row["details"]}
    return list(first.values())


def _cause(row: dict[str, Any]) -> tuple[object, ...]:
    details = row["details"]
    text = _VALUE.sub("#", _BYTES.sub(r"\1 #", _CASE.sub("#", row["summary"])))
    return (row["kind"], text, *(str(details.get(name, "")) for name in _TELLING))


def also_words(row: dict[str, Any]) -> str:
    """``the same in 3 more: a (after, before), b (after)``, or '' when no other case shows the failure."""
    places: dict[str, list[str]] = {}
    for other in row.get("also", ()):
        places.setdefault(other.get("case", "the whole cell"), []).append(other.get("placement", ""))
    names = [f"{case} ({', '.join(filter(None, found))})" if any(found) else case for case, found in places.items()]
    return f"the same in {len(row['also'])} more: {', '.join(names)}" if names else ""
