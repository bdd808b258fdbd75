"""The docker sandbox keeps the Sandbox contract, and a worker built in it answers."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from matrix.build.worker import build_worker
from matrix.errors import ToolError
from matrix.model.catalog import Catalog
from matrix.sandbox.docker import DockerSandbox
from matrix.worker import outcome as oc
from matrix.worker.process import Guest, GuestCounts
from matrix.worker.protocol import Op
from matrix.worker.window import Request

from .ground import IMAGES, containers


@pytest.fixture
def arm(sandbox: DockerSandbox, catalog: Catalog) -> DockerSandbox:
    sandbox.ready_for(catalog.targets.get("arm32-noneon"))
    return sandbox


def test_files_are_written_read_and_missed(arm: DockerSandbox) -> None:
    files = {"a/b/x": bytes(range(256)) * 1000, "a/y": b"", "z": b"1"}
    assert arm.missing([*files, "other"]) == {*files, "other"}
    arm.write(files)
    assert arm.missing([*files, "a/b", "other"]) == {"other"}
    assert {path: arm.read(path) for path in files} == files
    assert arm.read_all(files) == files
    assert arm.read_all([]) == {}
    arm.write({"z": b"2"})
    assert arm.read("z") == b"2"
    for absent in ("other", "a"):
        with pytest.raises(FileNotFoundError):
            arm.read(absent)
        with pytest.raises(FileNotFoundError, match=f"^{absent}$"):
            arm.read_all(["z", absent])
    assert arm.missing([]) == set()


def test_files_outlive_the_sandbox(arm: DockerSandbox, catalog: Catalog) -> None:
    arm.write({"kept": b"1"})
    arm.close()
    later = DockerSandbox(IMAGES, print)
    later.ready_for(catalog.targets.get("x86_64"))
    assert later.read("kept") == b"1", "all families share the volume"
    later.close()


def test_commands(arm: DockerSandbox) -> None:
    arm.write({"sub/x": b""})
    done = arm.run(["sh", "-c", "pwd; ls; echo err >&2; cat; exit 3"], "sub")
    assert (done.status, done.stdout, done.stderr) == (3, "/w/sub\nx\n", "err\n")
    assert arm.run(["sh", "-c", "kill -SEGV $$"]).status == -11
    assert len(arm.run(["head", "-c", "3000000", "/dev/zero"]).stdout) == 3000000
    with pytest.raises(ToolError, match="cannot start no-such-program"):
        arm.run(["no-such-program"])
    started = time.monotonic()
    with pytest.raises(ToolError, match="did not end"):
        arm.run(["sh", "-c", "sleep 60; true"], seconds=1)
    assert time.monotonic() - started < 20


def test_commands_run_side_by_side(arm: DockerSandbox) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda number: arm.run(["echo", str(number)]).stdout, range(12)))
    assert found == [f"{number}\n" for number in range(12)]


def test_a_command_runs_where_its_tool_is(arm: DockerSandbox, catalog: Catalog) -> None:
    for name in ("x86_64", "arm32-noneon", "x86", "aarch64"):
        arm.ready_for(catalog.targets.get(name))
    for target in (catalog.targets.get(name) for name in ("arm32-noneon", "x86_64", "aarch64", "x86")):
        assert arm.run([target.compiler, "--version"]).status == 0
        assert arm.run([target.qemu, "--version"]).status == 0


def test_the_same_build_twice_compiles_once_and_answers(arm: DockerSandbox, catalog: Catalog) -> None:
    target = catalog.targets.get("arm32-noneon")
    built = build_worker(arm, catalog, target, catalog.providers[0])
    assert not built.failed
    before = arm.run(["find", ".", "-type", "f", "-printf", "%p %T@\n"]).stdout
    again = build_worker(arm, catalog, target, catalog.providers[0])
    assert (again.worker, again.build_id, again.objects) == (built.worker, built.build_id, built.objects)
    assert arm.run(["find", ".", "-type", "f", "-printf", "%p %T@\n"]).stdout == before

    guest = Guest(lambda: arm.spawn([target.qemu, "-cpu", "cortex-a9", built.worker]), GuestCounts())
    assert guest.hello.build_id == built.build_id
    sizes = [0, 1, 8, 70_000, 1_000_000, 4_000_000]
    payloads = [bytes([size % 251]) * size for size in sizes]
    answers = list(guest.many(Request(Op.PING, payload) for payload in payloads))
    assert answers == [oc.Answer(payload) for payload in payloads]
    guest.close()


def test_a_guest_that_does_not_start_is_reported_with_its_words(arm: DockerSandbox) -> None:
    channel = arm.spawn(["no-such-emulator", "worker"])
    deadline = time.monotonic() + 20
    while channel.receive() is not None and time.monotonic() < deadline:
        channel.wait_ready(False, 1)
    status, words = channel.finish(5)
    assert status == 127
    assert "no-such-emulator" in words


def test_interrupt_kill_and_a_guest_that_does_not_end(arm: DockerSandbox, engine: Any) -> None:
    trap = "trap 'echo stopped; exit 7' TERM; echo ready; while :; do sleep 0.05; done"
    channel = arm.spawn(["sh", "-c", trap])
    assert line_of(channel) == b"ready\n"
    channel.interrupt()
    assert line_of(channel) == b"stopped\n"
    assert channel.finish(5) == (7, "")

    killed = arm.spawn(["sh", "-c", "echo ready; exec sleep 12345"])
    assert line_of(killed) == b"ready\n"
    killed.kill()
    hanging = arm.spawn(["sh", "-c", "trap '' TERM; echo ready; echo last words >&2; sleep 12345 & wait; sleep 12345"])
    assert line_of(hanging) == b"ready\n"
    status, words = hanging.finish(0.5)
    assert (status, words) == (-9, "last words\n")
    worker = containers(engine, capmatrix="worker")
    assert len(worker) >= 1
    table = "\n".join(" ".join(row) for one in worker for row in one.top()["Processes"])
    assert "exec sleep" not in table
    assert table.count("sleep 12345") <= 1, "only the orphan of the hanging one's background job may be left"


def line_of(channel: Any) -> bytes:
    data = b""
    deadline = time.monotonic() + 20
    while not data.endswith(b"\n") and time.monotonic() < deadline:
        channel.wait_ready(False, 1)
        more = channel.receive()
        assert more is not None, data
        data += more
    return data
