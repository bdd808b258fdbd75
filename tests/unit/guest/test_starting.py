"""A guest that starts, restarts and is closed: what it must be, and the mask that outlives it."""

import os
import signal

import pytest

from matrix.errors import GuestError
from matrix.worker import outcome as oc
from matrix.worker import patience
from matrix.worker.protocol import Op

from .play import Stage, answers, requests


def test_a_mask_outlives_a_death(stage: Stage) -> None:
    guest = stage.guest()
    assert guest.set_mask(0b101) == 0b101
    outcomes = list(guest.many(requests("mask", "die", "mask")))
    assert outcomes[0] == outcomes[2] == oc.Answer((0b101).to_bytes(8, "little"))


def test_clearing_a_mask_takes_a_fresh_guest_only_when_one_was_set(stage: Stage) -> None:
    guest = stage.guest()
    guest.clear_mask()
    assert stage.counts.starts == 1
    guest.set_mask(0)
    guest.clear_mask()
    assert stage.counts.starts == 2
    assert guest.one(Op.RUN, b"mask") == oc.Answer((0b111).to_bytes(8, "little"))


def test_a_refused_mask_is_an_error_and_is_not_repeated(stage: Stage) -> None:
    guest = stage.guest()
    with pytest.raises(GuestError, match="not detected"):
        guest.set_mask(0b1000)
    assert answers(list(guest.many(requests("die", "a")))) == ["Died", "a"]


def test_a_guest_that_ended_while_it_was_idle_says_so_when_it_is_told_a_mask(stage: Stage) -> None:
    guest = stage.guest()
    (pid,) = stage.alive()
    os.kill(pid, signal.SIGKILL)
    ended = guest.set_mask(0b101)
    assert isinstance(ended, oc.Unrepeated)
    assert isinstance(ended.death, oc.Died)
    assert guest.set_mask(0b101) == 0b101


def test_a_mask_that_is_refused_after_a_restart_is_an_error(stage: Stage) -> None:
    guest = stage.guest("stubborn")
    guest.set_mask(1)
    with pytest.raises(GuestError, match="after a restart"):
        list(guest.many(requests("die")))


def test_a_restarted_worker_must_be_the_same_build(stage: Stage) -> None:
    guest = stage.guest("rebuilt")
    assert guest.hello.build_id == "b1d"
    with pytest.raises(GuestError, match="another build"):
        list(guest.many(requests("die")))


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("broken", "cannot map the arena"),
        ("babble", "garbage"),
        ("future", "version 9"),
    ],
)
def test_a_guest_that_does_not_start_is_an_error_that_says_why(stage: Stage, mode: str, why: str) -> None:
    with pytest.raises(GuestError, match=why):
        stage.guest(mode)
    assert stage.alive() == []


def test_a_guest_that_says_nothing_is_an_error(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "START", 0.2)
    with pytest.raises(GuestError, match="does not start"):
        stage.guest("mute")
    assert stage.alive() == []


def test_closing_twice_is_fine_and_a_closed_guest_starts_again(stage: Stage) -> None:
    guest = stage.guest()
    guest.close()
    guest.close()
    assert stage.alive() == []
    assert answers([guest.one(Op.RUN, b"a")]) == ["a"]


def test_a_guest_that_is_killed_before_its_first_word_is_started_again(stage: Stage) -> None:
    guest = stage.guest("killed-at-start")
    assert answers([guest.one(Op.RUN, b"a")]) == ["a"]
    assert stage.counts.starts == 2
    assert stage.counts.notes == ["a guest was ended while it started: the guest was ended by SIGKILL"]
