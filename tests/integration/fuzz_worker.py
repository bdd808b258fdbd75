"""A worker built natively with sanitizers and toy functions, and the feeding of random requests to it.

    python -m tests.integration.fuzz_worker [REQUESTS [SEED]]

The integration tests feed 100,000; more of them, or others, are for after a change of the worker.
"""

import os
import select
import struct
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from matrix.errors import GuestError
from matrix.worker.protocol import Frame, FrameReader, Op, Status, decode_run

from . import support
from .fuzz_frames import Request, Requests

WORKER = support.REPOSITORY / "kernels" / "worker"
TOYS = Path(__file__).parent / "fuzz"
SANITIZER_EXIT = 86
"""Exit status of a worker whose sanitizer has reported something; the worker's own are 0 to 4."""
PATIENCE = 120.0
"""Seconds without a byte of reply after which the worker hangs."""
_CLEAN = "exit status 0, stderr:\n"
_GRACE = 5.0
"""Seconds that a worker which has failed gets to say more."""
_BATCH = 512
_PIPE_BYTES = 64 << 10
# bounds-strict: an array at the end of a structure has bounds too.
_SANITIZERS = "address,undefined,bounds-strict"
_FLAGS = ("-O1", "-g", "-std=gnu11", f"-fsanitize={_SANITIZERS}", "-fno-sanitize-recover=undefined,bounds-strict")
_LINK = ("-Wl,--wrap=frame_next", "-Wl,-z,noexecstack")
# The worker has signal handlers and a stack for them of its own, which the sanitizer must leave alone (it would unmap
# the stack at the end). Freed payloads need not be remembered for long.
_HANDLERS = ("handle_segv=0", "handle_sigbus=0", "handle_sigfpe=0", "handle_sigill=0", "handle_abort=0")
_OPTIONS = (*_HANDLERS, "use_sigaltstack=0", "detect_leaks=0", "quarantine_size_mb=8", f"exitcode={SANITIZER_EXIT}")
_PLAUSIBLE = frozenset({Status.OK, Status.UNSUPPORTED, Status.BAD_REQUEST, Status.INPUT_MODIFIED})
"""All that the toy functions can bring about. The others mean that the worker spoilt something itself."""
_TEXTS = frozenset({Status.UNSUPPORTED, Status.BAD_REQUEST})


class WorkerFailed(AssertionError):
    """The worker did what no input may make it do."""


def build(folder: Path, sources: Path = WORKER) -> Path:
    """Compile the worker's ``sources`` and the toys into ``folder``; the path of the executable."""
    folder.mkdir(parents=True, exist_ok=True)
    binary = folder / "worker"
    files = [path for root in (sources, TOYS) for path in sorted(root.iterdir()) if path.suffix in (".c", ".S")]
    command = ["gcc", *_FLAGS, f"-I{sources}", *map(str, files), *_LINK, "-o", str(binary)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"the worker does not build:\n{done.stderr}"
    return binary


def environment() -> dict[str, str]:
    """This process's environment with the sanitizers' options."""
    options = ":".join(_OPTIONS)
    return {**os.environ, "ASAN_OPTIONS": options, "UBSAN_OPTIONS": f"print_stacktrace=1:exitcode={SANITIZER_EXIT}"}


def frame(request_id: int, request: Request) -> bytes:
    """The request as it goes to the worker."""
    return struct.pack("<IIHH", 8 + len(request.payload), request_id, request.op, request.flags) + request.payload


def run(binary: Path, sent: bytes) -> tuple[int, list[Frame], str]:
    """One worker that gets ``sent`` and the end of input: its exit status, its replies without HELLO, its stderr."""
    done = subprocess.run([binary], input=sent, capture_output=True, env=environment(), timeout=PATIENCE, check=False)
    reader = FrameReader()
    replies = reader.feed(done.stdout)
    assert not reader.unfinished
    assert replies[0].op == Op.HELLO
    return done.returncode, replies[1:], done.stderr.decode("utf-8", "replace")


class _Fed:
    """A worker that is written to and read from at once, ``piece`` bytes a write. Its stderr goes into ``folder``."""

    def __init__(self, binary: Path, folder: Path, piece: int) -> None:
        self._piece = piece
        self._log = folder / "stderr.txt"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment(), bufsize=0
            )
        assert self._process.stdin
        assert self._process.stdout
        self._input, self._output = self._process.stdin, self._process.stdout
        os.set_blocking(self._input.fileno(), False)
        self._left = memoryview(b"")
        self._reader = FrameReader()
        self._replies: deque[Frame] = deque()

    def send(self, frames: bytes) -> None:
        """Have ``frames`` written while replies are waited for."""
        self._left = memoryview(bytes(self._left) + frames)

    def reply(self) -> Frame:
        """The next reply. Raises WorkerFailed when none comes."""
        while not self._replies:
            writing = [self._input] if self._left else []
            readable, writable, _ = select.select([self._output], writing, [], PATIENCE)
            if not readable and not writable:
                raise WorkerFailed(f"no reply for {PATIENCE:.0f} s")
            if writable:
                try:
                    self._left = self._left[self._input.write(self._left[: self._piece]) or 0 :]
                except BrokenPipeError:
                    self._left = memoryview(b"")
            if readable:
                self._read()
        return self._replies.popleft()

    def _read(self) -> None:
        data = self._output.read(1 << 20)
        if not data:
            raise WorkerFailed("the worker has ended")
        try:
            self._replies += self._reader.feed(data)
        except GuestError as problem:
            raise WorkerFailed(str(problem)) from None

    def end(self) -> str:
        """End the input; what is wrong with the worker's end, or nothing."""
        self._input.close()
        while not self._replies and not self._reader.unfinished:
            if not select.select([self._output], [], [], PATIENCE)[0]:
                return f"no end of output for {PATIENCE:.0f} s"
            try:
                self._read()
            except WorkerFailed:
                break
        else:
            return "more output than replies"
        told = self.told(PATIENCE)
        return "" if told == _CLEAN else told

    @property
    def ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def told(self, patience: float) -> str:
        """The worker's exit status, if it ends within ``patience`` seconds, and its stderr so far."""
        try:
            status = str(self._process.wait(patience))
        except subprocess.TimeoutExpired:
            status = "none, it runs on"
        return f"exit status {status}, stderr:\n" + self._log.read_text(encoding="utf-8", errors="replace")

    def kill(self) -> None:
        """End the process whatever it does."""
        self._process.kill()
        self._process.wait()
        self._input.close()
        self._output.close()


