"""Published vectors: the cases that the sources of ``vectors/sources.toml`` give an algorithm."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

from matrix.cases.case import OTHER_CONTRACT, Chain, Draft, Inputs, Outputs
from matrix.cases.formats import PARSERS, Entry
from matrix.cases.manifest import MANIFEST, Source, Use, sources_of
from matrix.cases.nist_hashes import parse_nist_hashes
from matrix.cases.nist_monte import parse_monte, parse_shake128_monte, parse_shake256_monte
from matrix.cases.nist_sections import parse_nist_sections
from matrix.cases.typed import hexadecimal, read_typed
from matrix.errors import VectorError
from matrix.model.textfile import VECTOR_BYTES, read_text
from matrix.oracles.spec_chacha20_poly1305 import mac_data, one_time_key

_PARSERS = {
    **PARSERS,
    "nist-hashes": parse_nist_hashes,
    "nist-sections": parse_nist_sections,
    "nist-monte": parse_monte,
    "nist-monte-shake128": parse_shake128_monte,
    "nist-monte-shake256": parse_shake256_monte,
}


def published(algorithm: str, folder: Path, exhaustive: bool = False) -> list[Draft]:
    """The published cases of ``algorithm`` in manifest order; ``exhaustive`` takes all of every source.

    Raises VectorError: file, entry and reason.
    """
    return [draft for draft, sampled in every_published(algorithm, folder) if sampled or exhaustive]


def every_published(algorithm: str, folder: Path) -> Iterator[tuple[Draft, bool]]:
    """All published cases of ``algorithm`` in manifest order, each with whether a run that is not exhaustive has it.

    All are read, so that a word that nobody knows is found wherever it stands. Raises VectorError.
    """
    for source, path in sources_of(algorithm, folder):
        if source.format == "typed":
            found = read_typed(path)
            _count(len(found), source, path)
            yield from ((draft, True) for draft in found)
            continue
        entries = _PARSERS[source.format](read_text(path, VectorError, VECTOR_BYTES), str(path))
        _count(len(entries), source, path)
        for use in source.use:
            if use.algorithm == algorithm:
                yield from _used(entries, source, use, path)


def _used(entries: list[Entry], source: Source, use: Use, path: Path) -> Iterator[tuple[Draft, bool]]:
    """What ``use`` makes of the entries of a source, each with whether it is in the sample."""
    where = f"{MANIFEST}, {source.file}"
    if use.sample > len(entries):
        why = f"every {use.sample}th of {len(entries)} entries"
        raise VectorError("a sample leaves nothing to choose", where=where, why=why)
    for name in use.group:
        if not any(name in entry.group for entry in entries):
            why = f"no group has {name!r}, which {use.prefix} asks for"
            raise VectorError("a use asks for an unknown field of a group", where=where, why=why)
    drafts = [(_draft(entry, source, use, path), number % use.sample == 0) for number, entry in enumerate(entries)]
    made = [(draft, sampled) for draft, sampled in drafts if draft is not None]
    if all(draft.skip for draft, _ in made):
        why = f"no entry fits `group` and `results` of {use.prefix}"
        raise VectorError("a use takes nothing", where=where, why=why)
    yield from made


def _count(found: int, source: Source, path: Path) -> None:
    if found != source.entries:
        why = f"{found} entries, {MANIFEST} says {source.entries}"
        step = f"restore the file; if entries were added on purpose, correct `entries` in {MANIFEST}"
        raise VectorError("a vector file is truncated or has changed", where=str(path), why=why, step=step)


def _draft(entry: Entry, source: Source, use: Use, path: Path) -> Draft | None:
    """The case that ``use`` makes of ``entry``; None when the entry has no answer for this operation."""
    where = f"{path}, entry {entry.label}"
    _known_fields(entry, source, use, where)
    answer = use.results.get(entry.result)
    if answer is None:
        why = f"{MANIFEST} gives {entry.result!r} no meaning for {use.algorithm}.{use.operation}"
        raise VectorError("a vector has an unknown result", where=where, why=why)
    if answer == "no-answer":
        return None
    if any(entry.group.get(name) not in _admitted(value) for name, value in use.group.items()):
        answer = "other-contract"
    inputs: Inputs = {role: _value(text, entry, where, role) for role, text in use.inputs.items()}
    name = f"{use.prefix}-{entry.label}"
    draft = Draft(name, use.operation, inputs, f"{source.origin} {entry.label}", use.tier, None, where)
    if use.rounds:
        draft = replace(draft, chain=Chain(tuple(use.feed), use.rounds))
    if answer == "other-contract":
        return replace(draft, skip=OTHER_CONTRACT)
    if use.derive:
        draft = replace(draft, inputs=_DERIVED[use.derive](inputs))
    if answer == "refuse":
        return replace(draft, published="refuse")
    outputs: Outputs = {}
    for role, text in use.outputs.items():
        value = _value(text, entry, where, role)
        if isinstance(value, int):
            raise VectorError("a published output is a word", where=where, why=f"{role} = {text!r} in {MANIFEST}")
        outputs[role] = value
    return replace(draft, published=outputs)


def _admitted(value: str | int | list[str | int]) -> list[str | int]:
    return value if isinstance(value, list) else [value]


def _known_fields(entry: Entry, source: Source, use: Use, where: str) -> None:
    used = {
        name
        for other in source.use
        for text in (*other.inputs.values(), *other.outputs.values())
        for name in text.partition(" ")[2].split("+")
    }
    for name in entry.fields:
        if name not in used and name not in source.unused:
            raise VectorError("a vector has an unknown field", where=where, why=name)
    for name in entry.group:
        if name not in use.group:
            raise VectorError("a group of vectors has an unknown field", where=where, why=name)


def _value(text: str, entry: Entry, where: str, role: str) -> bytes | int:
    """The value of ``role``: ``text`` is kind and field name as in the manifest."""
    kind, _, name = text.partition(" ")
    if kind == "const":
        return int(name)
    parts = name.split("+") if kind == "hex" else [name]
    for part in parts:
        if part not in entry.fields:
            raise VectorError("a vector lacks a field", where=where, why=f"{part} (for {role})")
    if kind == "hex":
        return b"".join(hexadecimal(str(entry.fields[part]), where, part) for part in parts)
    value = str(entry.fields[name])
    if kind == "le":
        return int.from_bytes(hexadecimal(value, where, name), "little")
    if kind == "int" and re.fullmatch("[0-9]{1,18}", value):
        return int(value)
    raise VectorError("a vector's value cannot be read", where=where, why=f"{name} = {value[:60]!r} as {kind!r}")


def _aead_mac(inputs: Inputs) -> Inputs:
    """The Poly1305 call inside ChaCha20-Poly1305: key, nonce, aad, ciphertext to one-time key and message."""
    key, nonce, aad, ciphertext = (cast(bytes, inputs[role]) for role in ("key", "nonce", "aad", "ciphertext"))
    return {"key": one_time_key(key, nonce), "data": mac_data(aad, ciphertext)}


_DERIVED: dict[str, Callable[[Inputs], Inputs]] = {"aead-mac": _aead_mac}
