"""What became of one request: an answer, a violation that the worker saw, or the end of the guest."""

from dataclasses import dataclass

from matrix.worker.protocol import SignalReply, Violation


@dataclass(frozen=True)
class Answer:
    """The worker answered ok with this payload."""

    payload: bytes


@dataclass(frozen=True)
class Refused:
    """The worker answered with a status that is not ok and carries a text (bad request, unsupported, internal)."""

    status: int
    text: str


@dataclass(frozen=True)
class Violated:
    """The worker saw a changed canary (``kind`` 'canary') or read-only input ('input')."""

    kind: str
    violation: Violation


@dataclass(frozen=True)
class RegisterClobbered:
    """Callee-saved registers (names separated by blanks) came back from a step changed."""

    step: int
    names: str


@dataclass(frozen=True)
class Crashed:
    """The guest died of a signal that its handler could report."""

    signal: SignalReply


@dataclass(frozen=True)
class Faulted:
    """A step ended at an inaccessible page, as the request wanted it; the guest goes on."""

    signal: SignalReply


@dataclass(frozen=True)
class Died:
    """The guest ended without an answer: its exit status and the end of its stderr."""

    status: int
    stderr: str


@dataclass(frozen=True)
class TimedOut:
    """No answer within the deadline, in seconds; ``where`` is what the worker said of the place when it was stopped."""

    seconds: float
    where: SignalReply | None = None


@dataclass(frozen=True)
class Garbage:
    """The guest wrote what is no answer to the request."""

    why: str


@dataclass(frozen=True)
class Unrepeated:
    """The guest ended at this request in company of others, but answered it alone: it depends on earlier calls."""

    death: "Outcome"


Outcome = Answer | Refused | Violated | RegisterClobbered | Crashed | Faulted | Died | TimedOut | Garbage | Unrepeated


def is_death(outcome: Outcome) -> bool:
    """Whether the guest is gone, or must not be used any more, after this outcome."""
    return isinstance(outcome, Crashed | Died | TimedOut | Garbage)


def describe(outcome: Outcome) -> str:
    """A few words for a note."""
    if isinstance(outcome, Answer):
        return "answered"
    if isinstance(outcome, Crashed):
        return f"signal {outcome.signal.number} at pc {outcome.signal.pc:#x}"
    if isinstance(outcome, Died):
        return f"ended with status {outcome.status} {outcome.stderr.strip()[-200:]}".strip()
    if isinstance(outcome, TimedOut):
        return f"no answer within {outcome.seconds:g} s"
    if isinstance(outcome, Garbage):
        return f"garbage ({outcome.why})"
    return type(outcome).__name__.lower()


def same_death(one: Outcome, other: Outcome) -> bool:
    """Whether two ends of a guest are the same: the kind, and for a signal its number, pc and step."""
    if isinstance(one, Crashed) and isinstance(other, Crashed):
        first, second = one.signal, other.signal
        return (first.number, first.pc, first.step) == (second.number, second.pc, second.step)
    return type(one) is type(other)
