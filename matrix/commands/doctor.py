"""``doctor``: what this machine has and lacks, and the command that installs the rest."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from matrix.errors import ToolError
from matrix.model.catalog import Catalog, every_profile
from matrix.model.target import Profile, Target
from matrix.report.console import styled
from matrix.sandbox.choose import choose_sandbox
from matrix.sandbox.host import needed_packages, programs


@dataclass(frozen=True)
class Finding:
    """One thing looked for: what it is for, where it is ('' when missing), and the Debian package that has it."""

    name: str
    purpose: str
    found: str
    package: str = ""


def _version(program: str) -> str:
    path = shutil.which(program)
    if not path:
        return ""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"{path} ({problem})"
    return (done.stdout or done.stderr).splitlines()[0] if done.stdout or done.stderr else path


def _package_of(program: str, target: Target) -> str:
    packages = needed_packages(target)
    if program == target.qemu:
        return next((name for name in packages if "qemu" in name), "")
    return " ".join(name for name in packages if "qemu" not in name)


@dataclass(frozen=True)
class Wanted:
    """What the machine is asked to be able to do: run ``targets`` (TARGET or TARGET@PROFILE; none: all) also in
    ``profiles``, and debug failures when ``gdb`` is set."""

    targets: Sequence[str] = ()
    profiles: Sequence[str] = ()
    gdb: bool = False


def doctor(catalog: Catalog, wanted: Wanted, install_missing: bool, before_run_in: str, console: Console) -> None:
    """Look, say, and install if asked; with ``before_run_in`` (a sandbox name) speak only of what a run there lacks.

    Raises ToolError when something needed is missing in the end, SelectionError for an unknown target or profile.
    """
    rows = findings(catalog, wanted)
    if before_run_in:
        if not missing_packages(rows) or choose_sandbox(before_run_in).name != "host":
            return
        install_missing = os.environ.get("CAPMATRIX_INSTALL") == "1"
    print_findings(rows, console)
    packages = missing_packages(rows)
    if packages and install_missing:
        install(packages, console)
        rows = findings(catalog, wanted)
        packages = missing_packages(rows)
        print_findings(rows, console)
    if packages:
        command = " ".join(install_command(packages))
        step = f"`./toxw --install ...` or `capmatrix doctor --install`; by hand: {command}"
        raise ToolError("the host sandbox lacks programs", why=", ".join(packages), step=step)


def findings(catalog: Catalog, wanted: Wanted) -> list[Finding]:
    """Look for what is needed in the host sandbox, and for what is optional. Raises SelectionError."""
    rows = [Finding("python", "everything", f"{platform.python_version()} ({sys.executable})")]
    table, every = catalog.targets, every_profile(catalog).targets
    named = [every.get(name).name for name in wanted.targets] or [target.name for target in table.targets]
    plain = [table.get(name) for name in dict.fromkeys(name.partition("@")[0] for name in named)]
    for target in plain:
        for program in programs(target):
            rows.append(Finding(program, f"target {target.name}", _version(program), _package_of(program, target)))
    asked = {profile.name for profile in table.named_profiles(wanted.profiles)} | {
        name.partition("@")[2] for name in named
    }
    rows += _of_profiles(table.profiles, {target.arch for target in plain}, asked)
    rows.append(Finding("ninja", "builds", _version("ninja"), "ninja-build"))
    rows.append(Finding("docker", "sandbox docker (optional)", _version("docker") or _version("dockerd")))
    purpose = "repro --gdb" if wanted.gdb else "repro --gdb (optional)"
    rows.append(Finding("gdb-multiarch", purpose, _version("gdb-multiarch"), "gdb-multiarch" if wanted.gdb else ""))
    return rows


def _of_profiles(profiles: Iterable[Profile], archs: Collection[str], asked: Collection[str]) -> Iterator[Finding]:
    """The compilers that profiles bring: those of the profiles ``asked`` for are needed, the others are optional."""
    for profile in profiles:
        if profile.c_compiler and not set(archs).isdisjoint(profile.arch):
            needed = profile.name in asked
            purpose = f"profile {profile.name}" if needed else f"profile {profile.name} (optional)"
            packages = " ".join(profile.packages) if needed else ""
            yield Finding(profile.c_compiler, purpose, _version(profile.c_compiler), packages)


def missing_packages(rows: Iterable[Finding]) -> list[str]:
    """Debian packages of what is needed and missing, each once."""
    return list(dict.fromkeys(part for row in rows if not row.found for part in row.package.split()))


def print_findings(rows: list[Finding], console: Console) -> None:
    """The table."""
    table = Table(title="doctor", title_justify="left")
    for name in ("program", "for", "found"):
        table.add_column(name)
    for row in rows:
        optional = "optional" in row.purpose
        table.add_row(
            row.name, row.purpose, row.found or ("not found" if optional else styled(("missing", "bold red")))
        )
    console.print(table)


def install_command(packages: list[str]) -> list[str]:
    """The command that installs Debian packages, with sudo for others than root."""
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    return command if os.geteuid() == 0 else ["sudo", *command]


def install(packages: list[str], console: Console) -> None:
    """Install ``packages``, saying each command before it runs. Raises ToolError when one fails."""
    if not shutil.which("apt-get"):
        raise ToolError(
            "cannot install packages here", why="apt-get not found", step="install them by hand, or use docker"
        )
    command = install_command(packages)
    update = [*command[: command.index("apt-get") + 1], "update"]
    for argv in (update, command):
        console.print(f"+ {' '.join(argv)}", highlight=False, markup=False, soft_wrap=True)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, check=False)
        if done.returncode:
            raise ToolError(f"{argv[0]} failed", why=f"exit status {done.returncode}: {' '.join(argv)}")
