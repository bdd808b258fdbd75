"""Translation units of a worker: what they are made of, and the objects, kept by the hash of all that went in."""

import hashlib
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from matrix.build.ninja import Edge, discard_damaged, make
from matrix.build.reads import (
    Toolchain,
    asks_for_files,
    checked,
    explained,
    foreign_names,
    has_assembly,
    told,
    toolchain,
)
from matrix.build.toolchain import compiler_version, link_flags, worker_flags
from matrix.errors import BuildError, ToolError
from matrix.model.shared import SHARED
from matrix.model.target import Target
from matrix.sandbox.base import Sandbox


@dataclass(frozen=True)
class Unit:
    """One translation unit: where its object goes, the files and command that make it, and {path in the sandbox: what
    people know the file as}, which is its path in the repository when it is a copy. ``place`` is where kernels of its
    folder may read files, as people know it, and ``refused`` what it must not read; both are empty for our own."""

    output: str
    files: dict[str, bytes]
    command: str
    shown: dict[str, str]
    place: str = ""
    refused: str = ""


class Units:
    """Makes the units of one target in ``folder``; ``root`` is the repository that paths in messages begin in."""

    def __init__(self, sandbox: Sandbox, target: Target, root: Path, folder: str) -> None:
        self.sandbox = sandbox
        self.target = target
        self.folder = folder
        self._root = root
        self.compiler = compiler_version(sandbox, target.compiler)
        of_c = [compiler_version(sandbox, target.c_compiler)] if target.c_compiler else []
        self.compilers = ", ".join([*of_c, self.compiler])
        self.tools = toolchain(sandbox, (target.compiler,))

    def unit(
        self,
        name: str,
        source: bytes,
        headers: dict[str, bytes],
        flags: list[str],
        home: Path | None = None,
        own: bool = True,
    ) -> Unit:
        """The unit ``name``. ``home`` is the folder that it and its headers were copied from (None: generated), and
        shared headers (``shared/NAME.h``) from beside it: debug information and messages name those, not the copies."""
        flags = [*worker_flags(self.target), *flags] if own else flags
        place = self._shown(home) if home else "generated"
        driver, version, tools = self._driver(name, own)
        parts: list[str | bytes] = [version, tools.digest, driver, *flags, place, name, source]
        for header, text in sorted(headers.items()):
            parts += [header, text]
        key = digest(parts)
        folder = f"sources/{key[:24]}"
        output = f"objects/{self.target.name}/{Path(name).stem}-{key[:24]}.o"
        files = {f"{folder}/{header}": text for header, text in headers.items()} | {f"{folder}/{name}": source}
        shared = self._shown(home.parent / SHARED) if home else "generated"
        # gcc takes the last that fits, clang the longest.
        flags = [*flags, f"-ffile-prefix-map={folder}={place}", f"-ffile-prefix-map={folder}/{SHARED}={shared}"]
        copied = {header for header in (*headers, name) if home and (home / header).is_file()}
        shown = {f"{folder}/{h}": f"{place if h in copied else 'generated'}/{h}" for h in (*headers, name)}
        shown |= {f"{folder}/{h}": f"{shared}/{h.partition('/')[2]}" for h in headers if h.startswith(f"{SHARED}/")}
        if own:
            return Unit(output, files, f"{driver} {shlex.join(flags)} -I{folder} -c {folder}/{name} -o {{out}}", shown)
        texts = {**headers, name: source}
        lists = [f"{output}.d"]
        flags += ["-MD", "-MF", lists[0]]
        by_clang = driver != self.target.compiler
        if by_clang and has_assembly(texts):
            flags.append("-fno-integrated-as")  # clang's own lists nothing of what it reads
        if not by_clang or has_assembly(texts):
            lists.append(f"{output}.as.d")
            flags.append(f"-Wa,--MD,{lists[1]}")
        command = f"{driver} {shlex.join(flags)} -I{folder} -c {folder}/{name} -o {{out}}"
        asked = dict.fromkeys(told(path, place) for path in foreign_names(name, texts))
        refused = "\n".join([*asked, *dict.fromkeys(asks_for_files(name, texts))])
        return Unit(output, files, checked(command, lists, f"{folder}/{name}", place, tools), shown, place, refused)

    def _driver(self, name: str, own: bool) -> tuple[str, str, Toolchain]:
        """What compiles the file ``name``: a program, its version, and what it may read."""
        target = self.target
        if target.c_compiler and not own and name.endswith(".c"):
            return target.c_compiler, self.compilers, toolchain(self.sandbox, (target.c_compiler, *target.c_flags))
        return target.compiler, self.compiler, self.tools

    def _shown(self, folder: Path) -> str:
        """``kernels/chacha20`` for a folder of the repository; an absolute path for one elsewhere."""
        return str(folder.relative_to(self._root) if self._root in folder.parents else folder)

    def link(self, objects: Iterable[str], flags: Iterable[str] = ()) -> str:
        """The command that links ``objects``; ``{out}`` is where to write."""
        words = [self.target.compiler, *self.target.flags, *link_flags(self.target), *flags]
        return f"{shlex.join(words)} -o {{out}} {' '.join(objects)}"

    def make(self, units: Iterable[Unit]) -> dict[str, str]:
        """Make what is missing and return {output: what the compiler said} for those that failed. Raises ToolError."""
        by_output = {unit.output: unit for unit in units}
        discard_damaged(self.sandbox, by_output)
        refused = {output: unit.refused for output, unit in by_output.items() if unit.refused}
        todo = [by_output[output] for output in sorted(self.sandbox.missing(by_output.keys() - refused.keys()))]
        self.sandbox.write({path: data for unit in todo for path, data in unit.files.items()})
        logs = make(self.sandbox, self.folder, [Edge(unit.output, unit.command) for unit in todo])
        for output, log in logs.items():
            if any(words in log for words in _COMPILER_KILLED):
                step = "is there memory enough? Run it again, with fewer processes (-n 1)"
                raise ToolError("a compiler was killed", where=output, why=log.strip(), step=step)
        for output, log in logs.items():
            unit = by_output[output]
            text = _with_our_paths(log, unit.shown)
            refused[output] = explained(text, unit.place) if unit.place else text
        return refused

    def require(self, failures: dict[str, str]) -> None:
        """Raises BuildError when the worker's own or generated sources failed."""
        for output, log in failures.items():
            raise BuildError(f"the worker of {self.target.name} does not build", where=output, why=log)


_COMPILER_KILLED = ("Killed signal terminated program", "unable to execute command: Killed")
"""What gcc and clang say of it, which is no fault of the file that was compiled."""


def _with_our_paths(log: str, shown: dict[str, str]) -> str:
    """``log`` with the sandbox's copies called by what they are copies of."""
    for path, ours in shown.items():
        log = log.replace(path, ours)
    return log


def digest(parts: Iterable[str | bytes]) -> str:
    """SHA-256 over length-prefixed parts, so that no two lists collide by joining."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()
