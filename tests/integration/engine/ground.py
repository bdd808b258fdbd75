"""What the tests with a real engine share: looking at it past the product, and a second one."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker

from matrix.resources import data_root
from matrix.sandbox.container import volume_name
from matrix.sandbox.owner import LABEL

from ..support import descendants

IMAGES = data_root() / "images"


def until(holds: Callable[[], bool], what: str, seconds: float = 30) -> None:
    """Wait until ``holds()``."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"not after {seconds:.0f} s: {what}"
        time.sleep(0.05)


def connect() -> Any:
    """A client of the engine that is not the product's own."""
    return docker.from_env()


def drop_volume(client: Any) -> None:
    """Remove the volume of the cache folder that is in force."""
    for volume in client.volumes.list(filters={"name": volume_name()}):
        volume.remove()


def containers(client: Any, **labels: str) -> list[Any]:
    """Containers of ours, running or not, with these labels."""
    filters = [LABEL, *(f"{name}={value}" for name, value in labels.items())]
    return list(client.containers.list(all=True, filters={"label": filters}, ignore_removed=True))


def containers_of(client: Any, pids: Collection[int]) -> list[Any]:
    """Our containers that the processes ``pids`` made."""
    owners = {one.id: one.labels.get("capmatrix.owner", "").split(" ") for one in containers(client)}
    return [one for one in containers(client) if len(owner := owners.get(one.id, [])) == 3 and int(owner[1]) in pids]


def family(pid: int) -> set[int]:
    """A process and all that it has started."""
    return {pid} | {child for child, _ in descendants(pid)}


@dataclass
class SecondEngine:
    """A dockerd of this test, on a socket of its own, with the first one's images."""

    folder: Path
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def address(self) -> str:
        """Its DOCKER_HOST."""
        return f"unix://{self.folder}/engine.sock"

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "pid").unlink(missing_ok=True)
        self._end_containerd()
        options = {"--host": self.address, "--data-root": f"{self.folder}/data", "--exec-root": f"{self.folder}/exec"}
        options |= {"--pidfile": f"{self.folder}/pid", "--bridge": "none", "--iptables": "false"}
        command = ["dockerd", "--ip-forward=false", *(f"{name}={value}" for name, value in options.items())]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            until(self.answers, "dockerd answers", 60)
        except AssertionError as late:
            log_lines = (self.folder / "log").read_text(errors="replace").splitlines()
            raise AssertionError("\n".join([f"{late}; the end of its log:", *log_lines[-40:]])) from None

    def answers(self) -> bool:
        """Whether it answers."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            try:
                connection.connect(self.address.removeprefix("unix://"))
                connection.sendall(b"GET /_ping HTTP/1.0\r\nHost: engine\r\n\r\n")
                return b" 200 " in connection.recv(100)
            except OSError:
                return False

    def client(self) -> Any:
        """A client of it, to be used in a ``with`` statement."""
        return Client(self.address)

    def end(self, number: int) -> None:
        """Send it a signal and wait for its end; one that has ended already is fine."""
        assert self.process
        self.process.send_signal(number)
        self.process.wait(60)

    def _end_containerd(self) -> None:
        """End the containerd that a killed dockerd left. The next dockerd would take it up by its pid file, and now and
        then (2 of 12 times) such a containerd lives but no longer answers."""
        record = self.folder / "exec" / "containerd" / "containerd.pid"
        if record.exists():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(record.read_text()), signal.SIGKILL)
            record.unlink()

    def remove(self) -> None:
        """End it and remove its files, after the mounts that a dockerd leaves which was killed."""
        self.end(signal.SIGTERM)
        self._end_containerd()
        for line in reversed(Path("/proc/mounts").read_text().splitlines()):
            place = line.split()[1]
            if Path(place).is_relative_to(self.folder):
                subprocess.run(["umount", "--lazy", place], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def take_images(self, first: Any, image: str) -> None:
        """Copy ``image`` and our base from the first engine."""
        bases = [tag for base in first.images.list(filters={"label": f"{LABEL}=base"}) for tag in base.tags]
        with self.client() as client:
            for reference in [*bases, image]:
                client.images.load(first.images.get(reference).save(named=reference))


class Client:
    """A client that is closed at the end of a ``with`` statement."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._client: Any = None

    def __enter__(self) -> Any:
        self._client = docker.DockerClient(base_url=self._address, timeout=120)
        return self._client

    def __exit__(self, *_: object) -> None:
        self._client.close()
