"""Guests, containers, owners and engines that end when they should not; nothing of ours stays behind."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from matrix.build.worker import build_worker
from matrix.model.catalog import Catalog
from matrix.sandbox.container import hardened, volume_name
from matrix.sandbox.docker import DockerSandbox
from matrix.sandbox.image import ensure_image, read_recipe
from matrix.sandbox.owner import Owner, labels
from matrix.worker import outcome as oc
from matrix.worker.process import Guest, GuestCounts
from matrix.worker.protocol import Op
from matrix.worker.window import Request

from ..support import MAIN_TARGET, REPOSITORY, check_balance, environment, finish, journal, lines, start, wait_for_cells
from .ground import IMAGES, SecondEngine, containers, containers_of, family, until

LONG_CELL = f"{MAIN_TARGET}/hard/none/chacha20_poly1305-composed"
KILL_GUESTS = (
    'for p in /proc/[0-9]*; do case "$(tr "\\0" " " <"$p/cmdline")" in qemu-*) kill -9 "${p#/proc/}";; esac; done'
)


def kill_guest(container: Any) -> None:
    container.exec_run(["sh", "-c", KILL_GUESTS])


def kill_container(container: Any) -> None:
    container.kill()


def remove_container(container: Any) -> None:
    container.remove(force=True)


def pause_container(container: Any) -> None:
    container.pause()


@pytest.mark.parametrize("blow", [kill_guest, kill_container, remove_container, pause_container])
def test_a_blow_costs_nothing_but_a_note_when_the_engine_was_asked_for_it(
    warm_sandbox: DockerSandbox, catalog: Catalog, engine: Any, blow: Callable[[Any], None]
) -> None:
    target = catalog.targets.get(MAIN_TARGET)
    built = build_worker(warm_sandbox, catalog, target, catalog.providers[0])
    counts = GuestCounts()
    argv = [target.qemu, "-cpu", "cortex-a9", built.worker]
    guest = Guest(lambda: warm_sandbox.spawn(argv), counts, deadline=3.0)
    (worker,) = (one for one in containers_of(engine, {os.getpid()}) if one.labels["capmatrix"] == "worker")
    payloads = [number.to_bytes(4, "little") * 200 for number in range(60_000)]
    thread = threading.Timer(0.3, blow, [worker])
    thread.start()
    answers = list(guest.many(Request(Op.PING, payload) for payload in payloads))
    thread.join()
    guest.close()
    odd = [outcome for outcome in answers if not isinstance(outcome, oc.Answer)]
    assert len(answers) == len(payloads)
    assert [outcome for outcome in answers if isinstance(outcome, oc.Answer)] == [
        oc.Answer(payload) for payload, outcome in zip(payloads, answers, strict=True) if outcome not in odd
    ]
    assert len(counts.notes) == 1
    if blow is kill_guest:  # as a kernel could have done it
        assert [type(outcome) for outcome in odd] == [oc.Unrepeated]
    else:
        assert not odd
        assert counts.starts == 2
        assert "from outside" in counts.notes[0]
        assert "its container" in counts.notes[0]
    warm_sandbox.close()
    assert not containers_of(engine, {os.getpid()})


@pytest.mark.parametrize("blow", [kill_guest, kill_container])
def test_a_blow_in_a_run_changes_no_verdict_but_that_of_its_cell(
    engine: Any, shared_cache: Path, tmp_path: Path, blow: Callable[[Any], None]
) -> None:
    more = {"CAPMATRIX_CACHE": str(shared_cache)}
    # All placements: on an idle machine the quick ones are over before the blow falls.
    options = ("-n", "0", "--sandbox", "docker", "--placements", "full")
    process = start(tmp_path, "-m", "matrix", "run", LONG_CELL, *options, more=more)

    def workers() -> list[Any]:
        return [one for one in containers_of(engine, family(process.pid)) if one.labels["capmatrix"] == "worker"]

    until(lambda: bool(workers()), "the run has a worker container", 120)
    time.sleep(1.5)
    (worker,) = workers()
    blow(worker)
    status, output = finish(process)
    ledger = check_balance(journal(tmp_path))
    assert (status, ledger["kinds"]) == ((1, {"unreliable": 1}) if blow is kill_guest else (0, {})), output
    assert len(ledger["notes"]) == 1, output
    assert not containers_of(engine, {process.pid})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_run_leaves_no_container(engine: Any, shared_cache: Path, tmp_path: Path, number: int) -> None:
    more = {"CAPMATRIX_CACHE": str(shared_cache)}
    process = start(tmp_path, "-m", "matrix", "run", LONG_CELL, "-n", "0", "--sandbox", "docker", more=more)
    until(lambda: bool(containers_of(engine, family(process.pid))), "the run has containers", 120)
    time.sleep(1)
    pids = family(process.pid)
    for pid in pids if number == signal.SIGKILL else [process.pid]:
        os.kill(pid, number)
    status, _ = finish(process)
    assert status != 0
    until(lambda: not containers_of(engine, pids), "its containers are gone", 30)


def test_leftovers_of_the_dead_are_removed_and_others_are_not(cache: Path, engine: Any) -> None:
    sandbox = DockerSandbox(IMAGES, print)
    image = ensure_image(sandbox._engine, read_recipe(IMAGES, "arm"), print)
    ended = subprocess.Popen(["true"])
    ended.wait()
    alive = Owner.this_process()
    owners = {"dead": replace(alive, pid=ended.pid), "live": alive, "far": replace(alive, machine="far", pid=ended.pid)}
    made = {}
    try:
        for name, owner in owners.items():
            options = {**hardened("worker", "capmatrix-test-leftovers"), "auto_remove": False}
            tags = labels("worker", owner)
            made[name] = engine.containers.create(image, ["sleep", "600"], labels=tags, **options)
            made[name].start()
        DockerSandbox(IMAGES, print).close()
        left = {one.id for one in containers(engine)}
        assert {name for name, one in made.items() if one.id in left} == {"live", "far"}
    finally:
        for one in engine.containers.list(all=True):
            if one.id in {other.id for other in made.values()}:
                one.remove(force=True)
        engine.volumes.get("capmatrix-test-leftovers").remove()
        sandbox.close()


OWNER = """
    import sys, time
    from pathlib import Path
    from matrix.model.catalog import load_catalog
    from matrix.sandbox.docker import DockerSandbox

    root = Path(sys.argv[1])
    sandbox = DockerSandbox(root / "images", print)
    sandbox.ready_for(load_catalog(root).targets.get("arm32-noneon"))
    sandbox.run(["true"])
    channel = sandbox.spawn(["sleep", "600"])
    print("ready", flush=True)
    exec(sys.argv[2])
