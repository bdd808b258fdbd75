"""``repro --gdb``: the failing case in gdb, stopped in the kernel, on QEMU's gdb server or on the machine itself."""

import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console

from matrix.errors import ToolError
from matrix.model.target import Target
from matrix.plan.cell import NATIVE
from matrix.run.replay import Replay
from matrix.run.session import Session
from matrix.run.symbols import Symbols
from matrix.sandbox.host_channel import GUEST_ENVIRONMENT


def debug(session: Session, replay: Replay, extra: Sequence[str], console: Console) -> int:
    """Start the worker on the case's frames under gdb, stop in the first function that the case calls.

    ``extra`` gdb commands are carried out there and end the session; without them gdb is interactive.

    Returns gdb's exit code. Raises ToolError when gdb or QEMU is missing on this machine (in any sandbox: the worker is
    copied out of it).
    """
    target = session.catalog.targets.get(replay.cell.target)
    native = replay.cell.cpu == NATIVE
    gdb = shutil.which("gdb-multiarch") or shutil.which("gdb")
    if gdb is None:
        raise ToolError(
            "gdb is missing",
            why="neither gdb-multiarch nor gdb is found",
            step="`capmatrix doctor --gdb --install`, or by hand: apt-get install gdb-multiarch",
        )
    with tempfile.TemporaryDirectory(prefix="capmatrix-gdb-") as name:
        folder = Path(name)
        worker, frames = folder / "worker", folder / "frames"
        worker.write_bytes(session.sandbox.read(replay.worker))
        worker.chmod(0o755)
        frames.write_bytes(replay.frames)
        commands = [f"file {quoted(worker)}", sources_command(replay.sources)]
        breaks = _breaks(replay.symbols, Symbols(worker.read_bytes(), target.arch))
        if native:
            return _gdb(
                gdb, [*commands, f"set args --replay {shlex.quote(str(frames))}", *breaks, "run"], extra, console
            )
        guest = ["-cpu", replay.cell.cpu, str(worker), "--replay", str(frames)]
        return _under_qemu(gdb, target, guest, [*commands, *breaks], extra, console)


def quoted(path: Path) -> str:
    """``path`` as one word of a gdb command: gdb splits words as a shell does, but expands nothing."""
    return re.sub(r"([^\w/.+,@%=-])", r"\\\1", str(path), flags=re.ASCII)


def sources_command(folder: Path) -> str:
    """The command by which gdb finds the sources below ``folder``. gdb looks in its own folder too, and `directory`
    would split at a colon, which nothing quotes."""
    return f"cd {folder}" if ":" in str(folder) else f"directory {quoted(folder)}"


def _breaks(names: Iterable[str], symbols: Symbols) -> list[str]:
    """A breakpoint on each function. Of Thumb functions by address: gas leaves bit 0 in what it tells gdb of them."""
    starts = {name: symbols.thumb_start(name) for name in names}
    return [f"break {name}" if start is None else f"break *{start:#x}" for name, start in starts.items()]


def _under_qemu(
    gdb: str, target: Target, guest: list[str], commands: list[str], extra: Sequence[str], console: Console
) -> int:
    if shutil.which(target.qemu) is None:
        raise ToolError(
            f"{target.qemu} is missing",
            why="gdb needs QEMU on this machine",
            step=f"`capmatrix doctor --install {target.name}`, or --native on an x86 target",
        )
    port = _free_port()
    argv = [target.qemu, "-g", str(port), *guest]
    console.print(f"+ {' '.join(argv)}", highlight=False, markup=False, soft_wrap=True)
    process = subprocess.Popen(argv, env=GUEST_ENVIRONMENT, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        connect = [*commands[:2], f"target remote localhost:{port}", *commands[2:], "continue"]
        return _gdb(gdb, connect, extra, console)
    finally:
        process.kill()
        process.wait()


def _gdb(gdb: str, commands: Sequence[str], extra: Sequence[str], console: Console) -> int:
    quiet = ["set confirm off", "set pagination off", "set breakpoint pending off"]
    argv = [gdb, "-q", "-nx"]
    for command in (*quiet, *commands, *extra, *(["kill", "quit"] if extra else [])):
        argv += ["-ex", command]
    if extra:
        argv.append("-batch")
    console.print(f"+ {gdb} with: {'; '.join(commands)}", highlight=False, markup=False, soft_wrap=True)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is gdb's
    try:
        return subprocess.run(argv, check=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)


def _free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
