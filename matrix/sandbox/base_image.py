"""The base image without a registry: mmdebstrap makes it from this machine's own package sources."""

import platform
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from matrix.errors import ToolError
from matrix.sandbox.engine import Engine
from matrix.sandbox.owner import LABEL

BASE_NAME = "capmatrix-base"
_APT = Path("/etc/apt")
_COMPONENT = "main"
_PASSED_ON = re.compile(r"Acquire::(\S*Proxy\S*|Check-\S+) ")
"""apt settings without which the sources may not be reachable or not be accepted."""
_LEFT_OUT = ("doc", "info", "locale", "man")


def our_base(engine: Engine) -> str | None:
    """Id of the newest base that ``make_base`` made and the engine has, or None."""
    # A build on it that failed leaves an image without a name that has inherited its label.
    named = (
        image
        for image in engine.images(f"{LABEL}=base")
        if any(tag.startswith(f"{BASE_NAME}:") for tag in image["RepoTags"] or [])
    )
    return next((str(image["Id"]) for image in named), None)


def make_base(engine: Engine, say: Callable[[str], None]) -> str:
    """Make a base of this machine's distribution and import it. Returns its id; says the command that it runs.

    Raises ToolError when mmdebstrap is missing or fails, or the engine is of another architecture than this machine.
    """
    _check_architecture(engine)
    if not shutil.which("mmdebstrap"):
        step = "apt-get install --no-install-recommends mmdebstrap"
        raise ToolError("the base image cannot be made here", why="mmdebstrap not found", step=step)
    suite = _suite()
    with tempfile.TemporaryDirectory(prefix="capmatrix-base-") as scratch:
        sources = [Path(scratch) / f"capmatrix{suffix}" for suffix in (".sources", ".list")]
        for path, text in zip(sources, read_sources(_APT, suite), strict=True):
            path.write_text(text, encoding="utf-8")
        sources = [path for path in sources if path.stat().st_size]
        if not sources:
            raise ToolError("the base image cannot be made here", why=f"{_APT} has no package source for {suite}")
        tar = Path(scratch) / "base.tar"
        _run(_command(suite, tar, sources), say)
        reference = f"{BASE_NAME}:{suite}"
        say(f"importing {reference}")
        engine.import_image(str(tar), reference, [f"LABEL {LABEL}=base", 'CMD ["sh"]'])
    made = engine.image_id(reference)
    if made is None:
        raise ToolError(f"{reference} was imported and is not there", why="the engine does not list it")
    return made


def read_sources(apt: Path, suite: str) -> tuple[str, str]:
    """The package sources of the distribution itself, as (deb822 text, one-line text); other vendors' are left out."""
    suites = {suite, f"{suite}-updates", f"{suite}-security"}
    stanzas, lines = [], []
    for path in sorted((apt / "sources.list.d").glob("*.sources")):
        for stanza in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")):
            fields = _fields(stanza)
            enabled = fields.get("enabled", "yes").lower() not in ("no", "false", "0")
            if enabled and "deb" in fields.get("types", "").split() and _ours(fields, suites):
                stanzas.append(stanza.strip())
    for path in [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*.list"))]:
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                found = re.match(r"deb\s+(?:\[[^]]*\]\s+)?\S+\s+(?P<suites>\S+)\s+(?P<components>.+)", line.strip())
                if found and _ours(found.groupdict(), suites):
                    lines.append(line.strip())
    return "".join(f"{stanza}\n\n" for stanza in stanzas), "".join(f"{line}\n" for line in lines)


def _ours(fields: dict[str, str], suites: set[str]) -> bool:
    named = fields.get("suites", "").split()
    return bool(named) and set(named) <= suites and _COMPONENT in fields.get("components", "").split()


def _fields(stanza: str) -> dict[str, str]:
    """The fields of a deb822 stanza by lower-case name; continuation lines are joined, comments dropped."""
    fields: dict[str, str] = {}
    last = ""
    for line in stanza.splitlines():
        if line.startswith("#"):
            continue
        if line[:1].isspace():
            fields[last] = f"{fields.get(last, '')} {line.strip()}"
        elif ":" in line:
            last, _, value = line.partition(":")
            last = last.lower()
            fields[last] = value.strip()
    return fields


def _suite() -> str:
    try:
        return platform.freedesktop_os_release()["VERSION_CODENAME"]
    except (OSError, KeyError):
        why = "/etc/os-release names no release of Debian or a derivative"
        raise ToolError("the base image cannot be made here", why=why) from None


def _check_architecture(engine: Engine) -> None:
    names = {"amd64": "x86_64", "arm64": "aarch64"}
    theirs = str(engine.facts().get("Architecture"))
    theirs = names.get(theirs, theirs)
    ours = names.get(platform.machine(), platform.machine())
    if theirs != ours:
        step = "make it on a machine like the engine's: DOCKER_HOST reaches the engine from there too"
        raise ToolError(
            "the base image cannot be made here", why=f"the engine is {theirs}, this machine {ours}", step=step
        )


def _command(suite: str, tar: Path, sources: list[Path]) -> list[str]:
    command = ["mmdebstrap", "--variant=apt"]
    if any("https:" in path.read_text(encoding="utf-8") for path in sources):
        command.append("--include=ca-certificates")
    command += [f"--aptopt={line}" for line in _apt_settings()]
    command += [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in _LEFT_OUT]
    return [*command, suite, str(tar), *map(str, sources)]


def _apt_settings() -> Iterator[str]:
    done = subprocess.run(["apt-config", "dump"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return (line for line in done.stdout.splitlines() if _PASSED_ON.match(line))


def _run(command: list[str], say: Callable[[str], None]) -> None:
    say(f"+ {shlex.join(command)}")
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    last: list[str] = []
    with process:
        assert process.stderr
        for line in process.stderr:
            last = [*last[-20:], line.rstrip()]
            if line.startswith("I: "):
                say(f"base: {line[3:].rstrip()}")
    if process.returncode:
        raise ToolError("mmdebstrap failed", why="\n".join(last), step="the lines above are its own")
