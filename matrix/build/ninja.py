"""Run compilers through ninja: only what is missing, every core, one log per file, going on after a failure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from matrix.errors import StoreError, ToolError
from matrix.plain import plain
from matrix.sandbox.base import Sandbox


@dataclass(frozen=True)
class Edge:
    """One command that makes ``output`` (paths relative to the sandbox's root); ``{out}`` in it is where to write."""

    output: str
    command: str


MAX_FILE_MIB = 64
MAX_MEMORY_GIB = 4
MAX_SECONDS = 120
_BEYOND = {
    r"File size limit exceeded|File too large|SIGXFSZ": f"writes a file of more than {MAX_FILE_MIB} MiB",
    r"virtual memory exhausted|out of memory|[Cc]annot allocate|bad_alloc": f"needs more than {MAX_MEMORY_GIB} GiB",
    r"CPU time limit exceeded|SIGXCPU": f"takes more than {MAX_SECONDS} seconds",
}
_LOG_BYTES = 20_000
"""How much is kept of what a compiler says first, and a tenth of it of the last."""
_HEAD = f"""ninja_required_version = 1.8
most = most() {{ now=$$(ulimit -S "$$1"); [ "$$now" != unlimited ] && [ "$$now" -le "$$2" ] || ulimit -S "$$1" "$$2"; }}
limits = most -f {MAX_FILE_MIB << 11}; most -v {MAX_MEMORY_GIB << 20}; most -t {MAX_SECONDS}
killed = case $$status in 152) echo CPU time limit exceeded;; 153) echo File size limit exceeded;; esac
rule make
  command = ( $most; $limits; $run ) > $out.log 2>&1 $
   || {{ status=$$?; rm -f $out.new; mv $out.log $out.all; $
         {{ head -c {_LOG_BYTES} $out.all; tail -c +{_LOG_BYTES + 1} $out.all | tail -c {_LOG_BYTES // 10}; $
            $killed; }} $
         > $out.log; rm $out.all; exit $$status; }}; $
   mv $out.new $out && sha256sum $out > $out.sum
  description = $out
"""
"""No command may write a larger file or take more memory or time than the limits, which are in units of POSIX; 152 and
153 are SIGXCPU and SIGXFSZ of a shell's command that cannot say so itself."""


def make(sandbox: Sandbox, folder: str, edges: Iterable[Edge]) -> dict[str, str]:
    """Make all ``edges`` and return {output: what the compiler said} for those that failed.

    An output appears under its name only when its command has succeeded, so builds may run side by side. Its digest
    lies beside it: see ``discard_damaged``. Raises ToolError, StoreError when the disk is full.
    """
    todo = list(edges)
    if not todo:
        return {}
    lines = [_HEAD]
    for edge in todo:
        command = edge.command.replace("$", "$$").replace("{out}", f"{edge.output}.new")
        lines.append(f"build {edge.output}: make\n  run = {command}\n")
    script = f"{folder}/build.ninja"
    sandbox.write({script: "\n".join(lines).encode()})
    done = sandbox.run(["ninja", "-k", "0", "-f", script], seconds=1800)
    failed = sandbox.missing(edge.output for edge in todo)
    if done.status or failed:
        _require_room(sandbox, min(failed, default=script))
    if done.status and not failed:
        raise ToolError("ninja failed", why=(done.stdout + done.stderr).strip()[-2000:])
    return {output: _log(sandbox, output, done.stdout + done.stderr) for output in sorted(failed)}


_ROOM = "head -c 8000000 /dev/zero > .room.$$; status=$?; rm -f .room.$$; exit $status"
"""Writes more than a worker has bytes."""


def _require_room(sandbox: Sandbox, output: str) -> None:
    """Raises StoreError when the sandbox's disk is full: the compilers failed of that, and cannot even say so."""
    done = sandbox.run(["sh", "-c", _ROOM])
    if done.status:
        why = done.stderr.strip() or f"a file of 8 MB cannot be written (status {done.status})"
        raise StoreError("a compiler cannot write what it makes", where=output, why=why)


_DIGESTS = 'for path; do set -- "$@" "$path.sum"; shift; done; cat -- "$@" | LC_ALL=C sha256sum -c'
"""Reads ``<digest>  <path>`` of each argument's .sum file; says ``<path>: OK`` of what is as it was written."""


def discard_damaged(sandbox: Sandbox, outputs: Iterable[str]) -> None:
    """Remove those of ``outputs`` that are not what was made, after a full disk or a crash: they are made anew."""
    wanted = list(outputs)
    absent = sandbox.missing(wanted)
    there = [output for output in wanted if output not in absent]
    if not there:
        return
    done = sandbox.run(["sh", "-c", _DIGESTS, "sh", *there])
    sound = {line.removesuffix(": OK") for line in done.stdout.splitlines()}
    if damaged := [output for output in there if output not in sound]:
        sandbox.run(["rm", "-f", "--", *damaged])


def _log(sandbox: Sandbox, output: str, otherwise: str) -> str:
    try:
        log = plain(sandbox.read(f"{output}.log").decode("utf-8", "replace").strip())
    except FileNotFoundError:
        log = plain(otherwise.strip()[-2000:])
    beyond = [
        f"error: the build {what}, which nothing here may" for words, what in _BEYOND.items() if re.search(words, log)
    ]
    return "\n".join([*beyond, log])
