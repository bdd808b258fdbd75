"""The tar stream and the script that unpacks it, with this machine's sh and tar in the place of a container's."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from matrix.sandbox.files import RECEIVE, pack, unpack


def receive(root: Path, stream: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["sh", "-c", RECEIVE], cwd=root, input=stream, capture_output=True, check=False)


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_files_arrive_in_new_and_old_folders(tmp_path: Path) -> None:
    files: Mapping[str, bytes] = {
        "top": b"1",
        "sources/ab/x.c": b"\0\xff\n" * 5000,
        "sources/ab/.hidden": b"",
        "sources/cd/with blank.h": b"2",
        "sources/cd/$(touch evil)'": b"3",
    }
    assert receive(tmp_path, pack(files)).returncode == 0
    assert contents(tmp_path) == files
    assert receive(tmp_path, pack({"top": b"other"})).returncode == 0
    assert contents(tmp_path) == {**files, "top": b"other"}


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x"])
def test_a_path_outside_the_root_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="not below the root"):
        pack({path: b""})


def test_a_torn_stream_changes_nothing(tmp_path: Path) -> None:
    assert receive(tmp_path, pack({"a/b": b"old"})).returncode == 0
    torn = pack({"a/b": b"new" * 4000, "a/c": b"new" * 4000})[:9000]
    assert receive(tmp_path, torn).returncode != 0
    assert contents(tmp_path) == {"a/b": b"old"}


def test_a_stream_is_unpacked(tmp_path: Path) -> None:
    files = {"a/b/x": b"\0\xff" * 5000, "with blank": b"", "z": b"1"}
    assert receive(tmp_path, pack(files)).returncode == 0
    made = subprocess.run(["tar", "-cf", "-", "--", *files, "a"], cwd=tmp_path, capture_output=True, check=True)
    assert unpack(made.stdout) == files
