"""Run compilers through ninja: only what is missing, every core, one log per file, going on after a failure."""

from collections.abc import Iterable
from dataclasses import dataclass

from matrix.errors import ToolError
from matrix.sandbox.base import Sandbox


@dataclass(frozen=True)
class Edge:
    """One command that makes ``output`` (paths relative to the sandbox's root); ``{out}`` in it is where to write."""

    output: str
    command: str


_HEAD = """ninja_required_version = 1.8
rule make
  command = ( $run ) > $out.log 2>&1 && mv $out.new $out
  description = $out
"""


def make(sandbox: Sandbox, folder: str, edges: Iterable[Edge]) -> dict[str, str]:
    """Make all ``edges`` and return {output: what the compiler said} for those that failed.

    An output appears under its name only when its command has succeeded, so builds may run side by side.
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
    if done.status and not failed:
        raise ToolError("ninja failed", why=(done.stdout + done.stderr).strip()[-2000:])
    return {output: _log(sandbox, output, done.stdout + done.stderr) for output in sorted(failed)}


def _log(sandbox: Sandbox, output: str, otherwise: str) -> str:
    try:
        return sandbox.read(f"{output}.log").decode("utf-8", "replace").strip()
    except FileNotFoundError:
        return otherwise.strip()[-2000:]
