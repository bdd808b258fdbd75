"""Whatever comes in, the worker answers or refuses: no hang, no wild access, no lost reply. Native, with sanitizers."""

import platform
import random
import shutil
import struct
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest

from matrix.worker.protocol import MAX_FRAME, Frame, Op, Status

from . import fuzz_worker, support
from .fuzz_frames import Request, Requests
from .fuzz_worker import WorkerFailed

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the worker is fuzzed as a native x86_64 build")

FRAMES = 100_000
FAULTY_FRAMES = 20_000
"""Enough for every planted fault to be met many times."""
FRAMING_EXIT = 2
OUT_OF_RANGE = "worker: a frame's length is out of range\n"
CUT_OFF = "worker: the input ends inside a frame\n"
PING = Request("PING", Op.PING, b"are you there?", Status.OK)
PONG = Frame(7, Op.PING, Status.OK, PING.payload)


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The worker as it is."""
    return fuzz_worker.build(tmp_path_factory.mktemp("worker"))


def test_random_requests(worker: Path, tmp_path: Path) -> None:
    met = fuzz_worker.feed(worker, tmp_path, seed=1, frames=FRAMES)
    assert sum(met.values()) == FRAMES
    # Both sides of every check were met, or the requests have degenerated.
    assert min(met["OK"], met["BAD_REQUEST"]) > FRAMES // 4
    assert min(met["UNSUPPORTED"], met["INPUT_MODIFIED"]) > FRAMES // 1000


def test_requests_in_small_pieces(worker: Path, tmp_path: Path) -> None:
    fuzz_worker.feed(worker, tmp_path, seed=2, frames=500, piece=61)


# ---- the outer length: nothing can be understood after a wrong one ----


@pytest.mark.parametrize("length", [0, 1, 7, MAX_FRAME + 1, 1 << 31, (1 << 32) - 1])
def test_length_out_of_range(worker: Path, length: int) -> None:
    sent = fuzz_worker.frame(7, PING) + struct.pack("<I", length) + bytes(100)
    status, replies, told = fuzz_worker.run(worker, sent)
    assert (status, told) == (FRAMING_EXIT, OUT_OF_RANGE)
    first, last = replies
    assert first == PONG
    assert (last.request_id, last.op, last.status) == (0xFFFFFFFF, 0xFFFF, Status.BAD_REQUEST)
    assert str(length) in last.payload.decode()


@pytest.mark.parametrize("size", [0, 8, MAX_FRAME - 8])
def test_length_within_range(worker: Path, size: int) -> None:
    """From the shortest frame to the longest, whose echo is as long."""
    ping = Request("PING", Op.PING, bytes(size), Status.OK)
    status, replies, told = fuzz_worker.run(worker, fuzz_worker.frame(6, ping) + fuzz_worker.frame(7, PING))
    assert (status, told) == (0, "")
    assert replies == [Frame(6, Op.PING, Status.OK, ping.payload), PONG]


def test_input_that_ends_inside_a_frame(worker: Path) -> None:
    whole = fuzz_worker.frame(7, PING)
    beginnings = [whole[:size] for size in (1, 3, 4, 5, 11, 12, len(whole) - 1)]
    beginnings.append(struct.pack("<I", MAX_FRAME) + bytes(300_000))
    for beginning in beginnings:
        status, replies, told = fuzz_worker.run(worker, whole + beginning)
        assert (status, told) == (FRAMING_EXIT, CUT_OFF)
        assert replies == [PONG]


def test_lengths_that_lie(worker: Path) -> None:
    """What follows is read from a wrong byte on: taken for frames, or refused, at the latest at its end."""
    lies = random.Random(3)
    requests = (request for request in Requests(3) if len(request.payload) < 2000)
    for _ in range(25):
        frames = [bytearray(fuzz_worker.frame(7, PING))]
        frames += [bytearray(fuzz_worker.frame(number, request)) for number, request in enumerate(islice(requests, 4))]
        length = len(frames[1]) - 4
        wrong = lies.choice((length + 1, length + 8, length + lies.randrange(1, 5000), lies.randint(8, length)))
        struct.pack_into("<I", frames[1], 0, wrong)
        status, replies, told = fuzz_worker.run(worker, b"".join(frames))
        assert (status, told) in ((0, ""), (FRAMING_EXIT, OUT_OF_RANGE), (FRAMING_EXIT, CUT_OFF))
        assert replies[0] == PONG


# ---- what it is for ----


@dataclass(frozen=True)
class Fault:
    """A check taken out of a source file of the worker, and what must then be seen."""

    name: str
    file: str
    sound: str
    wrong: str
    seen: str


FAULTS = (
    Fault(
        "end of the payload",
        "wire.h",
        "    if ((size_t)(reader->end - at) < count)\n        return NULL;\n",
        "",
        "AddressSanitizer: heap-buffer-overflow",
    ),
    Fault("number of buffers", "run.c", "buffers > ARENA_SLOTS || ", "", "global variable 'running'"),
    Fault("number of steps", "run.c", " || step_count > STEPS_MAX)", ")", "global variable 'steps'"),
    Fault("number of words", "run.c", "words > CALL_WORDS", "words > 0xffff", "out of bounds for type 'uintptr_t [8]'"),
    Fault("length of a buffer", "run.c", "buffer->length > ARENA_CAPACITY\n             || ", "", "AddressSanitizer"),
    Fault(
        "index of a buffer",
        "run.c",
        "which >= running.buffers",
        "which > 0xffff",
        "out of bounds for type 'buffer [12]'",
    ),
    Fault("address", "run.c", "value > running.buffer[which].length", "value > ~0ull", "BAD_REQUEST expected"),
    Fault("reply", "main.c", "        reply_text(STATUS_UNSUPPORTED, ", "        (void)(", "a reply to "),
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_check_taken_out(tmp_path: Path, fault: Fault) -> None:
    sources = tmp_path / "sources"
    shutil.copytree(fuzz_worker.WORKER, sources)
    support.replace(sources / fault.file, fault.sound, fault.wrong)
    faulty = fuzz_worker.build(tmp_path / "built", sources)
    with pytest.raises(WorkerFailed) as caught:
        fuzz_worker.feed(faulty, tmp_path, seed=1, frames=FAULTY_FRAMES)
    print(caught.value)
    assert fault.seen in str(caught.value)
