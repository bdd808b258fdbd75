"""Files in a folder of the user's: only what we have written is written over or deleted, and no link is followed."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from matrix.errors import StoreError, storing

_STEP = "free space, or start the run in a folder that can be written"
_AWAY = "move it away, or start the run in another folder"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def forget(root: Path, folder: Path, begin: str) -> None:
    """Delete the files ``*.json`` in ``folder`` (relative to ``root``) that begin with ``begin``. Raises StoreError."""
    with _storing("failures/", root / folder), suppress(FileNotFoundError), _inside(root, folder) as place:
        for name in os.listdir(place):
            if name.endswith(".json") and _is_ours(place, name, begin):
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=place)


def write(root: Path, file: Path, text: str, begin: str) -> None:
    """Write ``text`` to ``file`` (relative to ``root``), whose folders are made. Raises StoreError.

    What stands there is written over if it begins with ``begin``.
    """
    with _storing("a failure file", root / file), _inside(root, file.parent, make=True) as place:
        _write(place, root / file, text, begin)


@contextmanager
def _storing(what: str, path: Path) -> Iterator[None]:
    """As ``storing``, for calls that name what they are refused relative to a descriptor."""
    with storing(what, path, _STEP):
        try:
            yield
        except OSError as problem:
            problem.filename = str(path)
            raise


def _write(place: int, path: Path, text: str, begin: str) -> None:
    if not _is_ours(place, path.name, begin, absent=True):
        why = "what stands there is no failure file of ours"
        raise StoreError("a failure file cannot be written", where=str(path), why=why, step=_AWAY)
    descriptor = os.open(path.name, os.O_WRONLY | os.O_CREAT | _FILE, 0o666, dir_fd=place)
    with open(descriptor, "w", encoding="utf-8") as stream:
        os.ftruncate(descriptor, 0)
        stream.write(text)


def _is_ours(place: int, name: str, begin: str, absent: bool = False) -> bool:
    """Whether ``name`` is a regular file that begins as ours do, or is empty, as a full disk leaves it."""
    try:
        if not stat.S_ISREG(os.stat(name, dir_fd=place, follow_symlinks=False).st_mode):
            return False
        descriptor = os.open(name, os.O_RDONLY | _FILE, dir_fd=place)
    except FileNotFoundError:
        return absent
    with open(descriptor, "rb") as stream:
        return stream.read(len(begin)) in (b"", begin.encode())


@contextmanager
def _inside(root: Path, folder: Path, make: bool = False) -> Iterator[int]:
    """A descriptor of ``folder``, none of whose parts below ``root`` is a link; with ``make`` they are made."""
    place = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for count, part in enumerate(folder.parts, 1):
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=place)
            path = root.joinpath(*folder.parts[:count])
            if stat.S_ISLNK(os.stat(part, dir_fd=place, follow_symlinks=False).st_mode):
                why = "it is a link, and what it names may be somebody else's"
                raise StoreError("failure files are not kept behind a link", where=str(path), why=why, step=_AWAY)
            inner = os.open(part, _FOLDER, dir_fd=place)
            os.close(place)
            place = inner
        yield place
    finally:
        os.close(place)
