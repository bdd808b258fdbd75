"""A real child that plays a worker: a Python script that does what each payload says."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from matrix.sandbox.base import Channel
from matrix.sandbox.host import HostSandbox
from matrix.worker import outcome as oc
from matrix.worker.process import Guest, GuestCounts
from matrix.worker.protocol import Op
from matrix.worker.window import Request

PATIENT = 30.0
"""Deadline, in seconds, of tests in which nothing hangs: a loaded machine must not fail them."""
SHORT = 0.3
HANG = 0.2
"""Deadlines of tests in which time passes; a request that is late by accident is answered when it is alone."""

WORKER = r"""
import os, select, signal, struct, sys, time

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

def crash(number, request, op, sender=0xffffffff):
    ran = 0 if request == 0xffffffff else int(1000 * (time.monotonic() - taken))
    write(frame(request, op, 6, struct.pack("<IiQQHHqIII", number, 1, 0x1000, 0x10054, 2, 1, -4, 64, sender, ran)))
    os._exit(3)

terminated = []
kept = b""

mode = sys.argv[1]
with open("pids", "a") as pids:
    pids.write(os.readlink("/proc/self") + "\n")  # its own pid is another in its namespace
starts = len(open("pids").readlines())
if mode == "broken":
    sys.stderr.write("cannot map the arena\n")
    sys.exit(1)
if mode == "killed-at-start" and starts == 1:
    os.kill(os.getpid(), signal.SIGKILL)
if mode == "mute":
    time.sleep(60)
if mode == "slow" and starts > 1:
    time.sleep(0.35)
if mode == "babble":
    write(b"hello, world, this is no frame")
build = "other" if mode == "rebuilt" and starts > 1 else "b1d"
version = 9 if mode == "future" else 2
hello = struct.pack("<H", version) + text(build) + text("x86_64") + struct.pack("<BBI", 8, 0, os.getpid())
hello += struct.pack("<HQHH", 0, 0b111, 0, 0)
write(frame(0, 0, 0, hello))
mask = 0b111
while True:
    if kept and not select.select([0], [], [], 0)[0]:
        write(kept)
        kept = b""
    (length,) = struct.unpack("<I", read(4))
    request, op, _ = struct.unpack("<IHH", read(8))
    payload = read(length - 8)
    taken = time.monotonic()
    with open("log", "ab") as log:
        log.write(payload[:40] + b"\n")
    verb, _, rest = payload[:120].decode("latin-1").partition(" ")
    status, answer = 0, payload
    if terminated:
        crash(15, request, op) if terminated[0] == "in the next" else crash(15, 0xffffffff, 0xffff)
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
    elif verb == "kill-once" and first_time(rest):
        os.kill(os.getpid(), signal.SIGKILL)
    elif verb == "half-once" and first_time(rest):
        write(frame(request, op, 0, b"x" * 50)[:20])
        os.kill(os.getpid(), signal.SIGKILL)
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
    elif verb == "keep":  # as the worker gathers finished answers, and sends them when it is asked to end
        kept += frame(request, op, 0, payload)
        continue
    elif verb == "keep-and-work":
        def release(*_):
            write(kept)
            crash(15, request, op)
        signal.signal(signal.SIGTERM, release)
        time.sleep(float(rest))
        write(kept)
        kept = b""
    elif verb == "answers-when-asked":
        signal.signal(signal.SIGTERM, lambda *_: terminated.append(rest))
        while not terminated:
            time.sleep(0.01)
    elif verb == "hang-once" and first_time(rest):
        signal.signal(signal.SIGTERM, lambda *_: crash(15, request, op))
        time.sleep(60)
    elif verb == "deaf-once" and first_time(rest):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)
    elif verb == "babble-once" and first_time(rest):
        write(b"\0" * 16)
    elif verb == "stop-once" and first_time(rest):
        os.kill(os.getpid(), signal.SIGSTOP)
    elif verb == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif verb == "spin":
        signal.signal(signal.SIGTERM, lambda *_: crash(15, request, op))
        while True:
            pass
    elif verb == "stuck":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        write(frame(request, op, 0, b"x" * 50)[:20])
        time.sleep(60)
    elif verb == "chatter":
        sys.stderr.write("a warning of a kernel\n" * int(rest))
        sys.stderr.flush()
    elif verb == "told-once" and first_time(rest):
        crash(15, request, op, os.getppid())
    elif verb == "told":
        crash(15, request, op, int(rest))
    elif verb == "leaves":
        status, answer = 8, struct.pack("<HHq", 0xffff, 1, 0)
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
    elif verb == "twice-at-once":
        write(2 * frame(request, op, 0, payload))
        continue
    write(kept + frame(request, op, status, answer))
    kept = b""
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


def requests(*payloads: str) -> list[Request]:
    """RUN requests with these payloads."""
    return [Request(Op.RUN, payload.encode()) for payload in payloads]


def answers(outcomes: list[oc.Outcome]) -> list[str]:
    """The payloads of answers, and the kinds of everything else."""
    return [o.payload.decode() if isinstance(o, oc.Answer) else type(o).__name__ for o in outcomes]
