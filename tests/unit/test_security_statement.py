"""SECURITY.md and README say of the sandboxes what the options of the containers are."""

import re

import pytest

from matrix.resources import data_root
from matrix.sandbox.container import BUILD, WORKER, hardened

TEXT = " ".join((data_root() / "SECURITY.md").read_text().split())


@pytest.mark.parametrize("kind", [BUILD, WORKER])
def test_containers_are_what_is_promised(kind: str) -> None:
    options = hardened(kind, "volume")
    assert options["network_mode"] == "none"
    assert options["read_only"]
    assert options["cap_drop"] == ["ALL"]
    assert options["security_opt"] == ["no-new-privileges"]
    assert options["user"] == "65534:65534"
    assert list(options["volumes"]) == ["volume"], "a volume alone, nothing of the machine's"
    assert options["volumes"]["volume"]["mode"] == ("rw" if kind == BUILD else "ro")
    assert bool(options["tmpfs"]) == (kind == BUILD)
    assert options["mem_limit"] == options["memswap_limit"]
    for word in ("no network", "read-only root", "no capabilities", "65534", "no-new-privileges", "no bind mount"):
        assert word in TEXT


def test_the_limits_are_those_that_are_named() -> None:
    guest, build = hardened(WORKER, "volume"), hardened(BUILD, "volume")
    found = re.search(
        r"at most (\d+) GiB of memory and (\d+) processes for guests, (\d+) GiB and (\d+) for builds", TEXT
    )
    assert found
    assert [int(number) for number in found.groups()] == [
        guest["mem_limit"] >> 30,
        guest["pids_limit"],
        build["mem_limit"] >> 30,
        build["pids_limit"],
    ]
    assert build["tmpfs"] == {"/tmp": "size=1g"}


def test_the_readme_says_which_sandbox_is_a_boundary() -> None:
    readme = " ".join((data_root() / "README.md").read_text().split())
    assert "The host sandbox is no security boundary" in readme
    assert "(SECURITY.md)" in readme
