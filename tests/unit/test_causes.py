"""Which failures of a cell have one cause, and what is said of the others."""

from typing import Any

from matrix.report.causes import also_words, by_cause
from matrix.run import verdict as vd

WRONG = "tag: {} of 16 bytes are wrong, the first at {} (block of 64: 0, of 16: 0, counted from 0): expected {}, got {}"


def _row(kind: str, summary: str, case: str = "", placement: str = "", **details: object) -> dict[str, Any]:
    row = {"kind": kind, "case": case, "placement": placement, "summary": summary, "details": details}
    return row | ({"file": f"failures/{case}-{placement}.json"} if case else {})


def test_one_wrong_answer_in_many_cases_is_one() -> None:
    rows = [
        _row(vd.WRONG_ANSWER, WRONG.format(16, 0, "a8061dc1", "cd920bcc"), "a", "after", output="tag", got="cd"),
        _row(vd.WRONG_ANSWER, WRONG.format(16, 0, "a8061dc1", "cd920bcc"), "a", "before", output="tag", got="cd"),
        _row(vd.WRONG_ANSWER, WRONG.format(3, 13, "1234567890", "deadbeef"), "b", "after", output="tag", got="de"),
    ]
    (one,) = by_cause(rows)
    assert one["case"] == "a"
    assert one["also"] == [
        {"case": "a", "placement": "before", "file": "failures/a-before.json"},
        {"case": "b", "placement": "after", "file": "failures/b-after.json"},
    ]
    assert also_words(one) == "the same in 2 more: a (before), b (after)"
    assert list(one)[-1] == "details", "what is long comes last"


def test_what_differs_in_more_than_numbers_stays_apart() -> None:
    crash = "SIGSEGV in f+0x10, pc 0x10010, instruction `ldr r0`, address {} past the end of data"
    rows = [
        _row(vd.CRASH, crash.format("1 byte"), "a", "after", symbol="f+0x10", signal="SIGSEGV", instruction="ldr r0"),
        _row(vd.CRASH, crash.format("1 byte"), "b", "after", symbol="f+0x18", signal="SIGSEGV", instruction="ldr r0"),
        _row(vd.VIOLATION, "callee-saved registers not preserved: r4", "c", "after", registers="r4"),
        _row(vd.VIOLATION, "callee-saved registers not preserved: r5", "d", "after", registers="r5"),
        _row(vd.WRONG_ANSWER, WRONG.format(1, 1, "00", "01"), "e", "after", operation="mac"),
        _row(vd.WRONG_ANSWER, WRONG.format(1, 1, "00", "01"), "e", "after", operation="tag"),
        _row(vd.BUILD, "hash-c does not build: error"),
        _row(vd.BUILD, "hash-d does not build: error"),
        _row(vd.WRONG_VARIANT, "entered hash.c32, planned hash.c64"),
        _row(vd.WRONG_VARIANT, "entered hash.c64, planned hash.c32"),
    ]
    assert [row["also"] for row in by_cause(rows)] == [[]] * len(rows)
    assert also_words(by_cause(rows)[0]) == ""


def test_a_failure_of_the_whole_cell_names_its_case_in_words() -> None:
    text = "SIGSEGV in f; it did not repeat (case {}, placement after)"
    (one,) = by_cause([_row(vd.CRASH, text.format("a")), _row(vd.CRASH, text.format("b"))])
    assert one["also"] == [{"summary": text.format("b")}]
    assert also_words(one) == "the same in 1 more: the whole cell"
