"""The journal: one JSON line for the run, one per cell as it ends, one per failing case, one for the ledger."""

import fcntl
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from matrix.errors import StoreError, TableError, storing

DEFAULT_JOURNAL = ".capmatrix/journal.jsonl"


def journal_path(folder: Path, named: str) -> Path:
    """Where the journal of a run that is started in ``folder`` lies; ``named`` is what `--journal` says, '' nothing."""
    return folder / (named or DEFAULT_JOURNAL)


class Journal:
    """Written line by line and flushed, so that a killed run leaves all that it had measured.

    An earlier journal in its place is overwritten, unless its run still goes on: it holds a lock on the file.
    ``problem`` is why a line could not be written, '' as long as all could.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        with storing("the journal", path, "`--journal FILE` moves it"):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: TextIO = path.open("a", encoding="utf-8")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            why = "another run writes it now, and puts its failure files beside it"
            step = "wait for it, start this run in another folder, or give it its own `--journal FILE`"
            raise StoreError("the journal is in use", where=str(path), why=why, step=step) from None
        with storing("the journal", path, "`--journal FILE` moves it"):
            if path.is_file():  # not a device or a pipe
                self._file.truncate(0)

    def write(self, line: str, /, **fields: Any) -> None:
        """Append one JSON object: ``line`` says which sort of line it is."""
        try:
            self._file.write(json.dumps({"line": line, **fields}, sort_keys=True) + "\n")
            self._file.flush()
        except OSError as problem:
            self.problem = self.problem or str(problem)  # the run goes on in memory; the summary says it

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError as problem:
            self.problem = self.problem or str(problem)


_WHICH = "name the journal of a run (.capmatrix/journal.jsonl)"


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a journal, less a last line that a kill cut off. Raises TableError for anything else."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except (OSError, UnicodeDecodeError) as problem:
        raise TableError("a journal cannot be read", where=str(path), why=str(problem), step=_WHICH) from None
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError(f"{type(row).__name__}, an object expected")
            yield row
        except ValueError as problem:
            if number == len(lines) and not line.endswith("\n"):
                return
            raise TableError(
                "a journal line is not JSON", where=f"{path}, line {number}", why=str(problem), step=_WHICH
            ) from None
