"""What the summary of a run says of one failure."""

from matrix.report.failures import failure_lines
from matrix.run.runner import _errors


def test_every_error_of_a_file_that_does_not_build_is_shown() -> None:
    """Ten of them; the failure file has all."""
    log = "\n".join(["x.S: Assembler messages:", *(f"x.S:{number}: Error: bad instruction" for number in range(1, 13))])
    errors = _errors(log)
    row = {"kind": "build", "summary": f"x does not build: {errors[0]}", "details": {"errors": errors}}
    lines = list(failure_lines(row))
    assert lines[0] == "build: x does not build: x.S:1: Error: bad instruction"
    assert lines[1:-1] == [f"  x.S:{number}: Error: bad instruction" for number in range(2, 11)]
    assert lines[-1] == "  and 2 more errors, which the command below prints"
