"""The docker sandbox: compilers and guests in hardened containers of any engine, files in a volume of that engine."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from matrix.errors import EngineError, ToolError
from matrix.model.target import Target
from matrix.sandbox.base import SLOW, Completed
from matrix.sandbox.command import Command
from matrix.sandbox.container import BUILD, WORKER
from matrix.sandbox.docker_channel import DockerChannel
from matrix.sandbox.engine import Engine
from matrix.sandbox.files import RECEIVE, pack, unpack
from matrix.sandbox.image import ensure_image, read_recipe
from matrix.sandbox.owner import remove_leftovers
from matrix.sandbox.pool import Pool

_RUN = """
cd -- "$1" || exit 125
limit=$2
shift 2
exec timeout -k 5 "$limit" "$@" </dev/null
"""
_READ = '[ -f "$1" ] || exit 44\nexec cat -- "$1"'
_ABSENT = 44
_READ_ALL = 'while read -r path && [ -n "$path" ]; do set -- "$@" "$path"; done\nexec tar -cf - -- "$@"'
_MISSING = 'while read -r path && [ -n "$path" ]; do [ -e "$path" ] || printf "%s\\n" "$path"; done'
_FILE_SECONDS = 120
_IMAGES = "`capmatrix images list` shows the images; `images build` makes what is missing"
_GRACE = 30
"""Seconds that the engine may add to a command's own."""


class DockerSandbox:
    """See Sandbox. One image per family of targets; all families share one volume, mounted as the root."""

    name = "docker"

    def __init__(self, images: Path, say: Callable[[str], None], engine: Engine | None = None) -> None:
        """``images`` holds the Dockerfiles; ``say`` is told what takes long. Raises EngineError."""
        self._images = images
        self._say = say
        self._engine = engine or Engine()
        self._family_of: dict[str, str] = {}
        self._latest = ""
        self._pool = Pool(self._engine, self._image)
        remove_leftovers(self._engine)

    def close(self) -> None:
        """Remove this process's containers; the volume stays. Also done when the process ends."""
        self._pool.close()
        self._engine.close()

    def ready_for(self, target: Target) -> None:
        """See Sandbox. Makes the target's image when the engine does not have it."""
        if target.image not in self._family_of.values():
            self._image(target.image)
        self._family_of[target.name] = target.image
        if target.c_compiler:
            self._family_of[target.c_compiler] = target.image
        for name in (target.compiler, target.qemu):
            # A profile's image has them too; where the plain target's is in use, guests stay in that smaller one.
            if not target.c_compiler or name not in self._family_of:
                self._family_of[name] = target.image
        self._latest = target.image

    def write(self, files: Mapping[str, bytes]) -> None:
        """See Sandbox."""
        if files:
            status, _, err = self._call(self._any_family(), RECEIVE, [], pack(files), _FILE_SECONDS)
            if status:
                raise ToolError(
                    "files cannot be written in the build container",
                    why=err.decode("utf-8", "replace").strip(),
                    step="`docker system df` shows what fills the engine's disk; or choose `--sandbox host`",
                )

    def read(self, path: str) -> bytes:
        """See Sandbox."""
        status, out, err = self._call(self._any_family(), _READ, [path], b"", _FILE_SECONDS)
        if status == _ABSENT:
            raise FileNotFoundError(path)
        if status:
            raise ToolError(f"{path} cannot be read in the build container", why=err.decode("utf-8", "replace").strip())
        return out

    def read_all(self, paths: Iterable[str]) -> dict[str, bytes]:
        """See Sandbox."""
        wanted = list(paths)
        if not wanted:
            return {}
        names = "\n".join([*wanted, "", ""]).encode()
        status, out, err = self._call(self._any_family(), _READ_ALL, [], names, _FILE_SECONDS)
        files = {} if status else unpack(out)
        if status and not self.missing(wanted):
            why = err.decode("utf-8", "replace").strip()
            raise ToolError("files cannot be read in the build container", why=why)
        if absent := set(wanted) - files.keys():
            raise FileNotFoundError(min(self.missing(wanted) or absent))
        return files

    def missing(self, paths: Iterable[str]) -> set[str]:
        """See Sandbox."""
        wanted = list(paths)
        if not wanted:
            return set()
        _, out, _ = self._call(self._any_family(), _MISSING, [], "\n".join([*wanted, "", ""]).encode(), _FILE_SECONDS)
        return set(out.decode().splitlines())

    def run(self, argv: Sequence[str], folder: str = ".", seconds: float = 600) -> Completed:
        """See Sandbox. The container is that of the target, compiler or emulator that ``argv`` names."""
        started = time.monotonic()
        status, out, err = self._call(self._named_family(argv), _RUN, [folder, f"{seconds:g}", *argv], b"", seconds)
        errors = err.decode("utf-8", "replace")
        if status in (126, 127) and errors.startswith("timeout: "):
            raise ToolError(f"cannot start {argv[0]}", why=errors.strip(), step=_IMAGES)
        if status in (124, -9) and time.monotonic() - started >= seconds:
            raise ToolError(f"{argv[0]} did not end", why=f"no end after {seconds:g} s: {' '.join(argv)}", step=SLOW)
        return Completed(status, out.decode("utf-8", "replace"), errors)

    def spawn(self, argv: Sequence[str], bounded: bool = True) -> DockerChannel:
        """See Sandbox."""

        def start(container: str) -> DockerChannel:
            return DockerChannel(self._engine, container, argv, bounded)

        return self._pool.use(WORKER, self._named_family(argv), start)

    def _image(self, family: str) -> str:
        return ensure_image(self._engine, read_recipe(self._images, family), self._say)

    def _any_family(self) -> str:
        """The family for work on files: every image can do it, and the latest target's container is needed anyway."""
        if not self._latest:
            raise ToolError(
                "no target was prepared", why="the docker sandbox has no image yet", step="call ready_for first"
            )
        return self._latest

    def _named_family(self, argv: Sequence[str]) -> str:
        """The family of a command: it names a prepared target, compiler or emulator, alone or in a path.

        A target's name is part of its profiles' names: the longest is meant.
        """
        for word in argv:
            named = [name for name in self._family_of if name in word]
            if named:
                return self._family_of[max(named, key=len)]
        return self._any_family()

    def _call(
        self, family: str, script: str, arguments: Sequence[str], data: bytes, seconds: float
    ) -> tuple[int, bytes, bytes]:
        """(status, stdout, stderr) of a script in the build container; it is run again if the container goes away."""
        action = partial(self._call_in, script=script, arguments=arguments, data=data, seconds=seconds)
        return self._pool.use(BUILD, family, action)

    def _call_in(
        self, container: str, script: str, arguments: Sequence[str], data: bytes, seconds: float
    ) -> tuple[int, bytes, bytes]:
        command = Command(self._engine, container, script, arguments)
        try:
            if not command.communicate(data, seconds + _GRACE):
                command.require_container()
                raise EngineError(
                    "the container engine does not deliver", why=f"no end of {arguments} after {seconds:.0f} s"
                )
            status = command.status(_GRACE)
            if status is None:
                raise EngineError("the container engine lost a command", why=f"no exit status of {arguments}")
            return status, bytes(command.out), bytes(command.err)
        finally:
            command.close()
