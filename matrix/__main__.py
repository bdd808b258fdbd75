"""Entry point: says what is missing where the program cannot even be loaded, and hands over to the command line."""

import os
import sys
from importlib.util import find_spec

NEEDED = (3, 11)
LOADED_LATE = ("docker", "pytest", "xdist")
"""Packages that are loaded only where they are needed; one that is missing is named all the same, and at once."""
_CANNOT_START = 16
_INTERRUPTED = 2


def main() -> None:
    """Run the command that was given; Ctrl-C is a word and a code wherever it comes."""
    try:
        _main()
    except KeyboardInterrupt:  # click has not begun, or has ended
        print("interrupted", file=sys.stderr)
        _exit(_INTERRUPTED)


def _main() -> None:
    """Imports what needs other packages only here, so that one can be named."""
    _open_standard_streams()
    if sys.version_info < NEEDED:
        _refuse(f"Python {'.'.join(map(str, NEEDED))} or later is needed", f"this is {sys.version.split()[0]}", "")
    try:
        from matrix.command_line import main as run

        for name in LOADED_LATE:
            if find_spec(name) is None:
                raise ModuleNotFoundError(name=name)
    except ModuleNotFoundError as problem:
        missing = (problem.name or "").partition(".")[0]
        if missing == "matrix":
            raise
        source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        in_tree = os.path.exists(os.path.join(source, "pyproject.toml"))
        step = f"{sys.executable} -m pip install {'-e ' + source if in_tree else 'capmatrix'}"
        more = f", or {source}/toxw, which makes an environment of its own" if in_tree else ""
        _refuse(f"the Python package {missing} is missing", f"{sys.executable} does not have it", step + more)
    run()


def _refuse(what: str, why: str, step: str) -> None:
    lines = [f"error: {what}", f"  why: {why}", *([f"  next: {step}"] if step else [])]
    print("\n".join(lines), file=sys.stderr)
    _exit(_CANNOT_START)


def _exit(code: int) -> None:
    """End with ``code``, which says nothing of the failure that `repro` was to run again (`git bisect run` stops)."""
    sys.exit(code + (128 if sys.argv[1:2] == ["repro"] else 0))


def _open_standard_streams() -> None:
    """A stream that was closed (``>&-``) leads nowhere: else the next file to be opened would take its number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # takes the lowest number that is free
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


if __name__ == "__main__":
    main()
