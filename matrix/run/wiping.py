"""Secrets left behind: what two runs leave on the stack and in states may differ in nothing that depends on secrets."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from matrix.cases.case import Case
from matrix.cases.layout import Layout, Run
from matrix.cases.material import stream
from matrix.cases.placement import QUICK, Placement
from matrix.model.interface import Interface, Operation
from matrix.run import verdict as vd
from matrix.run.session import Bench
from matrix.run.stream import Collector, Job, subject
from matrix.run.verdict import Failure
from matrix.worker import outcome as oc
from matrix.worker.protocol import Op, Role, decode_left, decode_run, encode_left
from matrix.worker.window import Request

STACK_BYTES = 16 << 10
"""How far below the stack pointer is looked, in bytes: twice of what the worker fills with noise before a run."""
MOST_BYTES = 1100
"""Cases with longer inputs are left out: they take no other path than shorter ones."""
_MOST_CASES = 60
"""Of each operation and placement, so that a claim costs less than a second."""
_LEAST = 4
"""So many bytes in a row must agree before they count as a copy of a public output."""
_PLACEMENTS = (QUICK[0], Placement("cut-random", cut="random"))
_TWINS = ("one secret", "another secret")


@dataclass(frozen=True)
class Trace:
    """What one run left: the stack below its stack pointer and its states, and the bytes that all may know."""

    parts: tuple[bytes, ...]
    public: tuple[bytes, ...]


def check_wiping(bench: Bench, collector: Collector) -> None:
    """Run the operations of the cell's variant with two values of their secrets, call by call, and compare.

    Nothing is done for a variant that does not claim to wipe, nor on further CPUs, where it does the same; nor under
    signals, whose frames lie where it would look.
    """
    for interface in bench.interfaces():
        variant = next((v for v in bench.variants(interface) if v.name == bench.cell.variant), None)
        if variant is None or not variant.wipes or bench.session.alarmed or bench.cell.tier != "full":
            continue
        for operation in interface.operations.values():
            for failure, job in _failures(bench, interface, operation, frozenset(variant.provides)):
                collector.add(failure, job)
                if failure and collector.full:
                    return


def _failures(
    bench: Bench, interface: Interface, operation: Operation, own: frozenset[str]
) -> Iterator[tuple[Failure | None, Job]]:
    binding = bench.bind_variant(interface, operation)
    if binding is None or not operation.secret:
        return
    about = subject(bench, interface, operation)
    calls = [step.call for step in operation.steps]
    for placement in _PLACEMENTS if operation.splits else _PLACEMENTS[:1]:
        layouts = [Layout(interface, operation, binding, placement, calls[:n]) for n in range(len(calls) + 1)]
        for case in _cases(bench, interface, operation):
            run = layouts[-1].run(case)
            if run is None:
                continue
            job = Job(about, case, placement, run)
            before = _traces(bench, operation, layouts[0], case)
            for call, layout in zip(calls, layouts[1:], strict=True):
                after = _traces(bench, operation, layout, case)
                if before is None or after is None:
                    break  # it does not end: that is found elsewhere
                names = ["", *(slot.name for slot in layout.slots if slot.role is Role.STATE)]
                ends = interface.calls[call].ends
                judged = [name == "" or name in ends for name in names]
                found = _difference(names, judged, before, after) if call in own else ""
                if found:
                    text = f"{found} depends on {' or '.join(operation.secret)}"
                    yield _failure(text, call), job
                    break
                before = after
            else:
                yield None, job


def _failure(text: str, call: str) -> Failure:
    summary = f"a secret is left behind by {call}, although the header says wipes = true: {text}"
    return Failure(vd.VIOLATION, summary, details={"check": "wipes", "call": call})


def _cases(bench: Bench, interface: Interface, operation: Operation) -> list[Case]:
    """One case for each combination of lengths, evenly thinned out, or the only one that is to run."""
    found: dict[tuple[int, ...], Case] = {}
    for case in bench.cases(interface, operation, "boundary"):
        lengths = tuple(len(value) for value in case.inputs.values() if isinstance(value, bytes))
        if case.plain and not case.skip and sum(lengths) <= MOST_BYTES:
            found.setdefault(lengths, case)
    cases = [found[lengths] for lengths in sorted(found, key=sum)]
    return cases[:: max(1, len(cases) // _MOST_CASES)]


def _traces(bench: Bench, operation: Operation, layout: Layout, case: Case) -> tuple[Trace, Trace] | None:
    """What ``case`` leaves with each of two secrets; None when a run does not end as it should."""
    found = []
    for label in _TWINS:
        inputs = {
            role: stream(f"{label} of {case.name}.{role}", len(value))
            if role in operation.secret and isinstance(value, bytes)
            else value
            for role, value in case.inputs.items()
        }
        run = layout.run(replace(case, inputs=inputs))
        if run is None:
            return None
        requests = [Request(Op.RUN, run.payload), Request(Op.LEFT, encode_left(STACK_BYTES))]
        told, left = bench.guest.many(requests)
        if not isinstance(told, oc.Answer) or not isinstance(left, oc.Answer):
            return None
        states = [slot.length(case) for slot in layout.slots if slot.role is Role.STATE]
        parts = decode_left(left.payload, [STACK_BYTES, *states])
        found.append(Trace(parts, tuple(_public(operation, run, told.payload))))
    return found[0], found[1]


def _public(operation: Operation, run: Run, answer: bytes) -> Iterator[bytes]:
    """The outputs that are no secret, as they are and with the bytes of each word the other way round."""
    outputs = run.outputs(decode_run(answer, run.returned_lengths).outputs)
    for name, data in outputs.items():
        if name not in operation.secret:
            yield data
            for size in (4, 8):
                yield b"".join(data[at : at + size][::-1] for at in range(0, len(data), size))


def _difference(names: list[str], judged: list[bool], before: tuple[Trace, Trace], after: tuple[Trace, Trace]) -> str:
    """Words for the first part in which the last call has left a secret, '' when there is none."""
    for index, (name, counts) in enumerate(zip(names, judged, strict=True)):
        one, other = (trace.parts[index] for trace in after)
        if not counts or one == other:
            continue
        old, older = (trace.parts[index] for trace in before)
        fresh = bytes(
            a != b and not (name == "" and a == c and b == d) for a, b, c, d in zip(one, other, old, older, strict=True)
        )
        secret = secret_bytes(one, other, fresh, after)
        if not secret:
            continue
        first, last, many = secret[0], secret[-1], len(secret)
        count = f"{many} byte{'s' if many > 1 else ''}"
        if name:
            return f"{count} of state {name}, which is at its end, from {first} to {last}: what is there"
        return f"{count}, from {len(one) - first} to {len(one) - last} below the stack pointer at entry: what is there"
    return ""


def secret_bytes(one: bytes, other: bytes, fresh: bytes, traces: tuple[Trace, Trace]) -> list[int]:
    """Offsets of the bytes of two parts that differ (``fresh`` is 1 there) and are no copy of public outputs."""
    found = []
    at = fresh.find(1)
    while at >= 0:
        end = fresh.find(0, at)
        end = len(fresh) if end < 0 else end
        while at < end:
            copied = max((_copied(one[at:end], other[at:end], a, b) for a, b in _pairs(traces)), default=0)
            if copied < min(_LEAST, end - at):
                found.append(at)
                copied = 1
            at += copied
        at = fresh.find(1, end)
    return found


def _pairs(traces: tuple[Trace, Trace]) -> Iterator[tuple[bytes, bytes]]:
    yield from zip(traces[0].public, traces[1].public, strict=True)


def _copied(one: bytes, other: bytes, public: bytes, twin: bytes) -> int:
    """How many first bytes of ``one`` and ``other`` stand at one place of ``public`` and ``twin``."""
    best, least = 0, min(_LEAST, len(one))
    at = public.find(one[:least])
    while at >= 0:
        length = 0
        while (
            length < min(len(one), len(public) - at)
            and one[length] == public[at + length]
            and other[length] == twin[at + length]
        ):
            length += 1
        best = max(best, length)
        at = public.find(one[:least], at + 1)
    return best
