"""How this program is called: the words that a shell takes for it, which no file of the user's folder can get between.

``python -m matrix`` would run a ``matrix.py`` of the current folder; the script ``capmatrix`` and ``python -P`` do not.
"""

import os
import shutil
import sys
from pathlib import Path

SCRIPT = "capmatrix"
_PACKAGE = Path(__file__).resolve().parent


def command_words(start: Path, here: bool) -> list[str]:
    """The words that call this program again in a shell whose folder is ``start``.

    ``here`` says that the shell's PATH is this process's. Else, as in tox, programs are named by their paths.
    """
    script = Path(sys.executable).parent / SCRIPT
    if _is_ours(script):
        return [SCRIPT] if here and _found(SCRIPT) else [_path(script, start)]
    python = "python" if here and _found("python") else _path(Path(sys.executable), start)
    if (start / "matrix").resolve() == _PACKAGE:
        return [python, "-m", "matrix"]  # a source tree that is not installed
    return [python, "-P", "-m", "matrix"]


def _is_ours(script: Path) -> bool:
    """Whether ``script`` is run by this interpreter. Its first lines name it; pip writes two where the path is long."""
    try:
        with script.open("rb") as file:
            head = file.read(4096)
    except OSError:
        return False
    return head.startswith(b"#!") and os.fsencode(sys.executable) in head


def _found(name: str) -> bool:
    found = shutil.which(name)
    return found is not None and Path(found).parent == Path(sys.executable).parent


def _path(program: Path, start: Path) -> str:
    return os.path.relpath(program, start) if start in program.parents else str(program)


def child_environment() -> dict[str, str]:
    """This process's environment for a Python of ours: it finds this very package and takes nothing from the current
    folder; warnings that the user made errors are so for the user's programs."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"}
    environment["PYTHONSAFEPATH"] = "1"
    root = str(_PACKAGE.parent)
    if not sys.flags.safe_path and sys.path and os.path.abspath(sys.path[0]) == root:  # python -m matrix in the tree
        known = environment.get("PYTHONPATH", "")
        environment["PYTHONPATH"] = f"{root}{os.pathsep}{known}" if known else root
    return environment
