"""NIST's Monte Carlo files of hashes (SHAVS 6.4; SHA3VS 6.2.3, 6.3.3): 100 answers, 1,000 calls from each to the next.

A hash of fixed size is a chain that a guest can do by itself; an entry is one link of it. What SHAKE answers decides
how long its next answer is: here the first model does the calls, and an entry is the last one before each published
answer.
"""

import re
from collections.abc import Callable

from matrix.cases.formats import Entry
from matrix.errors import VectorError
from matrix.oracles.pyca_sha3 import sha3_shake128, sha3_shake256

ROUNDS = 1000
"""Calls from one published answer to the next."""
_MESSAGE_BYTES = 16
"""A message of SHAKE's test is the start of the last answer, in bytes."""
_MOST_OUTPUT = 64 << 10
"""Bytes: no answer that a file asks for is longer."""
Shake = Callable[[bytes, bytes], dict[str, bytes]]


def parse_monte(text: str, where: str) -> list[Entry]:
    """Links of a hash's chain: ``Seed`` is the answer before, ``MD`` the published one after 1,000 rounds."""
    seed, group, found = _read(text, where, "Seed")
    entries = []
    for label, fields in found:
        entries.append(Entry(label, {"Seed": seed, "MD": _field(fields, "MD", where, label)}, group=group))
        seed = _field(fields, "MD", where, label)
    return entries


def parse_shake128_monte(text: str, where: str) -> list[Entry]:
    """The last call before each published answer of SHAKE128: ``Msg`` and ``Output``."""
    return _shake_entries(text, where, sha3_shake128)


def parse_shake256_monte(text: str, where: str) -> list[Entry]:
    """The last call before each published answer of SHAKE256: ``Msg`` and ``Output``."""
    return _shake_entries(text, where, sha3_shake256)


def _shake_entries(text: str, where: str, shake: Shake) -> list[Entry]:
    """SHA3VS 6.3.3: the length of an answer follows from the last 16 bits of the one before it."""
    start, group, found = _read(text, where, "Msg")
    try:
        message = bytes.fromhex(start)
        least, most = (int(group[f"{word} Output Length (bits)"]) // 8 for word in ("Minimum", "Maximum"))
    except (ValueError, KeyError) as problem:
        raise VectorError("a Monte Carlo file has a wrong head", where=where, why=str(problem)) from None
    if not 0 < least <= most <= _MOST_OUTPUT:
        raise VectorError("a Monte Carlo file has a wrong head", where=where, why=f"{least} to {most} bytes of output")
    entries = []
    length = most
    for label, fields in found:
        published = _field(fields, "Output", where, label)
        for turn in range(ROUNDS):
            last = message
            answer = shake(message, bytes(length))["out"]
            if turn + 1 == ROUNDS:
                # The next entry starts from what is published: an answer of ours that differs shows in one entry only.
                answer = bytes.fromhex(published)
            message = answer[:_MESSAGE_BYTES].ljust(_MESSAGE_BYTES, b"\0")
            length = least + int.from_bytes(answer[-2:], "big") % (most - least + 1)
        entries.append(Entry(label, {"Msg": last.hex(), "Output": published}, group=group))
    return entries


def _read(text: str, where: str, head: str) -> tuple[str, dict[str, str | int], list[tuple[str, dict[str, str]]]]:
    """The value of ``head``, the bracketed lines above it, and the fields of each COUNT. Raises VectorError."""
    group: dict[str, str | int] = {}
    start = ""
    found: list[tuple[str, dict[str, str]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        at = f"{where}, line {number}"
        if not line.strip() or line.startswith("#"):
            continue
        if match := re.fullmatch(r"\[([^][=]+?)\s*=\s*(\d+)\]\s*", line):
            group[match[1]] = match[2]
        elif not (match := re.fullmatch(r"(\w+)\s*=\s*(\w+)\s*", line)):
            raise VectorError("a vector file has a strange line", where=at, why=line[:60])
        elif match[1] == "COUNT":
            found.append((match[2], {}))
        elif not found and match[1] == head and not start:
            start = match[2]
        elif not found or match[1] in found[-1][1]:
            raise VectorError("a vector has a field twice, or outside an entry", where=at, why=match[1])
        else:
            found[-1][1][match[1]] = match[2]
    if not start:
        raise VectorError("a Monte Carlo file has no start", where=where, why=f"no {head} before the first COUNT")
    return start, group, found


def _field(fields: dict[str, str], name: str, where: str, label: str) -> str:
    value = fields.get(name, "")
    if not re.fullmatch(r"(?:[0-9a-fA-F]{2})+", value):
        raise VectorError("a vector lacks a field", where=f"{where}, entry {label}", why=f"{name} = {value!r}")
    return value
