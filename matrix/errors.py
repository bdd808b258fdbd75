"""One class per kind of failure; each says what, where, why and what to do next, and has its own exit code.

Exit codes 0 to 5 are pytest's (all passed, some failed, interrupted, internal error, wrong use, nothing ran); 2 is also
a wrong use of the command line. docs/running.md has the whole table, a row for each class here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from matrix.plain import plain, plain_line

INTERRUPTED = 2
BUG = 3
USAGE = 4
NOTHING_RAN = 5


LONGEST_LINE = 2000
"""Characters of a line of a message: names that somebody else chose may have a million."""


def shortened(text: str) -> str:
    """``text`` with the middle of every line that nobody would read left out."""
    if len(text) <= LONGEST_LINE:
        return text
    return "\n".join(map(_shortened_line, text.split("\n")))


def _shortened_line(line: str) -> str:
    half = LONGEST_LINE // 2
    left_out = len(line) - 2 * half
    return line if left_out <= 0 else f"{line[:half]}[... {left_out:,} characters ...]{line[-half:]}"


class MatrixError(Exception):
    """A failure that is reported as one message, without a traceback.

    ``what`` names the thing that is wrong, ``where`` the file and key, ``why`` the reason, ``step`` what to do next.
    """

    exit_code = 10
    step = ""

    def __init__(self, what: str, *, where: str = "", why: str = "", step: str = "") -> None:
        self.what = shortened(what)
        self.where = shortened(where)
        self.why = shortened(why)
        self.step = shortened(step) or type(self).step
        super().__init__(str(self))

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.what, self.where, self.why, self.step))

    def __str__(self) -> str:
        lines = [plain_line(self.what)]
        for label, text in (("where", self.where), ("why", self.why), ("next", self.step)):
            if text:
                lines.append(f"  {label}: {plain(text)}")
        return "\n".join(lines)


def _rebuild(kind: type[MatrixError], what: str, where: str, why: str, step: str) -> MatrixError:
    """Pickle support: keyword-only fields do not survive the default protocol."""
    return kind(what, where=where, why=why, step=step)


class TableError(MatrixError):
    """A table is wrong: targets.toml, capabilities.toml, an interface file, expected_dispatch.toml."""

    exit_code = 11
    step = "correct the named key; CONTRIBUTING.md shows the form"


class HeaderError(MatrixError):
    """The header block of a kernel file is wrong."""

    exit_code = 12
    step = "correct the /*toml ... */ block; CONTRIBUTING.md shows the form"


class MaskError(MatrixError):
    """A mask text does not parse or asks for what does not exist."""

    exit_code = 13
    step = "`capmatrix list TARGET` prints the masks of a target"


class VectorError(MatrixError):
    """A vector file is truncated, has an unknown field, or contradicts the oracle."""

    exit_code = 14
    step = "correct the entry, or restore the file from its origin, which vectors/sources.toml names"


class ReproError(MatrixError):
    """A failure file cannot be read or names what does not exist any more."""

    exit_code = 15
    step = "run the cell again to write a new failure file"


class ToolError(MatrixError):
    """A program that is needed (compiler, qemu, ninja) is missing or does not start."""

    exit_code = 16
    step = "run `capmatrix doctor` to see what is missing"


class EngineError(MatrixError):
    """The container engine does not answer."""

    exit_code = 17
    step = "start the engine, or choose `--sandbox host`"


class BuildError(MatrixError):
    """A worker could not be built: generated code or the worker's own sources do not compile or link."""

    exit_code = 18
    step = "the compiler's message stands above; `capmatrix doctor` checks the tools"


class GuestError(MatrixError):
    """A guest broke the frame protocol or does not start."""

    exit_code = 19
    step = "`capmatrix doctor` shows the emulator; if that is fine, it is a bug of the worker: please report it"


class OracleError(MatrixError):
    """An oracle function is missing, fails, has other parameters than its operation, or two oracles disagree; or the
    edge cases of an algorithm cannot be made."""

    exit_code = 20
    step = "see matrix/oracles; every operation needs one function with the operation's input names"


class SelectionError(MatrixError):
    """A filter names something that does not exist, or nothing is left to run."""

    exit_code = 21
    step = "`capmatrix list` prints what there is"


class StoreError(MatrixError):
    """A file or folder of the matrix's own cannot be written: the cache, the journal, a failure file."""

    exit_code = 22
    step = "free space, or let `CAPMATRIX_CACHE` name a folder that can be written"


class LedgerError(MatrixError):
    """A run ended without the ledger that says how."""

    exit_code = 23
    step = "take away what was given by --pytest, PYTEST_ADDOPTS or PYTEST_PLUGINS, and run again"


class CheckError(MatrixError):
    """A module of ``matrix/checks`` is no check, or plans a cell that another check has."""

    exit_code = 24
    step = "CONTRIBUTING.md, Add a check, says what a check is made of"


@contextmanager
def storing(what: str, path: Path, step: str = "") -> Iterator[None]:
    """Around writing ``what`` to ``path``: the system's refusal (OSError) becomes a StoreError with that ``step``."""
    try:
        yield
    except OSError as problem:
        why = problem.strerror or str(problem)
        raise StoreError(f"{what} cannot be written", where=str(problem.filename or path), why=why, step=step) from None
