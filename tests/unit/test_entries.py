"""What lies among sources and is no file is one error that names it, wherever it lies; hidden entries are no matter."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from matrix.errors import MatrixError

if TYPE_CHECKING:
    from tests.unit.conftest import Tree


def _dangling(path: Path) -> None:
    path.symlink_to("/nonexistent")


KINDS: dict[str, tuple[Callable[[Path], None], str]] = {
    "link": (_dangling, "a link to /nonexistent, which does not exist"),
    "folder": (Path.mkdir, "it is a folder"),
    "fifo": (lambda path: os.mkfifo(path), "it is no regular file"),
}
SOURCES = ("cipher/cipher_x.c", "cipher/x.h", "cipher/x.S", "worker/x.c", "worker/x.h", "shared/x.h")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [f"kernels/{source}" for source in SOURCES])
def test_among_kernels(tree: "Tree", name: str, kind: str) -> None:
    for folder in ("worker", "shared"):
        (tree.root / "kernels" / folder).mkdir()
    path = tree.root / name
    path.unlink(missing_ok=True)
    make, why = KINDS[kind]
    make(path)
    with pytest.raises(MatrixError) as caught:
        tree.load()
    assert (caught.value.where, caught.value.what) == (str(path), f"cannot read {path.name}")
    assert why in caught.value.why


def test_hidden_entries_are_no_sources(tree: "Tree") -> None:
    before = len(tree.load().provider("kernels").variants)
    for name in ("cipher/.#cipher_c.c", "cipher/.#x.h", ".#capabilities.toml"):
        _dangling(tree.root / "kernels" / name)
    assert len(tree.load().provider("kernels").variants) == before
