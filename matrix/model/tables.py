"""Read TOML into typed records, and turn every mistake in it into one TableError that names file, key and reason."""

import tomllib
from pathlib import Path
from typing import TypeVar

import msgspec

from matrix.errors import MatrixError, TableError

T = TypeVar("T")


def read_toml(path: Path, kind: type[T], error: type[MatrixError] = TableError) -> T:
    """Parse the TOML file ``path`` into ``kind`` (a msgspec struct). Raises ``error`` for what does not fit."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        why = (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
        raise error(f"cannot read {path.name}", where=str(path), why=why, step="restore the file") from None
    return parse_toml(text, kind, str(path), error)


def parse_toml(text: str, kind: type[T], where: str, error: type[MatrixError] = TableError) -> T:
    """Parse TOML ``text`` that comes from ``where`` into ``kind``. Raises ``error`` naming key and reason."""
    name = Path(where).name
    try:
        return msgspec.convert(tomllib.loads(text), kind)
    except tomllib.TOMLDecodeError as problem:
        raise error(f"{name} is not TOML", where=where, why=str(problem), step="correct that line") from None
    except msgspec.ValidationError as problem:
        reason, _, key = str(problem).partition(" - at `")
        place = f"{where}, key {key.rstrip('`').removeprefix('$.')}" if key else where
        raise error(f"{name} has a wrong entry", where=place, why=reason) from None
