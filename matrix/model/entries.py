"""Entries of a folder of sources: files, and not what only looks like one."""

from collections.abc import Iterator
from pathlib import Path

from matrix.errors import MatrixError

_SUFFIXES = (".c", ".S", ".h", ".toml")


def visible(folder: Path) -> Iterator[Path]:
    """The entries of ``folder``, sorted; without those that begin with a dot, such as an editor's locks."""
    yield from sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def require_files(folder: Path, error: type[MatrixError], also_folders: bool = False) -> None:
    """Raises ``error`` for a visible entry of ``folder`` that is no file: a link to nothing, a device, or a folder;
    with ``also_folders`` only a folder that has the name of a source."""
    for path in visible(folder) if folder.is_dir() else ():
        if path.suffix == ".toml":
            continue  # whoever reads the table says so
        if path.is_file() or (also_folders and path.is_dir() and path.suffix not in _SUFFIXES):
            continue
        if path.is_symlink() and not path.exists():
            why = f"it is a link to {path.readlink()}, which does not exist"
        else:
            why = "it is a folder and no regular file" if path.is_dir() else "it is no regular file"
        raise error(f"cannot read {path.name}", where=str(path), why=why, step="remove it, or restore the file")
