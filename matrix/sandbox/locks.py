"""Where things are kept between runs, and locks so that parallel runs do each piece of work once."""

import os
from pathlib import Path

from filelock import FileLock


def cache_root() -> Path:
    """The cache folder: ``CAPMATRIX_CACHE``, else ``capmatrix`` in the user's cache folder (XDG)."""
    named = os.environ.get("CAPMATRIX_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "capmatrix"


def build_lock(name: str) -> FileLock:
    """A lock between all processes of this user and machine; released when its holder dies."""
    folder = cache_root() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / f"{name}.lock")
