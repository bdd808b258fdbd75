"""What of a case is said beside its failure."""

from matrix.cases.case import Case, Inputs
from matrix.model.interface import Operation, Size
from matrix.run.naming import describe_inputs

SIZES = {
    "key": Size(choices=(16, 24, 32)),
    "nonce": Size(choices=(12,)),
    "counter": Size(word=True),
    "data": Size(minimum=0),
}


def _described(counter: int) -> str:
    inputs: Inputs = {"key": bytes(24), "nonce": bytes(12), "counter": counter, "data": bytes(260)}
    case = Case("x", "cipher", "xor", inputs, "a test", "boundary", {})
    return describe_inputs(Operation("xor", SIZES, {"out": Size(like="data")}, ()), case)


def test_lengths_that_may_differ_and_counters_are_said() -> None:
    assert _described(7) == "key of 24 bytes, counter 7, data of 260 bytes"


def test_a_counter_that_is_about_to_wrap_is_told_in_hexadecimal() -> None:
    assert "counter 0xffffffff, " in _described(0xFFFFFFFF)
