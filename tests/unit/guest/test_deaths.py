"""A guest that dies or hangs: the outcome of one request, and no other one is lost or answered twice."""

import signal
import time
from dataclasses import replace

import pytest

from matrix.errors import GuestError
from matrix.worker import outcome as oc
from matrix.worker.protocol import Op, SignalReply
from matrix.worker.window import Request

from .play import HANG, SHORT, Stage, answers, requests


def test_a_death_in_the_middle_loses_nothing_and_repeats_nothing(stage: Stage) -> None:
    asked = [f"request {number}" for number in range(20)]
    asked[7] = "die now"
    outcomes = list(stage.guest().many(requests(*asked)))
    assert answers(outcomes) == [*asked[:7], "Died", *asked[8:]]
    assert outcomes[7] == oc.Died(7, "last words\n")
    # In the window, then one by one, which may be alone already, then alone.
    assert stage.log.count("die now") in (2, 3)
    assert stage.counts.starts == stage.log.count("die now") + 1
    assert stage.counts.notes == []


def test_a_death_before_all_was_sent_leaves_no_bytes_behind(stage: Stage) -> None:
    large = [bytes([number]) * (200 << 10) for number in range(4)]
    outcomes = list(stage.guest().many(Request(Op.RUN, payload) for payload in [b"die", *large]))
    assert [type(outcome) for outcome in outcomes] == [oc.Died, *[oc.Answer] * 4]
    assert outcomes[1:] == [oc.Answer(payload) for payload in large]
    assert stage.counts.notes == []


def test_every_request_dying_is_every_outcome_dead(stage: Stage) -> None:
    outcomes = list(stage.guest().many(requests("die 1", "die 2", "ok", "die 3")))
    assert answers(outcomes) == ["Died", "Died", "ok", "Died"]


def test_a_crash_says_where(stage: Stage) -> None:
    outcomes = list(stage.guest().many(requests("a", "crash", "b")))
    assert answers(outcomes) == ["a", "Crashed", "b"]
    assert isinstance(outcomes[1], oc.Crashed)
    assert replace(outcomes[1].signal, milliseconds=0) == SignalReply(11, 1, 0x1000, 0x10054, 2, 1, -4, 64)
    assert stage.counts.notes == []


def test_an_exit_that_does_not_repeat_stays_a_failure(stage: Stage) -> None:
    """Nobody else can make a guest exit: a kernel did, and not every time."""
    outcomes = list(stage.guest().many(requests("a", "die-once marker")))
    assert answers(outcomes) == ["a", "Unrepeated"]
    assert outcomes[1] == oc.Unrepeated(oc.Died(7, ""))


def test_an_answer_that_nobody_asked_for_is_an_error_of_ours(stage: Stage) -> None:
    with pytest.raises(GuestError) as caught:
        list(stage.guest().many(requests("a", "twice-at-once")))
    assert "nobody has asked" in caught.value.what
    assert "second process" in caught.value.step


def test_a_crash_that_does_not_repeat_stays_a_failure(stage: Stage) -> None:
    outcomes = list(stage.guest().many(requests("a", "crash-once marker", "b")))
    assert answers(outcomes) == ["a", "Unrepeated", "b"]
    assert isinstance(outcomes[1], oc.Unrepeated)
    assert isinstance(outcomes[1].death, oc.Crashed)


def test_a_death_that_repeats_otherwise_is_reported_as_it_was_alone(stage: Stage) -> None:
    outcomes = list(stage.guest().many(requests("a", "crash-then-die", "b")))
    assert answers(outcomes) == ["a", "Died", "b"]
    assert "signal 11" in stage.counts.notes[0]


def test_a_hang_is_asked_where_it_is(stage: Stage) -> None:
    outcomes = list(stage.guest(deadline=HANG).many(requests("a", "hang", "b")))
    assert answers(outcomes) == ["a", "TimedOut", "b"]
    timeout = outcomes[1]
    assert isinstance(timeout, oc.TimedOut)
    assert timeout.seconds == HANG
    assert timeout.where
    assert timeout.where.number == signal.SIGTERM
    assert timeout.where.pc == 0x10054


@pytest.mark.parametrize("verb", ["deaf", "dribble"])
def test_a_hang_that_does_not_answer_is_killed(stage: Stage, verb: str) -> None:
    started = time.monotonic()
    outcomes = list(stage.guest(deadline=HANG).many(requests("a", verb, "b")))
    assert answers(outcomes) == ["a", "TimedOut", "b"]
    assert outcomes[1] == oc.TimedOut(HANG)
    assert time.monotonic() - started < 10


def test_a_crash_by_sigterm_without_a_timeout_is_a_crash(stage: Stage) -> None:
    payload = "status 6 " + (b"\x0f\0\0\0" + bytes(36) + b"\xff" * 4 + bytes(4)).hex()
    outcome = stage.guest().one(Op.RUN, payload.encode())
    assert isinstance(outcome, oc.Crashed)
    assert outcome.signal.number == signal.SIGTERM


def test_a_slow_caller_is_not_the_guests_fault(stage: Stage) -> None:
    guest = stage.guest(deadline=SHORT)
    outcomes = guest.many(requests("a", "late 0.05", "b"))
    first = next(outcomes)
    time.sleep(SHORT + 0.2)
    assert answers([first, *outcomes]) == ["a", "late 0.05", "b"]
    assert (stage.counts.starts, stage.counts.notes) == (1, [])


def test_the_time_that_a_restart_takes_is_not_the_requests(stage: Stage) -> None:
    guest = stage.guest("slow", SHORT)
    assert answers(list(guest.many(requests("die", "a")))) == ["Died", "a"]
    assert stage.counts.notes == []
