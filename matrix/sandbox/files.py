"""Files on their way into and out of a container: one tar stream; on the way in, renamed into place."""

import io
import shlex
import tarfile
from collections.abc import Mapping
from pathlib import PurePosixPath

RECEIVE = """
mkdir -p .incoming && folder=$(mktemp -d .incoming/XXXXXXXX) || exit 1
tar -xf - -C "$folder" && sh "$folder/place" "$folder"
status=$?
rm -rf "$folder"
exit $status
"""
"""Reads the stream that ``pack`` makes, in the sandbox's root. A file appears complete or not at all."""


def pack(files: Mapping[str, bytes]) -> bytes:
    """A tar stream of ``files`` (path below the root: content), grouped by folder, and the script that moves them."""
    folders: dict[str, dict[str, bytes]] = {}
    for path, data in files.items():
        place = PurePosixPath(path)
        if place.is_absolute() or ".." in place.parts:
            raise ValueError(f"{path!r} is not below the root")
        folders.setdefault(str(place.parent), {})[place.name] = data
    script = ["set -e", "mkdir -p -- " + shlex.join(folders)]
    script += [
        f'find "$1/{index}" -type f -exec mv -f -t {shlex.quote(folder)} -- {{}} +'
        for index, folder in enumerate(folders)
    ]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        _add(tar, "place", "\n".join([*script, ""]).encode())
        for index, content in enumerate(folders.values()):
            for name, data in content.items():
                _add(tar, f"{index}/{name}", data)
    return buffer.getvalue()


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    entry.mode = 0o644
    entry.mtime = 1  # a constant; ninja takes 0 for a file that does not exist
    tar.addfile(entry, io.BytesIO(data))


def unpack(stream: bytes) -> dict[str, bytes]:
    """{path: content} of the regular files in a tar stream."""
    with tarfile.open(fileobj=io.BytesIO(stream), mode="r") as tar:
        opened = ((entry.name, tar.extractfile(entry)) for entry in tar)
        return {name: file.read() for name, file in opened if file}