"""


@pytest.mark.parametrize("end", ["pass", "raise SystemExit(3)", "raise KeyboardInterrupt", "import os; os._exit(1)"])
def test_a_process_takes_its_containers_with_it(cache: Path, engine: Any, end: str) -> None:
    script = textwrap.dedent(OWNER)
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(REPOSITORY), end],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    output, _ = process.communicate(timeout=60)
    assert "ready" in output
    until(lambda: not containers_of(engine, {process.pid}), "its containers are gone", 20)


def test_a_dead_engine_ends_the_run_clearly(second_engine: SecondEngine, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    more = {"CAPMATRIX_CACHE": str(tmp_path / "other"), "DOCKER_HOST": second_engine.address}
    process = start(folder, "-m", "matrix", "run", MAIN_TARGET, "-n", "2", "--sandbox", "docker", more=more)
    wait_for_cells(folder, process, 3)
    second_engine.end(signal.SIGKILL)
    status, output = finish(process)
    assert status != 0
    assert "the container engine does not answer" in output
    assert "Traceback" not in output
    rows = journal(folder)
    ledger = check_balance(rows)
    assert ledger["passed"] >= 3
    assert ledger["failed"] > 0
    assert {kind for row in lines(rows, "cell") if row["verdict"] == "failed" for kind in row["kinds"]} == {"not-run"}

    second_engine.start()
    with second_engine.client() as client:
        until(lambda: not containers(client), "the engine is back and has no container of ours", 20)


def test_a_second_engine_works_unchanged(
    second_engine: SecondEngine, tmp_path: Path, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAPMATRIX_CACHE", str(tmp_path / "other"))
    more = {"DOCKER_HOST": second_engine.address}
    cell = f"{MAIN_TARGET}/hard/none/chacha20"
    process = start(tmp_path / "run", "-m", "matrix", "run", cell, "-n", "0", "--sandbox", "auto", more=more)
    status, output = finish(process)
    assert status == 0, output
    assert second_engine.address in output
    assert lines(journal(tmp_path / "run"), "run")[0]["sandbox"] == "docker"
    assert not engine.volumes.list(filters={"name": volume_name()}), "the first engine had no part in it"
    with second_engine.client() as client:
        assert client.volumes.list(filters={"name": volume_name()})
        assert not containers(client)
