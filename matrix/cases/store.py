"""Keep computed cases on disk under a key of all that they depend on; a damaged file counts as absent."""

import hashlib
import importlib.metadata
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

import matrix.oracles
from matrix.cases.case import Case, Corpus
from matrix.cases.manifest import MANIFEST, sources_of
from matrix.model import interface as interface_module
from matrix.model.interface import Interface

_MAGIC = b"capmatrix cases 1\n"
_DIGEST_BYTES = 32
_ORACLE_PACKAGES = ("cryptography", "msgspec")
"""Packages whose version can change an answer or the form of the file."""

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(tuple[Case, ...])


def content_key(interface: Interface, vectors: Path, min_bytes: Iterable[int], seed: int, exhaustive: bool) -> str:
    """A hex digest of the parameters and of every file and package version that the cases depend on."""
    state = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    versions = [f"{name} {importlib.metadata.version(name)}" for name in _ORACLE_PACKAGES]
    parameters = [
        interface.algorithm,
        *map(str, min_bytes),
        f"seed {seed}",
        f"exhaustive {exhaustive}",
        *versions,
    ]
    state.update(msgspec.json.encode(parameters))
    for path in _files(interface, vectors):
        data = path.read_bytes() if path.is_file() else b""
        state.update(f"\n{path.name} {len(data)}\n".encode())
        state.update(data)
    return state.hexdigest()


def _files(interface: Interface, vectors: Path) -> Iterator[Path]:
    yield interface.path
    yield Path(interface_module.__file__)
    for folder in (Path(__file__).parent, Path(matrix.oracles.__path__[0])):
        yield from sorted(folder.glob("*.py"))
    yield vectors / MANIFEST
    for _, path in sources_of(interface.algorithm, vectors):
        yield path


def save(path: Path, cases: tuple[Case, ...]) -> None:
    """Write ``cases`` to ``path`` in one step, so that no reader sees half a file."""
    payload = _ENCODER.encode(cases)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.stem, suffix=".tmp", delete=False) as file:
        try:
            file.write(_MAGIC + _digest(payload) + payload)
            file.close()
            os.replace(file.name, path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def load(path: Path, algorithm: str) -> Corpus | None:
    """The corpus in ``path``, or None when there is no file or its contents are not what was written."""
    try:
        data = memoryview(path.read_bytes())
    except OSError:
        return None
    start = len(_MAGIC) + _DIGEST_BYTES
    digest, payload = bytes(data[len(_MAGIC) : start]), data[start:]
    if data[: len(_MAGIC)] != _MAGIC or digest != _digest(payload):
        return None
    try:
        cases = _DECODER.decode(payload)
    except msgspec.DecodeError:
        return None
    return Corpus(algorithm, digest.hex(), cases)


def _digest(payload: bytes | memoryview) -> bytes:
    return hashlib.blake2b(payload, digest_size=_DIGEST_BYTES).digest()
