"""A guest that ends once and not again: what a kernel can cause is a failure, what came from outside is not."""

import os
import subprocess
import time

import pytest

from matrix.sandbox.host_channel import HostChannel, _child, _children
from matrix.worker import outcome as oc
from matrix.worker import process
from matrix.worker.protocol import Op

from .play import HANG, PATIENT, Stage, answers, requests


@pytest.mark.parametrize("verb", ["kill-once", "half-once"])
def test_a_guest_that_was_killed_is_unexplained_and_no_pass(stage: Stage, verb: str) -> None:
    outcomes = list(stage.guest().many(requests("a", f"{verb} marker", "b")))
    assert answers(outcomes) == ["a", f"{verb} marker", "Unrepeated"]
    assert isinstance(outcomes[2], oc.Unrepeated)
    assert outcomes[2].unexplained
    assert outcomes[2].among == 2, "the guest may have kept an answer"
    assert isinstance(outcomes[2].death, oc.Died)
    assert outcomes[2].death.status == -9
    assert len(stage.counts.notes) == 1
    assert stage.counts.notes[0].startswith("flaky: the guest was ended by SIGKILL")
    assert "answered" in stage.counts.notes[0]


@pytest.mark.parametrize("verb", ["deaf-once", "stop-once"])
def test_a_guest_that_said_nothing_once_is_unexplained(stage: Stage, verb: str) -> None:
    outcomes = list(stage.guest(deadline=HANG).many(requests("a", f"{verb} marker", "b")))
    assert answers(outcomes) == ["a", f"{verb} marker", "Unrepeated"]
    assert isinstance(outcomes[2], oc.Unrepeated)
    assert outcomes[2].unexplained


@pytest.mark.parametrize("verb", ["die-once", "crash-once", "babble-once", "hang-once"])
def test_what_comes_from_inside_is_the_kernels(stage: Stage, verb: str) -> None:
    outcomes = list(stage.guest(deadline=HANG).many(requests("a", f"{verb} marker")))
    assert answers(outcomes) == ["a", "Unrepeated"]
    assert isinstance(outcomes[1], oc.Unrepeated)
    assert not outcomes[1].unexplained


def test_no_death_is_forgiven(stage: Stage) -> None:
    guest = stage.guest()
    outcomes = [guest.one(Op.RUN, f"kill-once marker{number}".encode()) for number in range(5)]
    assert answers(outcomes) == ["Unrepeated"] * 5


def test_a_signal_of_somebody_else_costs_nothing_but_a_note(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HostChannel, "outsider", lambda _self, pid: f"process {pid}")
    asked = ["a", "told-once marker", "b"]
    assert answers(list(stage.guest().many(requests(*asked)))) == asked
    assert len(stage.counts.notes) == 1
    assert "from outside" in stage.counts.notes[0]
    assert "by process" in stage.counts.notes[0]


def test_a_signal_whose_sender_is_not_known_is_unexplained(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HostChannel, "outsider", lambda _self, pid: "")
    outcomes = list(stage.guest().many(requests("a", "told-once marker", "b")))
    assert answers(outcomes) == ["a", "Unrepeated", "b"]
    assert isinstance(outcomes[1], oc.Unrepeated)
    assert outcomes[1].unexplained


def test_signals_from_outside_that_never_end_are_a_failure(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HostChannel, "outsider", lambda _self, pid: f"process {pid}")
    monkeypatch.setattr(process, "_MOST_DISTURBED", 3)
    assert answers(list(stage.guest().many(requests("told 1", "a")))) == ["Crashed", "a"]


def test_a_process_that_the_guest_has_left_behind_ends_it(stage: Stage) -> None:
    outcomes = list(stage.guest().many(requests("a", "leaves", "b", "c")))
    assert answers(outcomes) == ["a", "Violated", "b", "c"]
    assert stage.counts.starts == 2


def test_who_is_outside(stage: Stage) -> None:
    """Ourselves and our other children; not the guest, and what is in its session."""
    (stage.folder / "pids").touch()
    channel = stage.sandbox.spawn(["sleep", "60"])
    other = subprocess.Popen(["sleep", "60"])
    try:
        channel._namespace = False
        assert channel.outsider(os.getpid()) == f"process {os.getpid()}"
        assert channel.outsider(other.pid) == f"process {other.pid}"
        assert channel.outsider(channel._process.pid) == ""
        assert channel.outsider(2**22 + 1) == "", "one that is gone may have been anything"
        channel._namespace = True
        assert channel.outsider(0)
        assert channel.outsider(os.getpid()) == "", "a pid of its own namespace"
    finally:
        channel.kill()
        other.kill()
        other.wait()


@pytest.mark.parametrize("verb", ["die", "babble", "half"])
def test_a_death_without_a_word_finds_its_request_among_answers_that_waited(stage: Stage, verb: str) -> None:
    """Finished answers die with the guest: the oldest request is not the one that it died of."""
    outcomes = list(stage.guest().many(requests("keep a", "keep b", verb, "c")))
    assert answers(outcomes) == ["keep a", "keep b", "Died" if verb == "die" else "Garbage", "c"]


def test_a_process_that_got_away_is_seen_and_ends_with_the_guest(stage: Stage) -> None:
    """Its parent is gone, and it has a session of its own: only a pid namespace holds it."""
    (stage.folder / "pids").touch()
    channel = stage.sandbox.spawn(["sh", "-c", "(setsid sleep 60 &); exec cat"])
    if not channel._namespace:
        channel.kill()
        pytest.skip("no-pid-namespace: this system allows none here")
    until = time.monotonic() + PATIENT
    while channel.strays() != 1 and time.monotonic() < until:
        time.sleep(0.01)
    _guest, stray = _children(_child(channel._process.pid))
    assert channel.finish(5) == (0, "")
    with pytest.raises(ProcessLookupError):
        os.kill(stray, 0)
