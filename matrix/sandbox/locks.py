"""Where things are kept between runs, and locks so that parallel runs do each piece of work once."""

import os
from pathlib import Path

from filelock import FileLock

from matrix.errors import storing


def cache_root() -> Path:
    """The cache folder: ``CAPMATRIX_CACHE``, else ``capmatrix`` in the user's cache folder (XDG)."""
    named = os.environ.get("CAPMATRIX_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "capmatrix"


def build_lock(name: str) -> FileLock:
    """A lock between all processes of this user and machine; released when its holder dies. Raises StoreError."""
    path = cache_root() / "locks" / f"{name}.lock"
    with storing("the cache", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()  # refused now, not when the lock is taken
    return FileLock(path)
