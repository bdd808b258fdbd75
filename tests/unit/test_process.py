"""One guest process, against a real child that plays a worker: a Python script that does what each payload says.

What must hold whatever the child does: every request has exactly one outcome, in order.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from matrix.errors import GuestError
from matrix.sandbox.base import Channel
from matrix.sandbox.host import HostSandbox
from matrix.worker import outcome as oc
from matrix.worker import process
from matrix.worker.process import Guest, GuestCounts, Request
from matrix.worker.protocol import Op, SignalReply, Violation

PATIENT = 30.0
"""Deadline, in seconds, of tests in which nothing hangs: a loaded machine must not fail them."""
SHORT = 0.3
HANG = 0.2
"""Deadlines of tests in which time passes; a request that is late by accident is answered when it is alone."""

WORKER = r"""
import os, signal, struct, sys, time

def text(value):
    return struct.pack("<H", len(value)) + value.encode()

def frame(request, op, status, payload):
    return struct.pack("<IIHH", 8 + len(payload), request, op, status) + payload

def write(data):
    while data:
        data = data[os.write(1, data):]

def read(count):
    data = b""
    while len(data) < count:
        more = os.read(0, count - len(data))
        if not more:
            sys.exit(0 if not data else 2)
        data += more
    return data

def first_time(name):
    try:
        os.close(os.open(name, os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False

def crash(number, request, op):
    write(frame(request, op, 6, struct.pack("<IiQQHHqI", number, 1, 0x1000, 0x10054, 2, 1, -4, 64)))
    os._exit(3)

mode = sys.argv[1]
with open("pids", "a") as pids:
    pids.write(f"{os.getpid()}\n")
starts = len(open("pids").readlines())
if mode == "broken":
    sys.stderr.write("cannot map the arena\n")
    sys.exit(1)
if mode == "mute":
    time.sleep(60)
if mode == "slow" and starts > 1:
    time.sleep(0.35)
if mode == "babble":
    write(b"hello, world, this is no frame")
build = "other" if mode == "rebuilt" and starts > 1 else "b1d"
version = 9 if mode == "future" else 1
hello = struct.pack("<H", version) + text(build) + text("x86_64") + struct.pack("<BBI", 8, 0, os.getpid())
hello += struct.pack("<HQHH", 0, 0b111, 0, 0)
write(frame(0, 0, 0, hello))
mask = 0b111
while True:
    (length,) = struct.unpack("<I", read(4))
    request, op, _ = struct.unpack("<IHH", read(8))
    payload = read(length - 8)
    with open("log", "ab") as log:
        log.write(payload[:40] + b"\n")
    verb, _, rest = payload[:120].decode("latin-1").partition(" ")
    status, answer = 0, payload
    if op == 1:
        wanted, = struct.unpack("<Q", payload)
        if wanted & ~0b111 or mode == "stubborn" and starts > 1:
            status, answer = 2, b"SET_MASK: not detected"
        else:
            mask = wanted
            answer = struct.pack("<Q", mask)
    elif verb == "mask":
        answer = struct.pack("<Q", mask)
    elif verb == "late":
        time.sleep(float(rest.split()[0]))
    elif verb == "die":
        sys.stderr.write("last words\n")
        sys.stderr.flush()
        os._exit(7)
    elif verb == "die-once" and first_time(rest):
        os._exit(7)
    elif verb == "crash-once" and first_time(rest):
        crash(11, request, op)
    elif verb == "crash":
        crash(11, request, op)
    elif verb == "crash-then-die":
        if first_time("crashed"):
            crash(11, request, op)
        os._exit(7)
    elif verb == "hang":
        signal.signal(signal.SIGTERM, lambda *_: crash(15, request, op))
        time.sleep(60)
    elif verb == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)
    elif verb == "dribble":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        write(struct.pack("<I", 5000))
        while True:
            write(b"\1")
            time.sleep(0.01)
    elif verb == "babble":
        write(b"\0" * 16)
    elif verb == "half":
        write(frame(request, op, 0, b"x" * 50)[:20])
        os._exit(0)
    elif verb == "stray":
        request += 1000
    elif verb == "other-op":
        op += 1
    elif verb == "status":
        status, answer = int(rest.split()[0]), bytes.fromhex(rest.split()[1])
    elif verb == "twice":
        write(frame(request, op, 0, payload))
    write(frame(request, op, status, answer))
"""


class Stage:
    """Starts children below one folder and remembers what they left there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sandbox = HostSandbox(folder)
        self.counts = GuestCounts()
        self.guests: list[Guest] = []
        (folder / "worker.py").write_text(WORKER)

    def starter(self, mode: str) -> Callable[[], Channel]:
        return lambda: self.sandbox.spawn([sys.executable, "-I", "-S", "worker.py", mode])

    def guest(self, mode: str = "plain", deadline: float = PATIENT) -> Guest:
        guest = Guest(self.starter(mode), self.counts, deadline)
        self.guests.append(guest)
        return guest

    @property
    def log(self) -> list[str]:
        """What was asked of the children, each request as often as one of them got it."""
        path = self.folder / "log"
        return path.read_text().splitlines() if path.exists() else []

    def alive(self) -> list[int]:
        """The children that still run."""
        found = []
        for line in (self.folder / "pids").read_text().split():
            try:
                os.kill(int(line), 0)
                found.append(int(line))
            except ProcessLookupError:
                pass
        return found


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setattr(process, "_INTERRUPT_GRACE", 0.1)
    stage = Stage(tmp_path)
    yield stage
    for guest in stage.guests:
        guest.close()
    assert stage.alive() == []


def requests(*payloads: str) -> list[Request]:
    """RUN requests with these payloads."""
    return [Request(Op.RUN, payload.encode()) for payload in payloads]


def answers(outcomes: list[oc.Outcome]) -> list[str]:
    """The payloads of answers, and the kinds of everything else."""
    return [o.payload.decode() if isinstance(o, oc.Answer) else type(o).__name__ for o in outcomes]


def test_every_request_of_a_long_window_has_its_answer(stage: Stage) -> None:
    guest = stage.guest()
    asked = [f"request {number}" for number in range(700)]
    assert answers(list(guest.many(requests(*asked)))) == asked
    assert stage.log == asked
    assert (stage.counts.starts, stage.counts.requests, stage.counts.notes) == (1, 700, [])


def test_large_requests_and_answers_do_not_block_each_other(stage: Stage) -> None:
    guest = stage.guest()
    asked = [bytes([number]) * (300 << 10) for number in range(16)]
    outcomes = list(guest.many(Request(Op.PING, payload) for payload in asked))
    assert outcomes == [oc.Answer(payload) for payload in asked]


@pytest.mark.parametrize(("size", "most"), [(10, 256), (400 << 10, 3)])
def test_requests_are_taken_only_as_the_window_has_room(stage: Stage, size: int, most: int) -> None:
    taken = 0

    def source() -> Iterator[Request]:
        nonlocal taken
        for _ in range(600):
            taken += 1
            yield Request(Op.PING, b"x" * size)

    outcomes = stage.guest().many(source())
    next(outcomes)
    assert taken == most
    outcomes.close()


def test_a_death_in_the_middle_loses_nothing_and_repeats_nothing(stage: Stage) -> None:
    asked = [f"request {number}" for number in range(20)]
    asked[7] = "die now"
    outcomes = list(stage.guest().many(requests(*asked)))
    assert answers(outcomes) == [*asked[:7], "Died", *asked[8:]]
    assert outcomes[7] == oc.Died(7, "last words\n")
    assert stage.log.count("die now") == 2, "once in the window, once alone"
    assert stage.counts.starts == 3
    assert stage.counts.notes == []


def test_a_death_before_all_was_sent_leaves_no_bytes_behind(stage: Stage) -> None:
    large = [bytes([number]) * (200 << 10) for number in range(4)]
    outcomes = list(stage.guest().many(Request(Op.RUN, payload) for payload in [b"die", *large]))
    assert [type(outcome) for outcome in outcomes] == [oc.Died, *[oc.Answer] * 4]
    assert outcomes[1:] == [oc.Answer(payload) for payload in large]
    assert stage.counts.notes == []


def test_every_request_dying_is_every_outcome_dead(stage: Stage) -> None:
    outcomes = list(stage.guest().many(requests("die 1", "die 2", "ok", "die 3")))
    assert answers(outcomes) == ["Died", "Died", "ok", "Died"]


def test_a_crash_says_where(stage: Stage) -> None:
    outcomes = list(stage.guest().many(requests("a", "crash", "b")))
    assert answers(outcomes) == ["a", "Crashed", "b"]
    assert outcomes[1] == oc.Crashed(SignalReply(11, 1, 0x1000, 0x10054, 2, 1, -4, 64))
    assert stage.counts.notes == []


def test_a_death_that_does_not_repeat_is_answered_and_noted(stage: Stage) -> None:
    asked = ["a", "die-once marker", "b"]
    assert answers(list(stage.guest().many(requests(*asked)))) == asked
    assert len(stage.counts.notes) == 1
    assert stage.counts.notes[0].startswith("flaky: ended with status 7")
    assert "answered" in stage.counts.notes[0]


def test_a_crash_that_does_not_repeat_stays_a_failure(stage: Stage) -> None:
    outcomes = list(stage.guest().many(requests("a", "crash-once marker", "b")))
    assert answers(outcomes) == ["a", "Unrepeated", "b"]
    assert isinstance(outcomes[1], oc.Unrepeated)
    assert isinstance(outcomes[1].death, oc.Crashed)


def test_silent_deaths_are_forgiven_a_few_times_only(stage: Stage) -> None:
    asked = [f"die-once marker{number}" for number in range(5)]
    assert answers(list(stage.guest().many(requests(*asked)))) == [*asked[:3], "Unrepeated", "Unrepeated"]


def test_a_death_that_repeats_otherwise_is_reported_as_it_was_alone(stage: Stage) -> None:
    outcomes = list(stage.guest().many(requests("a", "crash-then-die", "b")))
    assert answers(outcomes) == ["a", "Died", "b"]
    assert "signal 11" in stage.counts.notes[0]


def test_a_hang_is_asked_where_it_is(stage: Stage) -> None:
    outcomes = list(stage.guest(deadline=HANG).many(requests("a", "hang", "b")))
    assert answers(outcomes) == ["a", "TimedOut", "b"]
    timeout = outcomes[1]
    assert isinstance(timeout, oc.TimedOut)
    assert timeout.seconds == HANG
    assert timeout.where
    assert timeout.where.number == signal.SIGTERM
    assert timeout.where.pc == 0x10054


@pytest.mark.parametrize("verb", ["deaf", "dribble"])
def test_a_hang_that_does_not_answer_is_killed(stage: Stage, verb: str) -> None:
    started = time.monotonic()
    outcomes = list(stage.guest(deadline=HANG).many(requests("a", verb, "b")))
    assert answers(outcomes) == ["a", "TimedOut", "b"]
    assert outcomes[1] == oc.TimedOut(HANG)
    assert time.monotonic() - started < 10


def test_a_crash_by_sigterm_without_a_timeout_is_a_crash(stage: Stage) -> None:
    payload = "status 6 " + (b"\x0f\0\0\0" + bytes(36)).hex()
    outcome = stage.guest().one(Op.RUN, payload.encode())
    assert isinstance(outcome, oc.Crashed)
    assert outcome.signal.number == signal.SIGTERM


@pytest.mark.parametrize(
    ("verb", "why"),
    [
        ("babble", "a frame of 0 bytes"),
        ("half", "ends inside a frame"),
        ("stray", "not the oldest"),
        ("other-op", "an answer to operation"),
        ("status 9 00", "9"),
        ("status 3 0000", "wrong size"),
        ("status 4 0000", "wrong size"),
        ("status 5 00", "wrong size"),
        ("status 6 0000", "wrong size"),
    ],
)
def test_garbage_is_the_outcome_of_its_request_alone(stage: Stage, verb: str, why: str) -> None:
    outcomes = list(stage.guest().many(requests("a", verb, "b", "c")))
    assert answers(outcomes) == ["a", "Garbage", "b", "c"]
    garbage = outcomes[1]
    assert isinstance(garbage, oc.Garbage)
    assert why in garbage.why


def test_a_second_answer_to_one_request_is_given_to_nobody(stage: Stage) -> None:
    asked = ["a", "twice", "b", "c"]
    assert answers(list(stage.guest().many(requests(*asked)))) == asked
    assert "garbage" in stage.counts.notes[0]


def test_violations_and_refusals_are_outcomes_and_the_guest_lives_on(stage: Stage) -> None:
    place = "010002000300000000000000"
    outcomes = list(
        stage.guest().many(
            requests(
                f"status 3 {place}", f"status 4 {place}", "status 5 020003007234", "status 2 6e6f", "status 7 6f68"
            )
        )
    )
    assert outcomes[:2] == [oc.Violated("canary", Violation(1, 2, 3)), oc.Violated("input", Violation(1, 2, 3))]
    assert isinstance(outcomes[2], oc.Garbage), "a length that is not the text's"
    assert outcomes[3:] == [oc.Refused(2, "no"), oc.Refused(7, "oh")]


def test_clobbered_registers_are_named(stage: Stage) -> None:
    outcome = stage.guest().one(Op.RUN, b"status 5 020002007234")
    assert outcome == oc.RegisterClobbered(2, "r4")


def test_stopping_early_ends_the_guest_and_the_next_request_meets_no_old_answer(stage: Stage) -> None:
    guest = stage.guest()
    outcomes = guest.many(requests(*(f"late 0.02 {number}" for number in range(10))))
    assert answers([next(outcomes), next(outcomes)]) == ["late 0.02 0", "late 0.02 1"]
    outcomes.close()
    assert stage.alive() == []
    assert answers(list(guest.many(requests("x", "y")))) == ["x", "y"]
    assert stage.counts.starts == 2


def test_a_source_that_fails_ends_the_guest_too(stage: Stage) -> None:
    def source() -> Iterator[Request]:
        yield Request(Op.RUN, b"late 0.05")
        raise KeyError("no such buffer")

    guest = stage.guest()
    with pytest.raises(KeyError):
        list(guest.many(source()))
    assert answers([guest.one(Op.RUN, b"x")]) == ["x"]


def test_single_requests_share_one_guest(stage: Stage) -> None:
    guest = stage.guest()
    assert answers([guest.one(Op.RUN, payload.encode()) for payload in "abc"]) == ["a", "b", "c"]
    assert stage.counts.starts == 1


def test_a_slow_caller_is_not_the_guests_fault(stage: Stage) -> None:
    guest = stage.guest(deadline=SHORT)
    outcomes = guest.many(requests("a", "late 0.05", "b"))
    first = next(outcomes)
    time.sleep(SHORT + 0.2)
    assert answers([first, *outcomes]) == ["a", "late 0.05", "b"]
    assert (stage.counts.starts, stage.counts.notes) == (1, [])


def test_the_time_that_a_restart_takes_is_not_the_requests(stage: Stage) -> None:
    guest = stage.guest("slow", SHORT)
    assert answers(list(guest.many(requests("die", "a")))) == ["Died", "a"]
    assert (stage.counts.starts, stage.counts.notes) == (3, [])


def test_a_mask_outlives_a_death(stage: Stage) -> None:
    guest = stage.guest()
    assert guest.set_mask(0b101) == 0b101
    outcomes = list(guest.many(requests("mask", "die", "mask")))
    assert outcomes[0] == outcomes[2] == oc.Answer((0b101).to_bytes(8, "little"))


def test_clearing_a_mask_takes_a_fresh_guest_only_when_one_was_set(stage: Stage) -> None:
    guest = stage.guest()
    guest.clear_mask()
    assert stage.counts.starts == 1
    guest.set_mask(0)
    guest.clear_mask()
    assert stage.counts.starts == 2
    assert guest.one(Op.RUN, b"mask") == oc.Answer((0b111).to_bytes(8, "little"))


def test_a_refused_mask_is_an_error_and_is_not_repeated(stage: Stage) -> None:
    guest = stage.guest()
    with pytest.raises(GuestError, match="not detected"):
        guest.set_mask(0b1000)
    assert answers(list(guest.many(requests("die", "a")))) == ["Died", "a"]


def test_a_mask_that_is_refused_after_a_restart_is_an_error(stage: Stage) -> None:
    guest = stage.guest("stubborn")
    guest.set_mask(1)
    with pytest.raises(GuestError, match="after a restart"):
        list(guest.many(requests("die")))


def test_a_restarted_worker_must_be_the_same_build(stage: Stage) -> None:
    guest = stage.guest("rebuilt")
    assert guest.hello.build_id == "b1d"
    with pytest.raises(GuestError, match="another build"):
        list(guest.many(requests("die")))


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("broken", "cannot map the arena"),
        ("babble", "garbage"),
        ("future", "version 9"),
    ],
)
def test_a_guest_that_does_not_start_is_an_error_that_says_why(stage: Stage, mode: str, why: str) -> None:
    with pytest.raises(GuestError, match=why):
        stage.guest(mode)
    assert stage.alive() == []


def test_a_guest_that_says_nothing_is_an_error(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_START_DEADLINE", 0.2)
    with pytest.raises(GuestError, match="does not start"):
        stage.guest("mute")
    assert stage.alive() == []


def test_closing_twice_is_fine_and_a_closed_guest_starts_again(stage: Stage) -> None:
    guest = stage.guest()
    guest.close()
    guest.close()
    assert stage.alive() == []
    assert answers([guest.one(Op.RUN, b"a")]) == ["a"]


def test_request_ids_wrap_and_are_never_zero(stage: Stage) -> None:
    guest = stage.guest()
    guest._last_id = 0xFFFF_FFFE
    assert [guest.next_id(), guest.next_id(), guest.next_id()] == [0xFFFF_FFFF, 1, 2]
