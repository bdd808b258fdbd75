"""Where a result comes from: the commit, what in the tree differs from it, and digests of the sources."""

import hashlib
import os
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from matrix.model.catalog import Catalog, Provider
from matrix.model.shared import shared_headers

_TRACKED = "kernels/capabilities.toml"
"""A file of the sources that git knows, if it knows them: an installed package may lie in a checkout of others."""
_SOURCES = ("kernels", "images", "matrix", "vectors", "tests/conformance")
_MOST_NAMED = 50


@dataclass(frozen=True)
class Tree:
    """The state of the sources: the ``commit``, '' outside a git checkout or before its first commit, and which files
    of theirs differ from it or are new, None where git cannot say."""

    commit: str
    changed: tuple[str, ...] | None

    def as_json(self) -> dict[str, object]:
        """The form of journal and failure file."""
        return {"commit": self.commit, "dirty": None if self.changed is None else list(self.changed)}


@cache
def tree_state(root: Path) -> Tree:
    """The state of the sources at ``root``, looked at once per process."""
    commit = _git(root, "rev-parse", "HEAD") if _git(root, "ls-files", "--", _TRACKED) else None
    if not commit:
        return Tree("", None)
    status = _git(root, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--", *_SOURCES)
    if status is None:
        return Tree(commit.strip(), None)
    names = [entry[3:] for entry in status.split("\0") if entry]
    more = [f"and {len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    return Tree(commit.strip(), (*names[:_MOST_NAMED], *more))


def _git(root: Path, *arguments: str) -> str | None:
    """What git says, None when it fails."""
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, check=False, timeout=10, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def source_files(catalog: Catalog, target: str, provider: str, algorithm: str = "") -> dict[str, Path]:
    """{path below the root: file} of what a worker, and its kernels of ``algorithm`` and of those that this one's
    variants are composed of ('' means all), are made from."""
    owner, row = catalog.provider(provider), catalog.targets.get(target)
    variants = owner.for_target(row, catalog.capabilities[row.arch])
    paths = [*_files(catalog.worker_root, ".c", ".S", ".h")]
    shared: set[Path] = set()
    paths += [catalog.root / "kernels" / "capabilities.toml", catalog.root / "images" / "targets.toml"]
    for name in _with_parts(owner, [algorithm]) if algorithm else owner.interfaces:
        path = owner.interfaces[name].path
        own = [*_files(path.parent, ".h"), *(v.path for v in variants if v.algorithm == name)]
        paths += [path, *own]
        shared |= {owner.root / header for header in shared_headers(owner.root, map(_content, own), _content)}
    paths += shared
    root = catalog.root
    return {str(path.relative_to(root) if root in path.parents else path): path for path in sorted(paths)}


def digests(files: dict[str, Path]) -> dict[str, str]:
    """{name: SHA-256 in hex} of those of ``files`` that can be read; one without a digest differs from one with."""
    found = {}
    for name, path in files.items():
        with suppress(OSError):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def _with_parts(provider: Provider, algorithms: Iterable[str]) -> set[str]:
    todo, found = list(algorithms), set[str]()
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += [part for variant in provider.variants if variant.algorithm == name for part in variant.composes]
    return found


def _content(path: Path) -> bytes:
    """What is in a source; nothing in one that cannot be read: who builds it says so."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _files(folder: Path, *suffixes: str) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.suffix in suffixes)


def differing(recorded: dict[str, str], now: dict[str, str]) -> list[str]:
    """The names in either whose digests are not the same in both."""
    return sorted(name for name in recorded.keys() | now.keys() if recorded.get(name) != now.get(name))
