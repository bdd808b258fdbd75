"""The ledger: planned = passed + failed + skipped, whatever happens and in whatever order it is told."""

from hypothesis import given
from hypothesis import strategies as st

from matrix.report.ledger import Entry, Ledger
from matrix.run.verdict import CRASH, FAILED, NOT_RUN, PASSED, SKIPPED

ENTRIES = st.sampled_from(
    [Entry(PASSED), Entry(FAILED, kinds=(CRASH,)), Entry(SKIPPED, reason="qemu-cannot-express"), Entry(FAILED)]
)
NAMES = st.sampled_from("abcdef")


@given(planned=st.lists(NAMES), told=st.lists(st.tuples(NAMES, ENTRIES), max_size=12))
def test_it_always_adds_up(planned: list[str], told: list[tuple[str, Entry]]) -> None:
    ledger = Ledger()
    ledger.plan(planned)
    for name, entry in told:
        ledger.record(name, entry)
    unreached = [name for name in dict.fromkeys(planned) if name not in {name for name, _ in told}]
    assert ledger.balanced == (not unreached)
    assert ledger.close() == unreached
    assert ledger.balanced
    counts = ledger.counts
    everything = {*planned, *(name for name, _ in told)}
    assert len(ledger.planned) == len(everything) == counts[PASSED] + counts[FAILED] + counts[SKIPPED]
    failed = {name for name, entry in told if entry.verdict == FAILED} | set(unreached)
    assert {name for name, entry in ledger.entries.items() if entry.verdict == FAILED} == failed


def test_what_was_not_reached_has_failed() -> None:
    ledger = Ledger()
    ledger.plan(["a", "b", "c"])
    ledger.record("b", Entry(PASSED))
    assert not ledger.balanced
    assert ledger.close() == ["a", "c"]
    assert ledger.entries["a"].kinds == (NOT_RUN,)
    assert ledger.counts == {PASSED: 1, FAILED: 2, SKIPPED: 0}
    assert ledger.close() == []


def test_planning_twice_counts_once() -> None:
    ledger = Ledger()
    ledger.plan(["a", "b"])
    ledger.plan(["b", "a"])
    assert list(ledger.planned) == ["a", "b"]


def test_a_failure_is_not_forgotten() -> None:
    ledger = Ledger()
    ledger.record("a", Entry(FAILED, kinds=(CRASH,)))
    ledger.record("a", Entry(PASSED))
    ledger.record("b", Entry(PASSED))
    ledger.record("b", Entry(FAILED, kinds=(NOT_RUN,)))
    assert [ledger.entries[name].verdict for name in "ab"] == [FAILED, FAILED]
    assert ledger.entries["a"].kinds == (CRASH,)


def test_the_line_says_it_all() -> None:
    ledger = Ledger()
    ledger.plan(["a", "b", "c", "d", "e"])
    ledger.record("a", Entry(PASSED))
    ledger.record("b", Entry(FAILED, kinds=(CRASH, "timeout")))
    ledger.record("c", Entry(SKIPPED, reason="qemu-cannot-express"))
    ledger.record("d", Entry(SKIPPED, reason="qemu-cannot-express"))
    ledger.close()
    assert ledger.line() == (
        "ledger: planned 5 = 1 passed + 2 failed (crash 1, not-run 1) + 2 skipped (qemu-cannot-express 2)"
    )
    assert ledger.reasons == {"qemu-cannot-express": 2}
    assert ledger.kinds == {CRASH: 1, NOT_RUN: 1}


def test_an_empty_ledger_adds_up_too() -> None:
    ledger = Ledger()
    assert ledger.close() == []
    assert ledger.line() == "ledger: planned 0 = 0 passed + 0 failed + 0 skipped"
