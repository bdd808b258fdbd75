"""The journal: one JSON line for the run, one per cell as it ends, one per failing case, one for the ledger."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from matrix.errors import TableError


class Journal:
    """Written line by line and flushed, so that a killed run leaves all that it had measured."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: TextIO = path.open("w", encoding="utf-8")

    def write(self, line: str, /, **fields: Any) -> None:
        """Append one JSON object: ``line`` says which sort of line it is."""
        self._file.write(json.dumps({"line": line, **fields}, sort_keys=True) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a journal, less a last line that a kill cut off. Raises TableError for anything else."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except (OSError, UnicodeDecodeError) as problem:
        raise TableError("a journal cannot be read", where=str(path), why=str(problem)) from None
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError(f"{type(row).__name__}, an object expected")
            yield row
        except ValueError as problem:
            if number == len(lines) and not line.endswith("\n"):
                return
            raise TableError("a journal line is not JSON", where=f"{path}, line {number}", why=str(problem)) from None
