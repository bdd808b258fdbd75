"""Add to a failure the functions that it concerns: the call it was found after, or the variants that were entered."""

from matrix.cases.case import Case
from matrix.cases.layout import Run
from matrix.model.interface import Operation
from matrix.run import verdict as vd
from matrix.run.session import Bench
from matrix.run.verdict import Failure
from matrix.worker import outcome as oc
from matrix.worker.protocol import NOTHING, entered_bytes, read_entered, step_function


def name_functions(bench: Bench, operation: Operation, run: Run, outcome: oc.Outcome, failure: Failure) -> None:
    """Name the call of ``run`` that a failure was found after, or which variants have made a wrong answer together."""
    functions, step = bench.built.functions, failure.details.get("step")
    crash = failure.kind in (vd.CRASH, vd.TIMEOUT)
    if step is not None and not (crash and run.steps == 1):  # the symbol of the pc says it then
        index = step_function(run.payload, step)
        call = "the change of the mask" if index == NOTHING else functions[index].name
        number = f" (call {step + 1} of {run.steps})" if run.steps > 1 else ""
        failure.summary = f"{call}{number}: {failure.summary}"
        failure.details["call"] = call
    elif isinstance(outcome, oc.Answer) and (told := told_entered(outcome, run)):
        known = [functions[index] for index in read_entered(told) if index < len(functions)]
        names = sorted(function.name for function in known if function.variant)
        failure.details["entered"] = names
        if not bench.cell.variant or len(names) > len({step.call for step in operation.steps}):
            failure.summary += f"; entered {', '.join(names) or 'nothing'}"


def told_entered(outcome: oc.Answer, run: Run) -> bytes | None:
    """The part of an answer that says what was entered, None when it has another form."""
    return entered_bytes(outcome.payload, run.steps, sum(run.returned_lengths))


def describe_inputs(operation: Operation, case: Case) -> str:
    """What of a case's inputs may steer a kernel: lengths that may differ between cases, and counters; '' when none."""
    parts = []
    for role, size in operation.inputs.items():
        value = case.inputs[role]
        if role in operation.constants:
            continue
        if isinstance(value, int):
            parts.append(f"{role} {value:#x}" if value > _LARGE else f"{role} {value}")
        elif size.minimum is not None or len(size.choices) > 1:
            length = case.total if case.total and role == operation.split_role else len(value)
            parts.append(f"{role} of {length} bytes")
    return ", ".join(parts)


_LARGE = 99_999
"""From here on a counter is told in hexadecimal: what is near 2^32 is seen at once."""
