"""What the matrix writes for itself: the system's refusal is one error that names the file and the way out."""

from pathlib import Path

import pytest

from matrix.errors import StoreError, storing
from matrix.report.costs import load_costs, save_costs
from matrix.sandbox.host import HostSandbox
from matrix.sandbox.locks import build_lock, cache_root


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CAPMATRIX_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_only_the_systems_refusal_is_meant(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught, storing("a thing", tmp_path, "do this"):
        (tmp_path / "absent" / "file").write_text("")
    assert str(caught.value).splitlines() == [
        "a thing cannot be written",
        f"  where: {tmp_path}/absent/file",
        "  why: No such file or directory",
        "  next: do this",
    ]
    with pytest.raises(KeyError), storing("a thing", tmp_path):
        raise KeyError("a bug")


def test_a_cache_that_is_a_file_is_an_error(cache: Path) -> None:
    cache.write_text("")
    for write in (lambda: build_lock("x"), lambda: HostSandbox(cache_root() / "host"), lambda: save_costs({"a": 1.0})):
        with pytest.raises(StoreError) as caught:
            write()
        assert str(cache) in caught.value.where
        assert "CAPMATRIX_CACHE" in caught.value.step
    assert load_costs() == {}


def test_a_full_disk_is_an_error(cache: Path) -> None:
    cache.mkdir()
    (cache / "costs.tmp").symlink_to("/dev/full")
    with pytest.raises(StoreError, match="No space left on device"):
        save_costs({"a": 1.0})


def test_a_file_in_the_place_of_a_folder_of_the_sandbox_is_an_error(tmp_path: Path) -> None:
    sandbox = HostSandbox(tmp_path)
    sandbox.write({"sources/a.c": b"a"})
    with pytest.raises(StoreError) as caught:
        sandbox.write({"sources/a.c/b.c": b"b"})
    assert "a.c" in caught.value.where
