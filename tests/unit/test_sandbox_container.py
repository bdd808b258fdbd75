"""What every container is denied, and the name of the volume."""

from pathlib import Path

import pytest

from matrix.sandbox.container import BUILD, WORKER, hardened, volume_name


@pytest.mark.parametrize("kind", [BUILD, WORKER])
def test_no_container_has_a_network_privileges_or_a_writable_root(kind: str) -> None:
    options = hardened(kind, "files")
    assert options["network_mode"] == "none"
    assert options["read_only"] is True
    assert options["cap_drop"] == ["ALL"]
    assert options["security_opt"] == ["no-new-privileges"]
    assert options["user"].split(":")[0] not in ("", "0", "root")
    assert options["auto_remove"] is True
    assert options["init"] is True
    assert options["pids_limit"] > 0
    assert options["mem_limit"] == options["memswap_limit"] > 0
    assert "privileged" not in options
    assert list(options["volumes"]) == ["files"], "a named volume; a path would be a bind mount"


def test_only_the_build_container_writes() -> None:
    assert hardened(WORKER, "files")["volumes"]["files"]["mode"] == "ro"
    assert not hardened(WORKER, "files")["tmpfs"]
    assert hardened(BUILD, "files")["volumes"]["files"]["mode"] == "rw"


def test_a_volume_belongs_to_one_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPMATRIX_CACHE", str(tmp_path / "a"))
    first = volume_name()
    assert volume_name() == first
    monkeypatch.setenv("CAPMATRIX_CACHE", str(tmp_path / "b"))
    assert volume_name() != first
