"""``bench harness``: what the harness costs, as wall time of a run over bare replay of the very same frames."""

import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from matrix.checks import check_of
from matrix.model.target import Target
from matrix.plan.cell import NATIVE, Cell
from matrix.run.runner import run_cell
from matrix.run.session import Session
from matrix.run.state import RunState
from matrix.sandbox.base import Cause, Channel, Completed, Sandbox, Vitals
from matrix.sandbox.host_channel import GUEST_ENVIRONMENT
from matrix.sandbox.locks import cache_root


@dataclass
class _Clock:
    """Seconds spent in one kind of work, and how often it began."""

    seconds: float = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - start


@dataclass
class _Recorded:
    """All bytes that were sent to one guest."""

    argv: tuple[str, ...]
    sent: bytearray = field(default_factory=bytearray)


class _RecordingChannel:
    """A channel that keeps what is sent, and times the moving of bytes and the waiting for them."""

    def __init__(self, inner: Channel, kept: bytearray, moving: _Clock, waiting: _Clock) -> None:
        self._inner = inner
        self._kept = kept
        self._moving = moving
        self._waiting = waiting

    def send(self, data: memoryview) -> int:
        with self._moving.running():
            count = self._inner.send(data)
        self._kept += data[:count]
        return count

    def receive(self) -> bytes | None:
        with self._moving.running():
            return self._inner.receive()

    def wait_ready(self, writing: bool, seconds: float) -> None:
        with self._waiting.running():
            self._inner.wait_ready(writing, seconds)

    def interrupt(self) -> None:
        self._inner.interrupt()

    def kill(self) -> None:
        self._inner.kill()

    def finish(self, seconds: float) -> tuple[int, str]:
        return self._inner.finish(seconds)

    def cause(self) -> Cause:
        return self._inner.cause()

    def vitals(self) -> Vitals | None:
        return self._inner.vitals()

    def strays(self) -> int:
        return self._inner.strays()

    def outsider(self, pid: int) -> str:
        return self._inner.outsider(pid)


class _RecordingSandbox:
    """A sandbox whose guests are recorded."""

    def __init__(self, inner: Sandbox) -> None:
        self._inner = inner
        self.name = inner.name
        self.guests: list[_Recorded] = []
        self.moving, self.waiting, self.starting = _Clock(), _Clock(), _Clock()

    def write(self, files: Mapping[str, bytes]) -> None:
        self._inner.write(files)

    def read(self, path: str) -> bytes:
        return self._inner.read(path)

    def read_all(self, paths: Iterable[str]) -> dict[str, bytes]:
        return self._inner.read_all(paths)

    def missing(self, paths: Iterable[str]) -> set[str]:
        return self._inner.missing(paths)

    def run(self, argv: Sequence[str], folder: str = ".", seconds: float = 600) -> Completed:
        return self._inner.run(argv, folder, seconds)

    def spawn(self, argv: Sequence[str], bounded: bool = True) -> Channel:
        self.guests.append(_Recorded(tuple(argv)))
        with self.starting.running():
            inner = self._inner.spawn(argv, bounded)
        return _RecordingChannel(inner, self.guests[-1].sent, self.moving, self.waiting)

    def ready_for(self, target: Target) -> None:
        self._inner.ready_for(target)


def bench_harness(state: RunState, console: Console) -> float:
    """Run the selected cells once in this process, replay what was sent to each guest, print both, return the ratio.

    Cells that are meant to kill their guest are left out. Builds and corpora are made before the clock starts.
    """
    assert state.sandbox is not None, "a mere collection has no sandbox"
    able = (cell for cell in state.selected if not cell.reason and cell.cpu != NATIVE)
    cells = [cell for cell in able if not check_of(cell).ends_guests]
    _run(state.session(), cells)
    recording = _RecordingSandbox(state.sandbox)
    session = Session(state.catalog, recording, state.settings, cache_root() / "corpora")
    loading = _Clock()
    with loading.running():
        for provider, algorithm in sorted({(c.provider, c.algorithm) for c in cells if c.algorithm}):
            session.corpus(provider, algorithm)
    start = time.perf_counter()
    runs = _run(session, cells)
    wall = time.perf_counter() - start
    bare = sum(_replay(state.sandbox, guest) for guest in recording.guests)
    table = Table(
        title=f"harness: {len(cells)} cells, {runs:,} runs, {len(recording.guests)} guests", title_justify="left"
    )
    for name in ("what", "seconds", "per run, us"):
        table.add_column(name, justify="left" if name == "what" else "right")
    python = wall - recording.moving.seconds - recording.waiting.seconds - recording.starting.seconds
    for name, seconds in (
        ("run, wall", wall),
        ("  Python: layout, judgement, bookkeeping", python),
        ("  pipe: moving bytes", recording.moving.seconds),
        ("  waiting for the guest", recording.waiting.seconds),
        ("  starting guests", recording.starting.seconds),
        ("replay, wall", bare),
        ("loading the corpora (before the run)", loading.seconds),
    ):
        table.add_row(name, f"{seconds:.3f}", f"{1e6 * seconds / max(1, runs):.1f}")
    console.print(table)
    ratio = wall / bare
    console.print(f"ratio run / replay: {ratio:.2f}", highlight=False)
    return ratio


def _run(session: Session, cells: list[Cell]) -> int:
    try:
        return sum(run_cell(session, cell).runs for cell in cells)
    finally:
        session.close()


def _replay(sandbox: Sandbox, guest: _Recorded) -> float:
    """Seconds that the worker needs for the frames with nobody at the other end."""
    with tempfile.TemporaryDirectory(prefix="capmatrix-bench-") as name:
        worker, frames = Path(name) / "worker", Path(name) / "frames"
        worker.write_bytes(sandbox.read(guest.argv[-1]))
        worker.chmod(0o755)
        frames.write_bytes(guest.sent)
        argv = [*guest.argv[:-1], str(worker), "--replay", str(frames)]
        start = time.perf_counter()
        subprocess.run(argv, env=GUEST_ENVIRONMENT, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return time.perf_counter() - start
