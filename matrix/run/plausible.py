"""Answers that name what there is not: a step, a buffer or a function beyond those of the request or of the worker."""

from collections.abc import Iterable

from matrix.cases.layout import Run
from matrix.worker import outcome as oc
from matrix.worker.protocol import NOTHING, STACK, SignalReply


def plausible(outcome: oc.Outcome, run: Run) -> oc.Outcome:
    """``outcome`` itself, or Garbage when it names a step or a buffer that the request does not have."""
    if isinstance(outcome, oc.Answer):
        return outcome
    if isinstance(outcome, oc.Violated):
        at = outcome.violation
        # A process that was left behind belongs to no buffer.
        why = _beyond("step", at.step, run.steps) or (
            "" if outcome.kind == oc.PROCESS else _beyond("buffer", at.buffer, len(run.buffers))
        )
    elif isinstance(outcome, oc.RegisterClobbered):
        why = _beyond("step", outcome.step, run.steps)
    elif isinstance(outcome, oc.Crashed):
        why = _signal(outcome.signal, run)
    elif isinstance(outcome, oc.TimedOut) and outcome.where:
        why = _signal(outcome.where, run)
    elif isinstance(outcome, oc.Unrepeated):
        death = plausible(outcome.death, run)
        return outcome if death is outcome.death else oc.Unrepeated(death, outcome.among)
    else:
        why = ""
    return oc.Garbage(why) if why else outcome


def unknown_function(indices: Iterable[int], count: int) -> str:
    """Which of ``indices`` names none of ``count`` functions of a worker, in words; '' when each names one."""
    return next((why for index in indices if (why := _beyond("function", index, count))), "")


def _signal(reply: SignalReply, run: Run) -> str:
    step = "" if reply.step == NOTHING else _beyond("step", reply.step, run.steps)
    return step or ("" if reply.buffer in (NOTHING, STACK) else _beyond("buffer", reply.buffer, len(run.buffers)))


def _beyond(what: str, number: int, count: int) -> str:
    return f"it names {what} {number}, and there are {count}" if number >= count else ""
