"""What can be done from inside the container that guests run in: nothing."""

from typing import Any

import pytest

from matrix.model.catalog import Catalog
from matrix.sandbox.base import Sandbox
from matrix.sandbox.docker import DockerSandbox

from .ground import containers

LOOK = r"""
echo "user $(id -u) $(id -G)"
sed -n 's/^\(Cap[A-Za-z]*\|NoNewPrivs\|Seccomp\):[ \t]*/\1 /p' /proc/self/status
for interface in /sys/class/net/*; do echo "interface ${interface##*/}"; done
for folder in / /w /usr/bin /root /etc /var/tmp /tmp /dev /proc; do
    if ( : > "$folder/x" ) 2>/dev/null; then echo "writes $folder"; fi
done
if mount -t tmpfs none /mnt 2>/dev/null; then echo "mounts"; fi
if chown 0 /proc/self/exe 2>/dev/null; then echo "chowns"; fi
find / -xdev -perm /6000 -type f 2>/dev/null | sed 's/^/setuid /'
awk '$2 !~ "^/(proc|sys|dev)" { print "mount", $2, $4 }' /proc/mounts
echo end
"""


def look(sandbox: Sandbox) -> list[str]:
    channel = sandbox.spawn(["sh", "-c", LOOK])
    said = b""
    while (more := channel.receive()) is not None:
        said += more
        channel.wait_ready(False, 1)
    channel.finish(10)
    return said.decode().splitlines()


@pytest.fixture
def seen(sandbox: DockerSandbox, catalog: Catalog) -> list[str]:
    sandbox.ready_for(catalog.targets.get("arm32-noneon"))
    return look(sandbox)


def test_a_guest_has_no_network_no_root_no_capability_and_nowhere_to_write(seen: list[str]) -> None:
    assert "user 65534 65534" in seen
    assert [line for line in seen if line.startswith("interface ")] == ["interface lo"]
    capabilities = [line.split() for line in seen if line.startswith("Cap")]
    assert len(capabilities) == 5
    assert all(int(value, 16) == 0 for _, value in capabilities)
    assert "NoNewPrivs 1" in seen
    assert [line for line in seen if line.startswith("writes ")] in ([], ["writes /dev"]), "a /dev of its own at most"
    assert not {"mounts", "chowns"} & set(seen)
    mounts = {line.split()[1]: line.split()[2].split(",") for line in seen if line.startswith("mount ")}
    assert "ro" in mounts["/"]
    assert "ro" in mounts["/w"]
    assert seen[-1] == "end"


def test_containers_are_bounded_labelled_and_bind_nothing(
    sandbox: DockerSandbox, catalog: Catalog, engine: Any
) -> None:
    sandbox.ready_for(catalog.targets.get("arm32-noneon"))
    sandbox.run(["true"])
    look(sandbox)
    mine = [one for one in containers(engine) if one.labels["capmatrix"] in ("build", "worker")]
    assert {one.labels["capmatrix"] for one in mine} >= {"build", "worker"}
    for one in mine:
        host = one.attrs["HostConfig"]
        assert host["NetworkMode"] == "none"
        assert host["ReadonlyRootfs"]
        assert host["CapDrop"] == ["ALL"]
        assert not host["Privileged"]
        assert host["Memory"] == host["MemorySwap"] > 0
        assert 0 < host["PidsLimit"] <= 4096
        assert [mount["Type"] for mount in one.attrs["Mounts"]] == ["volume"]
        assert one.labels["capmatrix.owner"]


def test_the_build_container_has_no_network_and_no_root(sandbox: DockerSandbox, catalog: Catalog) -> None:
    sandbox.ready_for(catalog.targets.get("arm32-noneon"))
    seen = sandbox.run(["sh", "-c", LOOK]).stdout.splitlines()
    assert "user 65534 65534" in seen
    assert [line for line in seen if line.startswith("interface ")] == ["interface lo"]
    assert all(int(line.split()[1], 16) == 0 for line in seen if line.startswith("Cap"))
    assert {line for line in seen if line.startswith("writes ")} <= {"writes /w", "writes /tmp", "writes /dev"}
