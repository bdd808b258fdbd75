"""Which plants run on each push: all on the host, in docker one in five. The others there are marked ``nightly``."""

import zlib

import pytest

_ONE_IN = 5


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark by a digest of the plant's name, so that the choice does not change when others come."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        params = callspec.params if callspec else {}
        name = str(params.get("name", ""))
        if params.get("sandbox") == "docker" and zlib.crc32(name.encode()) % _ONE_IN:
            item.add_marker(pytest.mark.nightly)
