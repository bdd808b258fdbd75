"""Judge one outcome against the right answer, and say what is wrong in words."""

from typing import Any

from matrix.cases.case import Case
from matrix.cases.layout import Run, describe_place
from matrix.errors import GuestError
from matrix.model.interface import Operation
from matrix.run import verdict as vd
from matrix.run.sanitizer import reported
from matrix.run.symbols import Symbols
from matrix.run.verdict import Failure
from matrix.worker import outcome as oc
from matrix.worker.protocol import LINE_BYTES, NOTHING, STACK, Role, RunReply, SignalReply, decode_run

_SI_KERNEL = 128
"""x86 gives this code and no address for an operand that must be aligned (sigaction(2): general protection)."""
_PAGE = 4096
_GUARD = 64 << 10
"""Bytes of an inaccessible stretch behind a buffer (kernels/worker/arena.h)."""
_WHO_KNOWS = (
    "the kernel may have done it, or something outside (a person, or the system when memory ran out): run again; when "
    "it comes again in this cell, it is the kernel"
)


def answer_of(outcome: oc.Outcome, run: Run) -> RunReply | None:
    """The decoded answer of a RUN, or None when there is none. Raises GuestError for an answer of a wrong form."""
    if not isinstance(outcome, oc.Answer):
        return None
    reply = decode_run(outcome.payload, run.returned_lengths)
    if len(reply.returned) != run.steps:
        why = f"{len(reply.returned)}, {run.steps} were asked for"
        raise GuestError("the guest's answer to RUN has other steps", why=why)
    return reply


def judge(
    operation: Operation, case: Case, run: Run, outcome: oc.Outcome, symbols: Symbols, cpu: str = ""
) -> Failure | None:
    """None when ``outcome`` is the right answer to ``case``; else what is wrong with it. ``cpu`` are words for what
    the guest's CPU has and lacks."""
    if run.layout.placement.beyond and isinstance(outcome, oc.Answer | oc.Faulted):
        return _beyond(case, run, outcome, symbols, cpu)
    if not isinstance(outcome, oc.Answer):
        return _no_answer(run, outcome, symbols, cpu)
    try:
        reply = answer_of(outcome, run)
    except GuestError as problem:
        return Failure(vd.PROTOCOL, f"{problem.what}: {problem.why}")
    assert reply is not None
    outputs = run.outputs(reply.outputs)
    returned = reply.returned[-1] & 0xFFFFFFFF
    if operation.refuses and returned not in (0, 1):
        return Failure(vd.WRONG_ANSWER, f"returned {returned:#x}, neither 1 (right) nor 0 (refused)")
    accepted = not operation.refuses or returned == 1
    if case.expected is None:
        return _refusal(operation, accepted, outputs)
    if not accepted:
        return Failure(vd.WRONG_ANSWER, f"refused, although it must be accepted ({case.origin})")
    for name in operation.outputs:
        expected, got = case.expected[name], outputs[name]
        if expected != got:
            return wrong_bytes(name, expected, got)
    return None


def _beyond(case: Case, run: Run, outcome: oc.Answer | oc.Faulted, symbols: Symbols, cpu: str) -> Failure | None:
    """None when the call went on to the inaccessible page behind a buffer whose length was told too long."""
    long = run.layout.told_too_long()
    if isinstance(outcome, oc.Answer):
        text = f"returned, although {long[0]} has 2^32 bytes more than there are: is its length cut to 32 bits?"
        return Failure(vd.WRONG_ANSWER, text)
    reply = outcome.signal
    past = reply.offset - reply.buffer_length
    near = run.buffers[reply.buffer].name if reply.buffer < len(run.buffers) else ""
    if near in long and -LINE_BYTES <= past < _GUARD:
        return None
    failure = describe_crash(run, reply, symbols, cpu)
    failure.summary += f"; {' or '.join(long)} should have been read or written to its end, and beyond it"
    return failure


def _refusal(operation: Operation, accepted: bool, outputs: dict[str, bytes]) -> Failure | None:
    if accepted:
        return Failure(vd.WRONG_ANSWER, "accepted, although it must be refused")
    if operation.on_reject:
        for name in operation.on_reject.split()[:1]:
            if any(outputs[name]):
                return Failure(vd.VIOLATION, f"refused, but {name} holds bytes that are not zero")
    return None


def wrong_bytes(name: str, expected: bytes, got: bytes, block: int = 16) -> Failure:
    """A wrong answer: which output, and the first byte that differs."""
    at = next(i for i, (one, other) in enumerate(zip(expected, got, strict=True)) if one != other)
    wrong = sum(one != other for one, other in zip(expected, got, strict=True))
    summary = (
        f"{name}: {wrong} of {len(expected)} bytes are wrong, the first at {at} (block of 64: {at // 64}, of {block}: "
        f"{at // block}, counted from 0): expected {expected[at : at + 8].hex()}, got {got[at : at + 8].hex()}"
    )
    details = {"output": name, "first_wrong_byte": at, "expected": expected.hex(), "got": got.hex()}
    return Failure(vd.WRONG_ANSWER, summary, details=details)


