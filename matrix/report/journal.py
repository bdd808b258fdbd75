"""The journal: one JSON line for the run, one per cell as it ends, one per failure, one for the ledger.

Each line begins with what it is about: its sort, the id of its cell, the verdict; what is long comes last.
"""

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from matrix.errors import StoreError, TableError, storing
from matrix.model.textfile import read_text

FOLDER = Path(".capmatrix")
"""Where the journal of a run goes that was not told another place, below the folder where it was started."""
_FIRST = "run"
"""The sort of a journal's first line, by which a file is known as one."""
_FIRST_BYTES = 1 << 20
_STEP = "`--journal FILE` moves it"
_OTHER = "name another file with `--journal FILE`, or move this one away"


def journal_path(folder: Path, named: str = "", shard: str = "") -> Path:
    """Where the journal of a run that is started in ``folder`` lies; ``named`` is what `--journal` says, '' nothing.

    A ``shard`` (I/N) has one of its own there: the next one in the same folder leaves it alone.
    """
    index, _, count = shard.partition("/")
    return folder / (named or FOLDER / (f"journal-{index}-of-{count}.jsonl" if shard else "journal.jsonl"))


class Journal:
    """Written line by line and flushed, so that a killed run leaves all that it had measured.

    An earlier journal in its place is overwritten, unless its run still goes on: it holds a lock on the file. Nothing
    else is: not the file that a link names, nor a file that is not empty and does not begin as a journal does.
    ``problem`` is why a line could not be written, '' as long as all could.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        self._file = _opened(path)
        try:
            self._take(self._file.fileno())
        except BaseException:
            self._file.close()
            raise

    def _take(self, file: int) -> None:
        """Lock the open file and empty it, once it is known to be ours. Raises StoreError."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            why = "another run writes it now, and puts its failure files beside it"
            step = "wait for it, start this run in another folder, or give it its own `--journal FILE`"
            raise StoreError("the journal is in use", where=str(self.path), why=why, step=step) from None
        if not _begins_a_journal(os.pread(file, _FIRST_BYTES, 0)):
            why = "it is not empty, and its first line is not that of a journal"
            raise StoreError("the journal would overwrite another file", where=str(self.path), why=why, step=_OTHER)
        with storing("the journal", self.path, _STEP):
            os.ftruncate(file, 0)

    def write(self, line: str, /, **fields: Any) -> None:
        """Append one JSON object, its keys in this order: ``line`` says which sort of line it is."""
        text = json.dumps({"line": line, **fields}).replace("\x7f", r"\u007f")  # all else that is odd JSON escapes
        try:
            self._file.write(text + "\n")
            self._file.flush()
        except OSError as problem:
            self.problem = self.problem or str(problem)  # the run goes on in memory; the summary says it

    def fileno(self) -> int:
        """Its descriptor."""
        return self._file.fileno()

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError as problem:
            self.problem = self.problem or str(problem)


def _opened(path: Path) -> TextIO:
    """The regular file ``path``, made if it is not there. Raises StoreError."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with storing("the journal", path, _STEP):
        path.parent.mkdir(parents=True, exist_ok=True)
        kind = _kind(path)
        if not kind:
            file = os.open(path, flags, 0o666)
            if stat.S_ISREG(os.fstat(file).st_mode):
                return open(file, "a", encoding="utf-8")
            os.close(file)
    why = f"it is {kind or 'no regular file'}; a journal is a regular file, which can be read again"
    raise StoreError("the journal cannot be written there", where=str(path), why=why, step=_OTHER)


def _kind(path: Path) -> str:
    """What ``path`` is, if it is there and no regular file; opening a device might do something already."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return ""
    kinds = ((stat.S_ISLNK, "a link"), (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a FIFO"))
    named = next((name for test, name in kinds if test(mode)), "a device or a socket")
    return "" if stat.S_ISREG(mode) else named


def _begins_a_journal(data: bytes) -> bool:
    """Whether a file that begins with ``data`` is empty or a journal, perhaps one whose first line was cut off."""
    if not data or data.startswith(json.dumps({"line": _FIRST})[:-1].encode()):
        return True
    try:
        row = json.loads(data.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and row.get("line") == _FIRST


_WHICH = "name the journal of a run (.capmatrix/journal.jsonl)"
_MOST_BYTES = 1 << 30


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a journal, less a last line that a kill cut off. Raises TableError for anything else."""
    lines = read_text(path, TableError, _MOST_BYTES).split("\n")
    for number, line in enumerate(lines, 1):
        if number == len(lines) and not line:
            return
        try:
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError(f"{type(row).__name__}, an object expected")
            yield row
        except (ValueError, RecursionError) as problem:
            if number == len(lines):
                return
            raise TableError(
                "a journal line is not JSON", where=f"{path}, line {number}", why=str(problem), step=_WHICH
            ) from None
