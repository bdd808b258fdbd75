"""The host sandbox: qemu-user and cross compilers that are installed on this machine."""

import os
import platform
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import ninja

from matrix.errors import ToolError, storing
from matrix.model.target import Target
from matrix.sandbox.base import SLOW, Completed
from matrix.sandbox.host_channel import HostChannel


def tool_environment() -> dict[str, str]:
    """The whole environment of compilers and ninja: of the user's own only where tools are and where temporary files
    go. CPATH, LIBRARY_PATH, GCC_EXEC_PREFIX, LD_PRELOAD and the like would make another worker of the same sources."""
    own = os.environ.get("PATH", os.defpath).split(os.pathsep)
    folders = [ninja.BIN_DIR, *(folder for folder in own if os.path.isabs(folder))]
    scratch = os.environ.get("TMPDIR", "")
    kept = {"TMPDIR": scratch} if scratch.split() == [scratch] else {}  # with spaces, lists of files cannot be read
    return {"PATH": os.pathsep.join(folders), "LC_ALL": "C", **kept}


def needed_packages(target: Target) -> list[str]:
    """The Debian packages that the host sandbox needs for ``target`` on this machine."""
    native = platform.machine() == target.arch
    return list(target.native_packages if native and target.native_packages else target.packages)


def programs(target: Target) -> list[str]:
    """The programs that a target needs: compilers and QEMU."""
    return [name for name in (target.compiler, target.c_compiler, target.qemu) if name]


class HostSandbox:
    """Commands and guests of this machine; files below one folder of the user's cache."""

    name = "host"

    def __init__(self, root: Path) -> None:
        """Raises StoreError when the folder cannot be made."""
        self.root = root
        with storing("the cache", root):
            root.mkdir(parents=True, exist_ok=True)

    def write(self, files: Mapping[str, bytes]) -> None:
        """See Sandbox."""
        for name, data in files.items():
            path = self.root / name
            scratch = path.with_name(f"{path.name}.{os.getpid()}.tmp")
            with storing("the cache", path):
                path.parent.mkdir(parents=True, exist_ok=True)
                scratch.write_bytes(data)
                scratch.replace(path)

    def read(self, path: str) -> bytes:
        """See Sandbox."""
        return (self.root / path).read_bytes()

    def read_all(self, paths: Iterable[str]) -> dict[str, bytes]:
        """See Sandbox."""
        return {path: self.read(path) for path in paths}

    def missing(self, paths: Iterable[str]) -> set[str]:
        """See Sandbox."""
        return {path for path in paths if not (self.root / path).exists()}

    def run(self, argv: Sequence[str], folder: str = ".", seconds: float = 600) -> Completed:
        """See Sandbox."""
        try:
            done = subprocess.run(
                argv,
                env=tool_environment(),
                cwd=self.root / folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except OSError as problem:
            raise ToolError(f"cannot start {argv[0]}", why=str(problem)) from None
        except subprocess.TimeoutExpired:
            raise ToolError(
                f"{argv[0]} did not end", why=f"no end after {seconds:g} s: {' '.join(argv)}", step=SLOW
            ) from None
        return Completed(
            done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        )

    def spawn(self, argv: Sequence[str], bounded: bool = True) -> HostChannel:
        """See Sandbox."""
        return HostChannel(argv, self.root, bounded)

    def ready_for(self, target: Target) -> None:
        """See Sandbox."""
        lacking = [program for program in (target.compiler, target.qemu) if not shutil.which(program)]
        if lacking:
            plain = target.name.partition("@")[0]
            step = (
                f"run `./toxw --install -e {plain}` or `capmatrix doctor --install {target.name}`; "
                f"by hand: apt-get install --no-install-recommends {' '.join(needed_packages(target))}"
            )
            raise ToolError(
                f"target {target.name} cannot be built and run here", why=f"{', '.join(lacking)} not found", step=step
            )
