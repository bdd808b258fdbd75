"""Read a text file that somebody else may have written: a regular file of UTF-8 and of bounded size, or one error."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

from matrix.errors import MatrixError

TABLE_BYTES = 1 << 20
"""The most that a table may have; parsing one of this size takes seconds."""
SOURCE_BYTES = 16 << 20
"""The most that a kernel file may have."""
VECTOR_BYTES = 64 << 20
"""The most that a file of published vectors may have."""


def read_text(path: Path, error: Callable[..., MatrixError], most: int = TABLE_BYTES) -> str:
    """The text of ``path`` with line ends as ``\\n``.

    Raises ``error`` for what is missing, cannot be read, is no regular file (a FIFO would never end), has more than
    ``most`` bytes, or is not UTF-8 without a byte order mark.
    """

    def refuse(why: str, step: str) -> MatrixError:
        return error(f"cannot read {path.name}", where=str(path), why=why, step=step)

    try:
        # Without O_NONBLOCK a FIFO without a writer would hang in open().
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise refuse("it is no regular file", "put the file itself there")
            with open(file, "rb", closefd=False) as stream:
                data = stream.read(most + 1)
        finally:
            os.close(file)
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the path
        why = (problem.strerror if isinstance(problem, OSError) else "") or str(problem)
        raise refuse(why, "restore the file") from None
    if len(data) > most:
        raise refuse(f"it has more than {most:,} bytes", "restore the file, or split it")
    if data.startswith(b"\xef\xbb\xbf"):
        raise refuse("it begins with a byte order mark (EF BB BF)", "save it as UTF-8 without one")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise refuse(f"byte {data[problem.start]:#04x} in line {line} is not UTF-8", "save it as UTF-8") from None
    return text.replace("\r\n", "\n")
