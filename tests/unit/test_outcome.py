"""Outcomes: which end a guest, which are the same, and what they are called in a note."""

import pytest

from matrix.worker import outcome as oc
from matrix.worker.protocol import SignalReply, Violation


def _crash(number: int = 11, pc: int = 0x100, step: int = 0, address: int = 0) -> oc.Crashed:
    return oc.Crashed(SignalReply(number, 1, address, pc, step, 0, 0, 0))


ALIVE: tuple[oc.Outcome, ...] = (
    oc.Answer(b""),
    oc.Refused(2, "no"),
    oc.Violated("canary", Violation(0, 0, 0)),
    oc.RegisterClobbered(0, "r4"),
)
DEAD: tuple[oc.Outcome, ...] = (_crash(), oc.Died(1, "why"), oc.TimedOut(10), oc.Garbage("zeros"))


def test_deaths() -> None:
    assert [oc.is_death(outcome) for outcome in ALIVE] == [False] * 4
    assert [oc.is_death(outcome) for outcome in DEAD] == [True] * 4


@pytest.mark.parametrize("other", [_crash(4), _crash(pc=0x104), _crash(step=1), oc.Died(1, ""), oc.Answer(b"")])
def test_crashes_differ_by_signal_pc_and_step(other: oc.Outcome) -> None:
    assert not oc.same_death(_crash(), other)


def test_the_same_death() -> None:
    assert oc.same_death(_crash(address=1), _crash(address=2)), "addresses move from guest to guest"
    assert oc.same_death(oc.Died(1, "a"), oc.Died(2, "b"))
    assert oc.same_death(oc.TimedOut(10), oc.TimedOut(10))
    assert not oc.same_death(oc.TimedOut(10), oc.Died(1, ""))


def test_descriptions_say_what_is_known() -> None:
    texts = [oc.describe(outcome) for outcome in (*ALIVE, *DEAD)]
    assert len(set(texts)) == len(texts)
    assert texts[0] == "answered"
    assert "signal 11 at pc 0x100" in texts
    assert any("status 1" in text and "why" in text for text in texts)
    assert any("10 s" in text for text in texts)
    assert oc.describe(oc.TimedOut(1.5)) == "no answer within 1.5 s"
    assert any("zeros" in text for text in texts)
