"""Run compilers through ninja: only what is missing, every core, one log per file, going on after a failure."""

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


_HEAD = """ninja_required_version = 1.8
rule make
  command = ( $run ) > $out.log 2>&1 && mv $out.new $out && sha256sum $out > $out.sum
  description = $out
"""


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
        command = edge.command.replace("{out}", f"{edge.output}.new")
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
        return plain(sandbox.read(f"{output}.log").decode("utf-8", "replace").strip())
    except FileNotFoundError:
        return plain(otherwise.strip()[-2000:])
