"""The manifest ``vectors/sources.toml``: every file of published vectors, and what its entries mean for an operation.

Reading it checks every word that needs no other file; ``check_manifest`` those that name operations, roles and targets.
"""

import importlib.util
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

import msgspec

from matrix.cases.case import Tier
from matrix.cases.typed import MOST_ROUNDS, read_typed
from matrix.errors import VectorError
from matrix.model.interface import Interface
from matrix.model.near import known_names
from matrix.model.tables import read_toml

MANIFEST = "sources.toml"
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
    sources = read_toml(folder / MANIFEST, _Manifest, VectorError).source
    for source in sources:
        if problem := next(_problems(source), ""):
            raise _wrong(folder, source, problem)
    return sources


def check_manifest(interfaces: Mapping[str, Interface], targets: Collection[str], folder: Path) -> None:
    """Every use and every typed case names what there is, also those that a default run leaves out.

    Raises VectorError.
    """
    for source in read_manifest(folder):
        for use in source.use:
            if use.algorithm not in interfaces:
                why = f"unknown algorithm {use.algorithm!r}; {known_names(use.algorithm, list(interfaces))}"
                raise _wrong(folder, source, why)
            if problem := use_problem(source, use, interfaces[use.algorithm]):
                raise _wrong(folder, source, problem)
        if source.format == "typed":
            for draft in read_typed(source_path(source, folder)):
                if draft.target and draft.target not in targets:
                    why = f"unknown target {draft.target!r}; {known_names(draft.target, list(targets))}"
                    raise VectorError(f"vector {draft.name} runs nowhere", where=draft.where, why=why)


def use_problem(source: Source, use: Use, interface: Interface) -> str:
    """Which name of ``use`` the ``interface`` of its algorithm does not have, or ''."""
    if source.format == "typed":
        return ""
    if use.operation not in interface.operations:
        return f"unknown operation {use.operation!r}; {known_names(use.operation, list(interface.operations))}"
    operation = interface.operations[use.operation]
    taken = DERIVED_FROM[use.derive] if use.derive else tuple(operation.inputs)
    for what, names, known in (
        ("input", use.inputs, taken),
        ("output", use.outputs, tuple(operation.outputs)),
        ("input in feed:", use.feed, taken),
    ):
        for name in names:
            if name not in known:
                return f"{use.algorithm}.{use.operation}: unknown {what} {name!r}; {known_names(name, known)}"
    missing = [name for name in taken if name not in use.inputs]
    return f"{use.algorithm}.{use.operation}: no input {missing[0]!r}" if missing else ""


def _wrong(folder: Path, source: Source, why: str) -> VectorError:
    where = f"{folder / MANIFEST}, source {source.file}"
    return VectorError(f"{MANIFEST} has a wrong entry", where=where, why=why, step="correct the named word")


_PACKAGE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FORM = re.compile(r"(?:hex \S+|int \S+|le \S+|const [0-9]{1,10})")
_RESULTS: dict[str, tuple[str, ...]] = {
    "wycheproof": ("valid", "invalid", "acceptable"),
    "cavp": ("valid", "invalid"),
    "nist-sections": ("encrypt", "decrypt"),
}
"""The result words of each format; of all others ``valid`` alone."""
DERIVED_FROM = {"aead-mac": ("key", "nonce", "aad", "ciphertext")}
"""The inputs from which ``derive`` makes those of the operation."""


def _problems(source: Source) -> Iterator[str]:
    """What is wrong with a source by itself."""
    path = PurePosixPath(source.file)
    if path.is_absolute() or ".." in path.parts or not path.name or "\0" in source.file:
        yield f"{source.file!r} is no path below the folder or package"
    if source.package and not _PACKAGE.fullmatch(source.package):
        yield f"{source.package!r} is no name of a top-level package"  # the packages above it would be run
    if not source.use:
        yield "no use: nothing would ever read it"
    for use in source.use:
        yield from _use_problems(source, use)


def _use_problems(source: Source, use: Use) -> Iterator[str]:
    if source.format == "typed":
        if use != Use(use.algorithm):
            yield "a typed file says itself what its cases are: a use names the algorithm alone"
        return
    if not use.prefix:
        yield "no prefix"
    for role, text in {**use.inputs, **use.outputs}.items():
        if not _FORM.fullmatch(text):
            yield f"{role} = {text!r} is not 'hex FIELD', 'hex FIELD+FIELD', 'int FIELD', 'le FIELD' or 'const N'"
    for role, text in use.outputs.items():
        if not text.startswith("hex "):
            yield f"output {role} = {text!r}: an output is bytes, 'hex FIELD'"
    known = _RESULTS.get(source.format, ("valid",))
    for word in use.results:
        if word not in known:
            yield f"unknown result {word!r}; {known_names(word, known)}"
    if not use.outputs and "answer" in use.results.values():
        yield "a use whose entries have answers needs outputs"
    if bool(use.feed) != bool(use.rounds) or not 0 <= use.rounds <= MOST_ROUNDS:
        yield f"a chain needs feed, and rounds from 1 to {MOST_ROUNDS}"


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
