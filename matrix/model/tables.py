"""Read TOML into typed records, and turn every mistake in it into one error that names file, line or key, and reason.

All TOML of the project is read here.
"""

import re
import tomllib
from bisect import bisect_left
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from matrix.errors import MatrixError, TableError
from matrix.model.textfile import read_text

T = TypeVar("T")
_MOST_PARTS = 32
_DEEP_KEY = re.compile(rf"""(?<![\w.-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{_MOST_PARTS}}}""")
"""A dotted key with more parts than any table has levels: tomllib's memory grows with the square of their number."""


def read_toml(path: Path, kind: type[T], error: type[MatrixError] = TableError) -> T:
    """Parse the TOML file ``path`` into ``kind`` (a msgspec struct). Raises ``error`` for what does not fit."""
    return parse_toml(read_text(path, error), kind, str(path), error)


def parse_toml(text: str, kind: type[T], where: str, error: type[MatrixError] = TableError) -> T:
    """Parse TOML ``text`` that comes from ``where`` into ``kind``. Raises ``error`` naming line or key, and reason."""
    name = Path(where).name
    try:
        values = _parsed(text)
        if wide := _wide_number(values):
            raise error(f"{name} has a wrong entry", where=f"{where}, key {wide}", why="a number of more than 64 bits")
        return msgspec.convert(values, kind)
    except tomllib.TOMLDecodeError as problem:
        raise error(f"{name} is not TOML", where=where, why=str(problem), step="correct that line") from None
    except msgspec.ValidationError as problem:
        reason, _, key = str(problem).partition(" - at `")
        place = f"{where}, key {key.rstrip('`').removeprefix('$.')}" if key else where
        raise error(f"{name} has a wrong entry", where=place, why=reason) from None


def _parsed(text: str) -> dict[str, Any]:
    """What ``text`` holds. Raises TOMLDecodeError, also where tomllib lets Python's own limits show."""
    if deep := _DEEP_KEY.search(text):
        line = text.count("\n", 0, deep.start()) + 1
        raise tomllib.TOMLDecodeError(f"a key has more than {_MOST_PARTS} parts (at line {line})")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        reason = "arrays or tables are nested too deep"
    except ValueError:
        reason = "a number has too many digits"
    raise tomllib.TOMLDecodeError(f"{reason} (at line {_line_of_limit(text)})")


def _wide_number(values: dict[str, Any]) -> str:
    """The key of a number that TOML does not have (beyond 64 bits), or ''."""
    todo: list[tuple[str, Any]] = [("", values)]
    while todo:
        key, value = todo.pop()
        if isinstance(value, dict):
            todo += [(f"{key}.{name}".lstrip("."), inner) for name, inner in value.items()]
        elif isinstance(value, list):
            todo += [(f"{key}[{index}]", inner) for index, inner in enumerate(value)]
        elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            return key
    return ""


def _line_of_limit(text: str) -> int:
    """The line at which tomllib meets a limit: the last one of the shortest beginning of ``text`` that meets it."""
    lines = text.split("\n")

    def meets(count: int) -> bool:
        try:
            tomllib.loads("\n".join(lines[:count]))
        except tomllib.TOMLDecodeError:
            return False
        except (RecursionError, ValueError):
            return True
        return False

    return bisect_left(range(len(lines)), True, key=meets)
