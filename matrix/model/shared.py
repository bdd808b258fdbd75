"""Headers that several algorithms share: ``kernels/shared/``, which a kernel reads by ``#include "shared/NAME.h"``."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from matrix.errors import HeaderError
from matrix.model.entries import require_files, visible

SHARED = "shared"
"""The folder, beside those of the algorithms."""
_NAMED = re.compile(rb'"(shared/[A-Za-z0-9_][A-Za-z0-9_.-]*\.h)"')


def require_headers(folder: Path) -> None:
    """Raises HeaderError when the shared ``folder`` holds what no kernel could include."""
    require_files(folder, HeaderError)
    for path in visible(folder) if folder.is_dir() else ():
        if path.suffix != ".h":
            why = "the shared folder holds headers, which end in .h"
            raise HeaderError(f"{path.name} would be ignored", where=str(path), why=why, step="rename or move it")


def shared_headers(
    root: Path, texts: Iterable[bytes], read: Callable[[Path], bytes] = Path.read_bytes
) -> dict[str, bytes]:
    """{``shared/NAME.h``: content} of the shared headers below ``root`` that ``texts`` name, and those that these name.

    A name counts wherever it stands in quotes, also in a comment or a macro. One that does not exist is left out: the
    compiler says so. ``read`` gets the content of a header; what it raises is raised here.
    """
    found: dict[str, bytes] = {}
    todo = list(texts)
    while todo:
        for match in _NAMED.finditer(todo.pop()):
            name = match[1].decode()
            if name not in found and (root / name).is_file():
                found[name] = read(root / name)
                todo.append(found[name])
    return found