def _no_answer(run: Run, outcome: oc.Outcome, symbols: Symbols, cpu: str) -> Failure:
    if isinstance(outcome, oc.Crashed):
        return describe_crash(run, outcome.signal, symbols, cpu)
    if isinstance(outcome, oc.Violated) and outcome.kind == oc.PROCESS:
        details: dict[str, Any] = {"check": outcome.kind}
        return Failure(vd.VIOLATION, "started a process and left it running, or did not wait for it", details=details)
    if isinstance(outcome, oc.Violated):
        place = describe_place(run.buffers, outcome.violation.buffer, outcome.violation.offset)
        what = "wrote" if outcome.kind == "canary" else "changed a read-only input at"
        details = {"check": outcome.kind, "place": place, "step": outcome.violation.step}
        return Failure(vd.VIOLATION, f"{what} {place}", details=details)
    if isinstance(outcome, oc.RegisterClobbered):
        details = {"check": "register", "registers": outcome.names, "step": outcome.step}
        return Failure(vd.VIOLATION, f"callee-saved registers not preserved: {outcome.names}", details=details)
    if isinstance(outcome, oc.TimedOut):
        return _timeout(run, outcome, symbols)
    if isinstance(outcome, oc.Died):
        if report := reported(outcome.stderr):
            return Failure(vd.CRASH, f"a sanitizer has ended the guest: {report}", details={"report": outcome.stderr})
        return _death(outcome)
    if isinstance(outcome, oc.Garbage):
        return Failure(vd.PROTOCOL, f"the guest wrote garbage: {outcome.why}", slow=outcome.slow)
    if isinstance(outcome, oc.Unrepeated):
        failure = _no_answer(run, outcome.death, symbols, cpu)
        if outcome.among > 1:
            failure.summary += f"; at this case or one of the {outcome.among - 1} runs before it"
        failure.summary += "; it did not repeat when the case ran alone"
        failure.needs_cell = True
        if outcome.unexplained:
            failure.kind = vd.UNRELIABLE
            failure.summary += f": {_WHO_KNOWS}"
        return failure
    if isinstance(outcome, oc.Faulted):
        return Failure(vd.PROTOCOL, "the worker tells of a fault that it was not asked for")
    assert isinstance(outcome, oc.Refused)
    text = f"the worker refuses the request (status {outcome.status}): {outcome.text}"
    return Failure(vd.PROTOCOL, text, details={"refused": outcome.status})


def _timeout(run: Run, outcome: oc.TimedOut, symbols: Symbols) -> Failure:
    text = f"no answer within {oc.lasted(outcome)}"
    if outcome.where is None:
        silent = "" if outcome.stopped else "; asked where it hangs, the guest did not answer"
        return Failure(vd.TIMEOUT, text + silent, slow=True)
    place = describe_crash(run, outcome.where, symbols)
    return Failure(vd.TIMEOUT, f"{text}, stopped by {place.summary}", details=place.details, slow=True)


def _death(outcome: oc.Died) -> Failure:
    text = f"the guest {oc.ended(outcome.status)}"
    if outcome.known:
        text += f" ({outcome.known})"
    said = outcome.stderr.strip()[-300:]
    return Failure(vd.CRASH, f"{text}: {said}" if said else text)


def describe_crash(run: Run, reply: SignalReply, symbols: Symbols, cpu: str = "") -> Failure:
    """A signal: its name, where the pc is (symbol, instruction, source), where the address lies; for SIGILL the CPU."""
    name = oc.signal_name(reply.number)
    located = symbols.locate(reply.pc)
    symbol = f"{located[0]}+{located[1]:#x}" if located else "no known symbol"
    instruction = symbols.instruction(reply.pc)
    source = symbols.source(reply.pc)
    text = f"{name} in {symbol}, pc {reply.pc:#x}, instruction `{instruction}`" + (f" at {source}" if source else "")
    place = ""
    if told := symbols.authentication(reply.pc, name):
        text += f", {told}"
    elif name in ("SIGSEGV", "SIGBUS") and reply.buffer == STACK:
        place = f"{-reply.offset} bytes below the kernel's stack"
        text += f", address {place}: the stack is exhausted, it has {reply.buffer_length >> 10} KiB"
    elif name in ("SIGSEGV", "SIGBUS") and reply.buffer != NOTHING:
        place = describe_place(run.buffers, reply.buffer, reply.offset)
        text += f", address {place}"
        if 0 <= reply.offset < reply.buffer_length and _read_only(run, reply.buffer):
            text += ", which is read-only in this call"
    elif name in ("SIGSEGV", "SIGBUS"):
        known = f"address {reply.address:#x}, {'a null pointer' if reply.address < _PAGE else 'near no buffer'}"
        text += ", no address given: misaligned for this instruction?" if reply.code == _SI_KERNEL else f", {known}"
    if name == "SIGILL" and cpu:
        text += f", on {cpu}"
    if reply.by_another:
        text += f", sent by {f'process {reply.sender}' if reply.sender else 'a process outside'}"
    details: dict[str, Any] = {"signal": name, "pc": hex(reply.pc), "symbol": symbol}
    details |= {"instruction": instruction, "source": source, "place": place}
    if reply.step < run.steps:
        details["step"] = reply.step
    return Failure(vd.CRASH, text, details=details)


def _read_only(run: Run, buffer: int) -> bool:
    """Whether a fault inside a buffer is that it was written to: inputs and const states lie on read-only pages."""
    return buffer < len(run.buffers) and run.buffers[buffer].role in (Role.IN, Role.STATE)
