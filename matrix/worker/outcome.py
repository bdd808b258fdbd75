"""What became of one request: an answer, a violation that the worker saw, or the end of the guest."""

import signal
from dataclasses import dataclass

from matrix.worker.protocol import (
    Frame,
    SignalReply,
    Status,
    Violation,
    decode_registers,
    decode_signal,
    decode_violation,
)

PROCESS = "process"


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
    """The worker saw a changed canary (``kind`` 'canary') or read-only input ('input'), or that the kernel has left a
    process behind (PROCESS): the buffer is none then."""

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
    """The guest ended without an answer: its exit status, negative for a signal, and the end of its stderr.

    ``outside`` says what ended it when something outside of the guest is known to have done it, and ``known`` what else
    is known of its end.
    """

    status: int
    stderr: str
    outside: str = ""
    known: str = ""


@dataclass(frozen=True)
class TimedOut:
    """No answer within ``seconds``, of the guest's CPU time with ``cpu``. ``where`` is what the worker said of the
    place when it was asked to end; ``stopped`` says that the guest was not running, but stopped as by SIGSTOP."""

    seconds: float
    where: SignalReply | None = None
    cpu: bool = False
    stopped: bool = False


@dataclass(frozen=True)
class Garbage:
    """The guest wrote what is no answer to the request; with ``slow`` it was waited for the rest of one."""

    why: str
    slow: bool = False


@dataclass(frozen=True)
class Unrepeated:
    """The guest ended at this request in company of others, but answered it alone. With ``among`` it is not known at
    which of so many requests it ended, of which this is the last; they were answered when sent one by one."""

    death: "Outcome"
    among: int = 1

    @property
    def unexplained(self) -> bool:
        """Whether something outside of the guest could have ended it as well: it did not say a word of its own.

        A signal that the guest reports as its own doing, an exit, and bytes that are no answer come from inside.
        """
        death = self.death
        return (
            (isinstance(death, Died) and death.status < 0)
            or (isinstance(death, TimedOut) and death.where is None)
            or (isinstance(death, Crashed) and death.signal.by_another)
        )


@dataclass(frozen=True)
class Outside:
    """No outcome of a request: something outside of the guest ended it, and no request is to blame. ``why`` is for a
    note, '' when the matrix itself did it."""

    why: str


Outcome = Answer | Refused | Violated | RegisterClobbered | Crashed | Faulted | Died | TimedOut | Garbage | Unrepeated


def of_reply(reply: Frame) -> Outcome:
    """The outcome that a reply other than SIGNAL tells. Raises GuestError, ValueError for what is none."""
    status = Status(reply.status)
    if status is Status.OK:
        return Answer(reply.payload)
    if status is Status.CANARY:
        return Violated("canary", decode_violation(reply.payload))
    if status is Status.INPUT_MODIFIED:
        return Violated("input", decode_violation(reply.payload))
    if status is Status.PROCESS:
        return Violated(PROCESS, decode_violation(reply.payload))
    if status is Status.REGISTER:
        return RegisterClobbered(*decode_registers(reply.payload))
    if status is Status.FAULT:
        return Faulted(decode_signal(reply.payload))
    return Refused(status, reply.payload.decode("utf-8", "replace"))


def is_death(outcome: Outcome) -> bool:
    """Whether the guest is gone, or must not be used any more, after this outcome."""
    return isinstance(outcome, Crashed | Died | TimedOut | Garbage)


def is_exact(death: Outcome) -> bool:
    """Whether the worker has said itself at which request its end came."""
    return isinstance(death, Crashed) or (isinstance(death, TimedOut) and death.where is not None)


def is_silent_hang(death: Outcome) -> bool:
    """Whether the guest did not even say where it hangs."""
    return isinstance(death, TimedOut) and death.where is None


def signal_name(number: int) -> str:
    """``SIGILL`` for 4: the numbers agree on all guests (Linux signal(7))."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def ended(status: int) -> str:
    """How a guest ended, by its exit status, in words: ``ended with status 3``, ``was ended by SIGKILL``."""
    return f"was ended by {signal_name(-status)}" if status < 0 else f"ended with status {status}"


def describe(outcome: Outcome | Outside) -> str:
    """A few words for a note."""
    if isinstance(outcome, Outside):
        return outcome.why
    if isinstance(outcome, Answer):
        return "answered"
    if isinstance(outcome, Crashed):
        return f"signal {outcome.signal.number} at pc {outcome.signal.pc:#x}{_sender(outcome.signal)}"
    if isinstance(outcome, Died):
        words = (f"the guest {ended(outcome.status)}", outcome.known, outcome.stderr.strip()[-200:])
        return " ".join(word for word in words if word)
    if isinstance(outcome, TimedOut):
        return f"no answer within {lasted(outcome)}"
    if isinstance(outcome, Refused):
        return f"refused: {outcome.text}"
    if isinstance(outcome, Garbage):
        return f"garbage ({outcome.why})"
    return type(outcome).__name__.lower()


def lasted(outcome: TimedOut) -> str:
    """How long an answer was waited for, and what the guest did in that time, in words."""
    text = f"{outcome.seconds:g} s"
    if outcome.cpu:
        text += " of CPU time"
    return f"{text}: the guest was stopped, as by SIGSTOP" if outcome.stopped else text


def _sender(reply: SignalReply) -> str:
    return f", sent by process {reply.sender}" if reply.by_another else ""


def same_death(one: Outcome, other: Outcome) -> bool:
    """Whether two ends of a guest are the same: the kind, and for a signal its number, pc and step."""
    if isinstance(one, Crashed) and isinstance(other, Crashed):
        first, second = one.signal, other.signal
        return (first.number, first.pc, first.step) == (second.number, second.pc, second.step)
    return type(one) is type(other)
