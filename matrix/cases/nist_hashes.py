"""The form of NIST's byte-oriented hash vectors (CAVP), which the HMAC files made like them share."""

import re

from matrix.cases.formats import Entry
from matrix.errors import VectorError


def parse_nist_hashes(text: str, where: str) -> list[Entry]:
    """NIST's byte-oriented hash files and those made like them: ``Len = bits`` starts an entry, numbered from 1.

    ``COUNT = n`` starts one in files without ``Len``. ``[NAME = value]`` and ``[NAME]`` lines are the group of the
    entries after them. The form writes an empty message as ``Len = 0`` and ``Msg = 00``; here it is ''. ``Len`` is
    checked against ``Msg`` and then dropped.
    """
    entries: list[Entry] = []
    group: dict[str, str | int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if match := re.fullmatch(r"\[([^][=]+?)\s*(?:=\s*(\w*))?\]\s*", line):
            group = {**group, match.group(1): match.group(2) or ""}
            continue
        match = re.fullmatch(r"(\w+)\s*=\s*(\w*)\s*", line)
        if not match:
            raise VectorError("a vector file has a strange line", where=f"{where}, line {number}", why=line[:60])
        name, value = match.groups()
        if name in ("Len", "COUNT"):
            entries.append(Entry(str(len(entries) + 1), {name: value}, group=group))
        elif not entries:
            why = f"{name} comes before the first Len or COUNT"
            raise VectorError("a vector file does not start with an entry", where=f"{where}, line {number}", why=why)
        elif name in entries[-1].fields:
            raise VectorError("a vector has a field twice", where=f"{where}, entry {entries[-1].label}", why=name)
        else:
            entries[-1].fields[name] = value
    for entry in entries:
        if "COUNT" in entry.fields:
            del entry.fields["COUNT"]
            continue
        bits, message = entry.fields.pop("Len"), str(entry.fields.get("Msg", ""))
        if bits == "0" and message == "00":
            entry.fields["Msg"] = message = ""
        if bits != str(4 * len(message)):
            why = f"Len is {bits}, Msg has {4 * len(message)} bits"
            raise VectorError("a vector's length is not its message's", where=f"{where}, entry {entry.label}", why=why)
    return entries