def feed(binary: Path, folder: Path, seed: int, frames: int, piece: int = _PIPE_BYTES) -> dict[str, int]:
    """Send ``frames`` random requests to one worker and look at every reply; how many there were of each status.

    Raises WorkerFailed with the request, which is also left in ``folder`` (for ``worker --replay``).
    """
    requests = enumerate(islice(Requests(seed), frames))
    met = dict.fromkeys((status.name for status in Status), 0)
    fed = _Fed(binary, folder, piece)
    try:
        hello = fed.reply()
        while batch := list(islice(requests, _BATCH)):
            try:
                for reply in _look(fed, batch, hello, folder):
                    met[Status(reply.status).name] += 1
            except WorkerFailed:
                if fed.ended:  # with finished replies in it: one by one the request is the right one
                    _one_by_one(binary, folder, batch)
                raise
        wrong = fed.end()
        if wrong:
            raise WorkerFailed(f"after {frames} frames: {wrong}")
    finally:
        fed.kill()
    return met


def _look(fed: _Fed, batch: list[tuple[int, Request]], hello: Frame, folder: Path) -> Iterator[Frame]:
    """Send all of ``batch`` and give out the replies, each after a look at it. Raises WorkerFailed."""
    fed.send(b"".join(frame(_request_id(number), request) for number, request in batch))
    for number, request in batch:
        patience = 0.0
        try:
            reply = fed.reply()
            wrong = _wrong_with(reply, _request_id(number), request, hello)
        except WorkerFailed as problem:
            wrong, patience = str(problem), _GRACE
        if wrong:
            culprit = folder / "request.bin"
            culprit.write_bytes(frame(_request_id(number), request))
            raise WorkerFailed(
                f"frame {number}, {request.how}, in {culprit}: {wrong}\n"
                f"operation {request.op}, flags {request.flags}, payload {request.payload[:256].hex()}\n"
                f"{fed.told(patience)}"
            )
        yield reply


def _one_by_one(binary: Path, folder: Path, batch: list[tuple[int, Request]]) -> None:
    """Send ``batch`` to a new worker, each request after the reply to the one before. Raises WorkerFailed."""
    fed = _Fed(binary, folder, _PIPE_BYTES)
    try:
        hello = fed.reply()
        for one in batch:
            for _ in _look(fed, [one], hello, folder):
                pass
    finally:
        fed.kill()


def _request_id(number: int) -> int:
    """Ids that fill all 32 bits and do not repeat."""
    return (number + 1) * 0x9E3779B1 & 0xFFFFFFFF


def _wrong_with(reply: Frame, request_id: int, request: Request, hello: Frame) -> str:
    """What is wrong with the reply, or nothing."""
    if (reply.request_id, reply.op) != (request_id, request.op):
        return f"a reply to {reply.request_id:#x}, operation {reply.op}, instead of {request_id:#x}"
    if reply.status not in _PLAUSIBLE or request.status not in (None, reply.status):
        expected = "another" if request.status is None else request.status.name
        return f"status {reply.status}, {expected} expected: {reply.payload[:256]!r}"
    if reply.status in _TEXTS:
        return "" if reply.payload.isascii() and reply.payload else f"a text of {reply.payload!r}"
    if reply.op == Op.HELLO and reply.payload != hello.payload:
        return "another HELLO than at the start"
    if reply.op == Op.PING and reply.payload != request.payload:
        return "a PING that is not echoed"
    if reply.status == Status.OK and request.answer:
        try:
            told = decode_run(reply.payload, request.answer.outputs)
        except GuestError as problem:
            return str(problem)
        if (len(told.returned), told.entered) != (request.answer.steps, request.answer.entered):
            return f"{len(told.returned)} steps, entered {told.entered}; {request.answer} expected"
    return ""


def main() -> None:
    """Feed as many requests as were asked for, and print how many replies of each status came."""
    frames, seed = (int(sys.argv[at]) if len(sys.argv) > at else usual for at, usual in ((1, 2_000_000), (2, 1)))
    folder = Path(tempfile.mkdtemp(prefix="capmatrix-fuzz-"))
    print(f"{frames:,} requests, seed {seed}, in {folder}", flush=True)
    print(feed(build(folder), folder, seed, frames))


if __name__ == "__main__":
    main()
