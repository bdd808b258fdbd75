"""A guest that does not answer in time: whose fault it is, what is said of it, and how long it takes."""

import time

import pytest

from matrix.worker import outcome as oc
from matrix.worker import patience, process
from matrix.worker.protocol import Op
from matrix.worker.window import Request

from .play import HANG, PATIENT, Stage, answers, requests


@pytest.mark.parametrize("where", ["in the next", "between"])
def test_the_end_that_was_asked_for_is_not_the_next_requests(stage: Stage, where: str) -> None:
    """A request is overdue, answers after all, and the signal that was meant for it arrives a moment later."""
    asked = ["a", f"answers-when-asked {where}", "b", "c"]
    assert answers(list(stage.guest(deadline=HANG).many(requests(*asked)))) == asked
    assert stage.counts.starts == 2
    assert stage.counts.notes == []


def test_a_finished_answer_that_waits_is_not_overdue(stage: Stage) -> None:
    """The oldest answer waits in the guest while it works on a later request that may take longer: nobody is late."""
    asked = [Request(Op.RUN, b"keep a"), Request(Op.RUN, b"keep-and-work 0.6", seconds=PATIENT), Request(Op.RUN, b"b")]
    outcomes = list(stage.guest(deadline=HANG).many(asked))
    assert answers(outcomes) == ["keep a", "keep-and-work 0.6", "b"]
    assert stage.counts.notes == []


def test_the_request_that_hangs_behind_finished_answers_is_blamed(stage: Stage) -> None:
    outcomes = list(stage.guest(deadline=HANG).many(requests("keep a", "keep b", "keep-and-work 60", "c")))
    assert answers(outcomes) == ["keep a", "keep b", "TimedOut", "c"]
    assert stage.counts.notes == []


def test_a_message_says_the_time_of_its_own_request(stage: Stage) -> None:
    asked = [Request(Op.RUN, b"hang"), Request(Op.RUN, b"hang", seconds=0.4), Request(Op.RUN, b"a")]
    outcomes = list(stage.guest(deadline=HANG).many(asked))
    assert [getattr(outcome, "seconds", None) for outcome in outcomes] == [HANG, 0.4, None]


def test_a_guest_that_only_computes_is_overdue_by_its_cpu_time(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "SHORT", 0.3)
    monkeypatch.setattr(process, "_LOOK_SECONDS", 0.1)
    started = time.monotonic()
    outcomes = list(stage.guest(deadline=PATIENT).many(requests("a", "spin", "b")))
    assert answers(outcomes) == ["a", "TimedOut", "b"]
    assert isinstance(outcomes[1], oc.TimedOut)
    assert outcomes[1].cpu
    assert outcomes[1].where
    assert oc.describe(outcomes[1]) == "no answer within 0.3 s of CPU time"
    assert time.monotonic() - started < PATIENT / 2


def test_a_guest_that_waits_has_the_whole_deadline(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "SHORT", 0.05)
    monkeypatch.setattr(process, "_LOOK_SECONDS", 0.02)
    assert answers(list(stage.guest(deadline=PATIENT).many(requests("late 0.5", "a")))) == ["late 0.5", "a"]
    assert (stage.counts.starts, stage.counts.notes) == (1, [])


def test_a_hang_is_confirmed_once_and_others_are_believed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "SHORT", 0.5)
    outcomes = list(stage.guest(deadline=0.7).many(requests("hang 1", "a", "hang 2", "hang 3", "b")))
    assert answers(outcomes) == ["TimedOut", "a", "TimedOut", "TimedOut", "b"]
    assert [getattr(outcome, "seconds", None) for outcome in outcomes] == [0.7, None, 0.5, 0.5, None]
    assert [stage.log.count(f"hang {number}") for number in (1, 2, 3)] == [2, 1, 1]


def test_a_hang_does_not_make_the_guest_a_slow_one(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "SHORT", 0.1)
    monkeypatch.setattr(patience, "_MUCH_SLOWER", 4)
    outcomes = list(stage.guest(deadline=0.5).many(requests("hang 1", "hang 2")))
    assert [getattr(outcome, "seconds", None) for outcome in outcomes] == [0.5, 0.1]


def test_half_a_frame_is_garbage_long_before_the_deadline(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_STUCK_FRAME", 0.2)
    monkeypatch.setattr(process, "_LOOK_SECONDS", 0.1)
    started = time.monotonic()
    outcomes = list(stage.guest(deadline=PATIENT).many(requests("a", "stuck", "b")))
    assert answers(outcomes) == ["a", "Garbage", "b"]
    assert isinstance(outcomes[1], oc.Garbage)
    assert "20 bytes of an answer, and no more" in outcomes[1].why
    assert outcomes[1].slow
    assert time.monotonic() - started < PATIENT / 2


def test_a_guest_that_is_stopped_is_told_from_one_that_hangs(stage: Stage) -> None:
    outcomes = list(stage.guest(deadline=HANG).many(requests("a", "stop", "b")))
    assert answers(outcomes) == ["a", "TimedOut", "b"]
    assert isinstance(outcomes[1], oc.TimedOut)
    assert outcomes[1].stopped
    assert "stopped, as by SIGSTOP" in oc.describe(outcomes[1])


def test_a_guest_that_prints_without_end_is_as_fast_as_its_pipe(stage: Stage) -> None:
    asked = ["chatter 20000", *(f"chatter {number}" for number in range(200)), "die"]
    started = time.monotonic()
    outcomes = list(stage.guest().many(requests(*asked)))
    assert answers(outcomes) == [*asked[:-1], "Died"]
    assert time.monotonic() - started < PATIENT / 2
    assert isinstance(outcomes[-1], oc.Died)
    assert outcomes[-1].stderr.endswith("last words\n")
    assert len(outcomes[-1].stderr) <= 4000
