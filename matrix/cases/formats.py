"""Parsers of vector file formats: text to entries, each a record of fields as they stand in the file.

Parsers know the form of a file, not what its fields mean; ``sources.toml`` gives the meaning. Whatever a
parser does not expect is a VectorError.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from matrix.errors import VectorError

_RESULTS = frozenset({"valid", "invalid", "acceptable"})
"""The words of Wycheproof."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One vector: ``label`` is its number in the file, ``group`` the fields that it shares with others."""

    label: str
    fields: dict[str, str | int]
    result: str = "valid"
    group: dict[str, str | int] = field(default_factory=dict)


def parse_nist(text: str, where: str) -> list[Entry]:
    """``NAME = value`` lines; ``COUNT = n`` starts an entry and labels it; '#' starts a comment line."""
    entries: list[Entry] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = re.fullmatch(r"(\w+)\s*=\s*(\S*)\s*", line)
        if not match:
            raise VectorError(
                "a vector file has a line without a value", where=f"{where}, line {number}", why=line[:60]
            )
        name, value = match.groups()
        if name == "COUNT":
            entries.append(Entry(value, {}))
        elif not entries:
            why = f"{name} comes before the first COUNT"
            raise VectorError("a vector file does not start with COUNT", where=f"{where}, line {number}", why=why)
        elif name in entries[-1].fields:
            raise VectorError("a vector has a field twice", where=f"{where}, entry {entries[-1].label}", why=name)
        else:
            entries[-1].fields[name] = value
    return entries


def parse_cavp(text: str, where: str) -> list[Entry]:
    """NIST's files in groups: ``[NAME = value]`` lines are the group, ``Count = n`` starts an entry, ``FAIL`` says that
    the entry must be refused. Labels are the number of the group and of the entry in it; values of groups are integers.
    """
    entries: list[Entry] = []
    group: dict[str, str | int] = {}
    groups, closed = 0, True
    fields: dict[str, str | int] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        at = f"{where}, line {number}"
        if not line.strip() or line.startswith("#"):
            continue
        if head := re.fullmatch(r"\[(\w+)\s*=\s*([0-9]{1,18})\]", line.strip()):
            if closed:
                groups, group, closed, fields = groups + 1, {}, False, None
            group[head[1]] = int(head[2])
        elif line.strip() == "FAIL" and fields is not None:
            last = entries[-1]
            entries[-1] = Entry(last.label, last.fields, "invalid", last.group)
        elif not (match := re.fullmatch(r"(\w+)\s*=\s*(\S*)\s*", line)):
            raise VectorError("a vector file has a line without a value", where=at, why=line[:60])
        elif match[1] == "Count":
            closed, fields = True, {}
            entries.append(Entry(f"{groups:03d}.{match[2]}", fields, "valid", group))
        elif fields is None:
            raise VectorError("a vector file has a value outside an entry", where=at, why=match[1])
        elif match[1] in fields:
            raise VectorError("a vector has a field twice", where=at, why=match[1])
        else:
            fields[match[1]] = match[2]
    return entries


class _WycheproofFile(msgspec.Struct, forbid_unknown_fields=True):
    algorithm: str
    schema: str
    numberOfTests: int
    header: list[str]
    notes: dict[str, msgspec.Raw]
    testGroups: list[dict[str, msgspec.Raw]]


_GROUP_PROSE = frozenset({"type", "source", "tests"})
_TEST_PROSE = frozenset({"tcId", "comment", "flags", "result"})


def parse_wycheproof(text: str, where: str) -> list[Entry]:
    """A Wycheproof file of schema version 1; an entry is labelled with its ``tcId``."""
    try:
        file = msgspec.json.decode(text, type=_WycheproofFile)
        entries = [entry for group in file.testGroups for entry in _wycheproof_group(group, where)]
    except (msgspec.DecodeError, msgspec.ValidationError, KeyError, RecursionError) as problem:
        why = "it is nested too deep" if isinstance(problem, RecursionError) else str(problem)
        raise VectorError("a Wycheproof file cannot be read", where=where, why=why) from None
    if len(entries) != file.numberOfTests:
        why = f"numberOfTests is {file.numberOfTests}, the groups hold {len(entries)}"
        raise VectorError("a Wycheproof file is incomplete", where=where, why=why)
    return entries


def _wycheproof_group(group: dict[str, msgspec.Raw], where: str) -> list[Entry]:
    shared = {name: msgspec.json.decode(raw, type=str | int) for name, raw in group.items() if name not in _GROUP_PROSE}
    entries = []
    for test in msgspec.json.decode(group["tests"], type=list[dict[str, str | int | list[str]]]):
        label = str(test["tcId"])
        result = test["result"]
        if not isinstance(result, str) or result not in _RESULTS:
            why = f"result is {result!r}, known are {', '.join(sorted(_RESULTS))}"
            raise VectorError("a vector has an unknown result", where=f"{where}, entry {label}", why=why)
        fields: dict[str, str | int] = {}
        for name, value in test.items():
            if name in _TEST_PROSE:
                continue
            if isinstance(value, list):
                raise VectorError("a vector has an unknown field", where=f"{where}, entry {label}", why=name)
            fields[name] = value
        entries.append(Entry(label, fields, result, shared))
    return entries


PARSERS: dict[str, Callable[[str, str], list[Entry]]] = {
    "nist": parse_nist,
    "cavp": parse_cavp,
    "wycheproof": parse_wycheproof,
}
"""Format names of ``sources.toml``; 'typed' files are TOML and are read by matrix.cases.typed."""
