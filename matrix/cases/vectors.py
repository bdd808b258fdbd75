"""Published vectors: the manifest ``vectors/sources.toml`` and the cases that it gives an algorithm."""

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, cast

import msgspec

from matrix.cases.case import OTHER_CONTRACT, Chain, Draft, Inputs, Outputs, Tier
from matrix.cases.formats import PARSERS, Entry
from matrix.cases.nist_hashes import parse_nist_hashes
from matrix.cases.nist_monte import parse_monte, parse_shake128_monte, parse_shake256_monte
from matrix.cases.nist_sections import parse_nist_sections
from matrix.cases.typed import hexadecimal, read_typed
from matrix.errors import VectorError
from matrix.model.tables import read_toml
from matrix.model.textfile import VECTOR_BYTES, read_text
from matrix.oracles.spec_chacha20_poly1305 import mac_data, one_time_key

MANIFEST = "sources.toml"
_PARSERS = {
    **PARSERS,
    "nist-hashes": parse_nist_hashes,
    "nist-sections": parse_nist_sections,
    "nist-monte": parse_monte,
    "nist-monte-shake128": parse_shake128_monte,
    "nist-monte-shake256": parse_shake256_monte,
}
Format = Literal[
    "typed",
    "nist",
    "nist-hashes",
    "nist-sections",
    "nist-monte",
    "nist-monte-shake128",
    "nist-monte-shake256",
    "cavp",
    "wycheproof",
]


class Use(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one operation makes of the entries of a source.

    ``inputs`` and ``outputs`` say where each role comes from: 'hex FIELD' ('hex FIELD+FIELD': one behind the other),
    'int FIELD', 'le FIELD' (a word as little-endian hexadecimal) or 'const N'. ``group`` is the contract, a value or a
    list of values for each field: entries of groups with other values are skipped as other-contract. ``results`` says
    for each result word whether the published answer holds, the operation must refuse, the entry is of another
    contract, or it has no answer for this operation. Of a source with many entries only every ``sample``-th is used,
    unless the run is exhaustive.
    ``derive`` names a function that turns an entry's inputs into those of the operation. ``feed`` and ``rounds`` make a
    chain of every entry.
    """

    algorithm: str
    operation: str = ""
    prefix: str = ""
    inputs: dict[str, str] = {}
    outputs: dict[str, str] = {}
    group: dict[str, str | int | list[str | int]] = {}
    results: dict[str, Literal["answer", "refuse", "other-contract", "no-answer"]] = msgspec.field(
        default_factory=lambda: {"valid": "answer"}
    )
    derive: Literal["", "aead-mac"] = ""
    tier: Tier = "full"
    sample: Annotated[int, msgspec.Meta(ge=1)] = 1
    feed: list[str] = []
    rounds: int = 0


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of ``vectors/`` or of the installed Python package ``package``, with ``entries`` vectors."""

    file: str
    format: Format
    licence: str
    origin: str
    entries: int
    use: list[Use]
    package: str = ""
    unused: list[str] = []
    """Fields that no use needs: known, and left aside."""


class _Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    source: list[Source]


def read_manifest(folder: Path) -> list[Source]:
    """The sources that ``folder``/sources.toml lists, in its order. Raises VectorError."""
    return read_toml(folder / MANIFEST, _Manifest, VectorError).source


def sources_of(algorithm: str, folder: Path) -> list[tuple[Source, Path]]:
    """The sources with a use for ``algorithm`` and the path of each file."""
    return [
        (source, source_path(source, folder))
        for source in read_manifest(folder)
        if any(use.algorithm == algorithm for use in source.use)
    ]


def source_path(source: Source, folder: Path) -> Path:
    """Where the file of ``source`` lies. Raises VectorError when its package is not installed."""
    if not source.package:
        return folder / source.file
    spec = importlib.util.find_spec(source.package)
    if spec is None or spec.origin is None:
        why = f"package {source.package} is not installed"
        raise VectorError("a vector source is missing", where=source.file, why=why, step=f"install {source.package}")
    return Path(spec.origin).parent / source.file


def published(algorithm: str, folder: Path, exhaustive: bool = False) -> list[Draft]:
    """The published cases of ``algorithm`` in manifest order; ``exhaustive`` takes all of every source.

    Raises VectorError: file, entry and reason.
    """
    drafts: list[Draft] = []
    for source, path in sources_of(algorithm, folder):
        if source.format == "typed":
            found = read_typed(path)
            _count(len(found), source, path)
            drafts += found
            continue
        entries = _PARSERS[source.format](read_text(path, VectorError, VECTOR_BYTES), str(path))
        _count(len(entries), source, path)
        for use in source.use:
            if use.algorithm == algorithm:
                if use.sample > len(entries):
                    why = f"every {use.sample}th of {len(entries)} entries"
                    raise VectorError("a sample leaves nothing to choose", where=f"{MANIFEST}, {source.file}", why=why)
                taken = entries[:: 1 if exhaustive else use.sample]
                drafts += [draft for entry in taken if (draft := _draft(entry, source, use, path)) is not None]
    return drafts


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
    if kind == "int" and value.isdecimal():
        return int(value)
    raise VectorError("a vector's value cannot be read", where=where, why=f"{name} = {value[:60]!r} as {kind!r}")


def _aead_mac(inputs: Inputs) -> Inputs:
    """The Poly1305 call inside ChaCha20-Poly1305: key, nonce, aad, ciphertext to one-time key and message."""
    key, nonce, aad, ciphertext = (cast(bytes, inputs[role]) for role in ("key", "nonce", "aad", "ciphertext"))
    return {"key": one_time_key(key, nonce), "data": mac_data(aad, ciphertext)}


_DERIVED: dict[str, Callable[[Inputs], Inputs]] = {"aead-mac": _aead_mac}
