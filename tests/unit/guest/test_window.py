"""One guest process: every request has exactly one outcome, in order, whatever the child answers."""

from collections.abc import Iterator

import pytest

from matrix.worker import outcome as oc
from matrix.worker.protocol import Op, Violation
from matrix.worker.window import Request

from .play import Stage, answers, requests


def test_every_request_of_a_long_window_has_its_answer(stage: Stage) -> None:
    guest = stage.guest()
    asked = [f"request {number}" for number in range(700)]
    assert answers(list(guest.many(requests(*asked)))) == asked
    assert stage.log == asked
    assert (stage.counts.starts, stage.counts.requests, stage.counts.notes) == (1, 700, [])


def test_large_requests_and_answers_do_not_block_each_other(stage: Stage) -> None:
    guest = stage.guest()
    asked = [bytes([number]) * (300 << 10) for number in range(16)]
    outcomes = list(guest.many(Request(Op.PING, payload) for payload in asked))
    assert outcomes == [oc.Answer(payload) for payload in asked]


@pytest.mark.parametrize(("size", "most"), [(10, 256), (400 << 10, 3)])
def test_requests_are_taken_only_as_the_window_has_room(stage: Stage, size: int, most: int) -> None:
    taken = 0

    def source() -> Iterator[Request]:
        nonlocal taken
        for _ in range(600):
            taken += 1
            yield Request(Op.PING, b"x" * size)

    outcomes = stage.guest().many(source())
    next(outcomes)
    assert taken == most
    outcomes.close()


@pytest.mark.parametrize(
    ("verb", "why"),
    [
        ("babble", "a frame of 0 bytes"),
        ("half", "ends inside a frame"),
        ("stray", "not the oldest"),
        ("other-op", "an answer to operation"),
        ("status 10 00", "10"),
        ("status 3 0000", "wrong size"),
        ("status 4 0000", "wrong size"),
        ("status 5 00", "wrong size"),
        ("status 6 0000", "wrong size"),
    ],
)
def test_garbage_is_the_outcome_of_its_request_alone(stage: Stage, verb: str, why: str) -> None:
    outcomes = list(stage.guest().many(requests("a", verb, "b", "c")))
    assert answers(outcomes) == ["a", "Garbage", "b", "c"]
    garbage = outcomes[1]
    assert isinstance(garbage, oc.Garbage)
    assert why in garbage.why


def test_a_second_answer_to_one_request_is_given_to_nobody(stage: Stage) -> None:
    outcomes = list(stage.guest().many(requests("a", "twice", "b", "c")))
    (odd,) = (outcome for outcome in outcomes if isinstance(outcome, oc.Unrepeated))
    assert odd in outcomes[2:], "it is as one of those that were in flight with it"
    assert "not the oldest" in oc.describe(odd.death)
    assert [o for o in answers(outcomes) if o != "Unrepeated"] in (["a", "twice", "b"], ["a", "twice", "c"])


def test_violations_and_refusals_are_outcomes_and_the_guest_lives_on(stage: Stage) -> None:
    place = "010002000300000000000000"
    outcomes = list(
        stage.guest().many(
            requests(
                f"status 3 {place}", f"status 4 {place}", "status 5 020003007234", "status 2 6e6f", "status 7 6f68"
            )
        )
    )
    assert outcomes[:2] == [oc.Violated("canary", Violation(1, 2, 3)), oc.Violated("input", Violation(1, 2, 3))]
    assert isinstance(outcomes[2], oc.Garbage), "a length that is not the text's"
    assert outcomes[3:] == [oc.Refused(2, "no"), oc.Refused(7, "oh")]


def test_clobbered_registers_are_named(stage: Stage) -> None:
    outcome = stage.guest().one(Op.RUN, b"status 5 020002007234")
    assert outcome == oc.RegisterClobbered(2, "r4")


def test_stopping_early_ends_the_guest_and_the_next_request_meets_no_old_answer(stage: Stage) -> None:
    guest = stage.guest()
    outcomes = guest.many(requests(*(f"late 0.02 {number}" for number in range(10))))
    assert answers([next(outcomes), next(outcomes)]) == ["late 0.02 0", "late 0.02 1"]
    outcomes.close()
    assert stage.alive() == []
    assert answers(list(guest.many(requests("x", "y")))) == ["x", "y"]
    assert stage.counts.starts == 2


def test_a_source_that_fails_ends_the_guest_too(stage: Stage) -> None:
    def source() -> Iterator[Request]:
        yield Request(Op.RUN, b"late 0.05")
        raise KeyError("no such buffer")

    guest = stage.guest()
    with pytest.raises(KeyError):
        list(guest.many(source()))
    assert answers([guest.one(Op.RUN, b"x")]) == ["x"]


def test_single_requests_share_one_guest(stage: Stage) -> None:
    guest = stage.guest()
    assert answers([guest.one(Op.RUN, payload.encode()) for payload in "abc"]) == ["a", "b", "c"]
    assert stage.counts.starts == 1


def test_request_ids_wrap_and_are_never_zero(stage: Stage) -> None:
    guest = stage.guest()
    guest._last_id = 0xFFFF_FFFE
    assert [guest.next_id(), guest.next_id(), guest.next_id()] == [1, 2, 3]
