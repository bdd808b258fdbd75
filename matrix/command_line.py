"""The command line: ``capmatrix COMMAND``; each command is declared here and done in matrix/commands/."""

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from matrix import __version__
from matrix.commands import bench, images, listing, objects, reproduce, running
from matrix.commands import doctor as doctor_command
from matrix.commands.deselection import require_expression
from matrix.environment import allow_enough_files, check_environment
from matrix.errors import BUG, INTERRUPTED, MatrixError, SelectionError
from matrix.invocation import SCRIPT
from matrix.model.catalog import every_profile, load_catalog
from matrix.model.near import known_names
from matrix.model.target import EVERY_PROFILE
from matrix.options import PREFIX
from matrix.plain import plain
from matrix.plan.selection import CPU_HELP, FILTERS, Selection
from matrix.report.console import make_console
from matrix.report.costs import load_costs
from matrix.report.journal import journal_path
from matrix.resources import data_root, other_checkout
from matrix.run.cell_ids import cell_named
from matrix.run.repro import BAD, CANNOT_TELL, GOOD
from matrix.run.session import Settings
from matrix.run.state import RunState, controller_state
from matrix.sandbox.choose import NAMES as SANDBOXES
from matrix.sandbox.choose import choose_sandbox


def _one_of(*names: str) -> Callable[[click.Context, click.Parameter, str], str]:
    """A callback that takes only these names of sandboxes, and refuses others with the code that the variable has."""

    def known(_context: click.Context, _option: click.Parameter, name: str) -> str:
        if name not in names:
            raise SelectionError(f"unknown sandbox {name!r}", why=known_names(name, names), step="`--sandbox` chooses")
        return name

    return known


_SAME = "same"
_SANDBOX_OPTION: dict[str, Any] = {
    "callback": _one_of(*SANDBOXES),
    "metavar": f"[{'|'.join(SANDBOXES)}]",
    "default": "auto",
    "envvar": "CAPMATRIX_SANDBOX",
    "show_default": True,
}


Filters = Mapping[str, tuple[str, ...]]
"""What the options of FILTERS were given."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="capmatrix")
def cli() -> None:
    """Conformance test matrix for hand-optimised crypto kernels: every variant at every capability mask, under QEMU."""
    check_environment()


def _state(targets: tuple[str, ...], probe: bool, sandbox: str, filters: Filters | None = None) -> RunState:
    profiles = tuple(dict.fromkeys(name.partition("@")[2] for name in targets if "@" in name))
    wanted = Selection(targets, profiles=profiles, **_plural(filters or {}))
    return controller_state(wanted, Settings(), sandbox, load_costs(), collect_only=not probe)


def _plural(filters: Filters) -> dict[str, Any]:
    """The fields of a Selection that the options of FILTERS fill."""
    return {f"{name}s": given for name, given in filters.items()}


def _with_filters(command: Callable[..., None]) -> Callable[..., None]:
    """Declare the options that select cells, as pytest has them."""
    for name, text in reversed(FILTERS.items()):
        text = f"{text[0].upper()}{text[1:]}; repeatable."
        command = click.option(f"--{name}", name, multiple=True, metavar="NAME", help=text)(command)
    return command


@cli.command("list")
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--json", "as_json", is_flag=True, help="Print the lattices and the plan as JSON.")
@click.option("--probe", is_flag=True, help="Try what this QEMU can do, so that skips are known.")
@click.option("--sandbox", **_SANDBOX_OPTION, help="Where to probe.")
@_with_filters
def list_command(
    targets: tuple[str, ...], as_json: bool, probe: bool, sandbox: str, **filters: tuple[str, ...]
) -> None:
    """Print targets, masks and cells of the plan."""
    state = _state(targets, probe, sandbox, filters)
    if as_json:
        click.echo(json.dumps(listing.plan_as_json(state), indent=1))
    else:
        listing.print_plan(state, make_console())


@cli.command("objects")
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
@click.option("--sandbox", **_SANDBOX_OPTION, help="Where to build.")
def objects_command(targets: tuple[str, ...], as_json: bool, sandbox: str) -> None:
    """Print what each function that a variant exports uses, and whether it has unwind information and a landing pad."""
    catalog = every_profile(load_catalog(data_root()))
    wanted = targets or tuple(target.name for target in load_catalog(data_root()).targets.targets)
    rows = objects.object_rows(choose_sandbox(sandbox), catalog, wanted)
    if as_json:
        click.echo(json.dumps(rows, indent=1))
    else:
        objects.print_objects(rows, make_console())


@cli.command("explain")
@click.argument("cell_id", metavar="ID")
@click.option("--probe", is_flag=True, help="Try what this QEMU can do, so that a skip is explained.")
@click.option("--sandbox", **_SANDBOX_OPTION, help="Where to probe.")
def explain_command(cell_id: str, probe: bool, sandbox: str) -> None:
    """Say in words what the cell ID is, how it is run and why."""
    cell = cell_named(every_profile(load_catalog(data_root())), cell_id)
    listing.explain(_state((cell.target,), probe, sandbox), cell_id, make_console())


class _RunCommand(click.Command):
    """``run``, which says where pytest's own options go."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's, with a longer message for an option that there is not."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as problem:
            text = f"{problem.format_message()} An option of pytest's own goes behind --pytest: `--pytest=--maxfail=1`."
            raise click.UsageError(text, ctx) from None


@cli.command("run", cls=_RunCommand)
@click.argument("what", nargs=-1, metavar="[TARGET|ID]...")
@click.option("-n", "workers", type=click.IntRange(min=0), default=None, help="Processes (default: one per core).")
@click.option("--pytest", "more", multiple=True, metavar="OPTION", help="Pass OPTION on to pytest; repeatable.")
@click.option("--sandbox", **_SANDBOX_OPTION, help="Where to build and run.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the random cases.")
@click.option("--exhaustive", is_flag=True, help="Run the full corpus everywhere.")
@click.option(
    "--placements",
    type=click.Choice(["quick", "full"]),
    default="quick",
    show_default=True,
    help="quick: two for every case; full: all, with offsets, in place, cut into pieces.",
)
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    metavar="NAME",
    help="Build and run the targets this way too (`all`: every way); repeatable.",
)
@click.option("--shard", default="", metavar="I/N", help="Run part I of N.")
@_with_filters
@click.option("--cpu", default="", metavar="STRING", help=f"{CPU_HELP[0].upper()}{CPU_HELP[1:]}.")
@click.option("-k", "keyword", default="", metavar="EXPRESSION", help="Run cells whose ids match, as pytest's -k.")
@click.option("-x", "stop", is_flag=True, help="Stop at the first failed cell.")
@click.option(
    "--journal", default="", metavar="FILE", help="Where the journal goes, if not to .capmatrix/; folders are made."
)
def run_command(  # noqa: PLR0913 - click hands over one argument per option
    what: tuple[str, ...],
    workers: int | None,
    more: tuple[str, ...],
    sandbox: str,
    seed: int,
    exhaustive: bool,
    placements: str,
    profiles: tuple[str, ...],
    shard: str,
    cpu: str,
    keyword: str,
    stop: bool,
    journal: str,
    **filters: tuple[str, ...],
) -> None:
    """Run the conformance tests of targets (default: all) or of single cells."""
    allow_enough_files()
    options = [f"{PREFIX}sandbox", sandbox, f"{PREFIX}seed", str(seed), f"{PREFIX}placements", placements, *more]
    options += [word for word, wanted in ((f"{PREFIX}exhaustive", exhaustive), ("-x", stop)) if wanted]
    if any(word.startswith(("--journal", f"{PREFIX}journal")) for word in more):
        raise click.UsageError("The journal is an option of `run` itself: --journal FILE, not behind --pytest.")
    chosen = [(name, value) for name, value in (("shard", shard), ("cpu", cpu)) if value]
    chosen += [(name, value) for name, values in filters.items() for value in values]
    named = [f"--{name}" for name, _ in chosen] + (["-k"] if keyword else [])
    if any("/" in name for name in what):
        if profiles:
            step = "write TARGET@PROFILE/..."
            raise SelectionError("--profile goes with targets", why="a cell id names its own", step=step)
        if named:
            step = f"leave out {named[0]}, or name the target alone"
            raise SelectionError(f"{named[0]} goes with targets", why="a cell id names one cell", step=step)
    chosen += [("profile", name) for name in profiles]
    options += [f"{PREFIX}{name}={value}" for name, value in chosen]
    require_expression(keyword, Selection(what, cpu=cpu, **_plural(filters)))
    options += [f"-k{keyword}"] if keyword else []
    built = profiles or ((EVERY_PROFILE,) if exhaustive else ())
    path = journal_path(Path.cwd(), journal, shard)
    running.install_compilers(what, built, sandbox, make_console())
    sys.exit(running.run(what, running.cores() if workers is None else workers, options, path))


@cli.command("repro")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option(
    "--sandbox",
    callback=_one_of(_SAME, *SANDBOXES),
    metavar=f"[{'|'.join((_SAME, *SANDBOXES))}]",
    default=_SAME,
    show_default=True,
    help="Where to run; `same` is the sandbox that the failure was seen in.",
)
@click.option("--native", is_flag=True, help="Run on this machine's own CPU instead of QEMU (x86 targets).")
@click.option("--gdb", is_flag=True, help="Stop in the failing kernel, in gdb, with the failing input in memory.")
@click.option(
    "--gdb-command", "commands", multiple=True, metavar="COMMAND", help="Carry out there and end; repeatable."
)
def repro_command(file: Path, sandbox: str, native: bool, gdb: bool, commands: tuple[str, ...]) -> None:
    """Run a recorded failure again: exits with 0 when it is gone, 1 when it is there, 125 when it cannot be told."""
    allow_enough_files()
    options = reproduce.Options(sandbox, native, gdb or bool(commands), commands)
    sys.exit(reproduce.reproduce(file, options, make_console()))


@cli.group("images")
def images_group() -> None:
    """The container images of the docker sandbox; a run makes what is missing by itself."""


@images_group.command("base")
def images_base_command() -> None:
    """Make the base image with mmdebstrap, where no image registry is reachable."""
    images.base(make_console())


@images_group.command("build")
@click.argument("names", nargs=-1, metavar="[IMAGE]...")
def images_build_command(names: tuple[str, ...]) -> None:
    """Build what is missing of the images (default: all)."""
    images.build(data_root() / "images", names, make_console())


@images_group.command("list")
def images_list_command() -> None:
    """List the images: what there is, what is missing, what is left of older recipes."""
    images.show(data_root() / "images", make_console())


@cli.group("bench")
def bench_group() -> None:
    """Measure; never a pass or a fail."""


@bench_group.command("harness")
@click.argument("target", metavar="TARGET")
@click.option("--sandbox", **_SANDBOX_OPTION, help="Where to run; the replay is always on this machine.")
def bench_harness_command(target: str, sandbox: str) -> None:
    """Wall time of a run of TARGET in one process over bare replay of the very same frames."""
    bench.bench_harness(_state((target,), True, sandbox), make_console())


@cli.command("doctor")
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--install", is_flag=True, help="Install what is missing with apt-get, saying each command.")
@click.option(
    "--before-run",
    is_flag=True,
    help="Say nothing when the sandbox has all it needs; install only when CAPMATRIX_INSTALL=1 is set.",
)
@click.option("--sandbox", **_SANDBOX_OPTION, help="The sandbox that --before-run speaks of.")
@click.option("--gdb", is_flag=True, help="gdb-multiarch is needed too.")
@click.option("--profile", "profiles", multiple=True, metavar="NAME", help="The profile's compiler is needed too.")
def doctor_cli(
    targets: tuple[str, ...], install: bool, before_run: bool, sandbox: str, gdb: bool, profiles: tuple[str, ...]
) -> None:
    """Look for the compilers, QEMU and other programs that the targets need on this machine."""
    before_run_in = sandbox if before_run else ""
    wanted = doctor_command.Wanted(targets, profiles, gdb)
    doctor_command.doctor(load_catalog(data_root()), wanted, install, before_run_in, make_console())


def main() -> None:
    """Entry point: what is wrong outside our code ends in one message and its own exit code, never in a traceback."""
    _warn_of_another_checkout()
    code = _status()
    if sys.argv[1:2] == ["repro"] and code not in (GOOD, BAD, CANNOT_TELL):
        code += reproduce.STOP
    sys.exit(code)


def _warn_of_another_checkout() -> None:
    """Say so where somebody stands in one checkout, or git worktree, and runs the kernels of another."""
    try:
        other = other_checkout(Path.cwd())
    except OSError:  # the folder is gone
        return
    if other:
        click.echo(
            f"note: you are in the checkout {plain(str(other))}, but this program runs the kernels of {data_root()}: "
            "an environment belongs to one checkout",
            err=True,
        )


def _status() -> int:
    """The exit code of the command that was given."""
    try:
        code = int(cli(standalone_mode=False, prog_name=SCRIPT) or 0)
        sys.stdout.flush()
        return code
    except SystemExit as end:
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        return 128 + signal.SIGPIPE  # rich has met it and silenced the stream
    except BrokenPipeError:
        # Who read the output (`| head`) has enough. The buffer must not be written again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except MatrixError as problem:
        click.echo(f"error: {problem}", err=True)
        return problem.exit_code
    except click.Abort:
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except click.ClickException as problem:
        context = getattr(problem, "ctx", None)
        usage = f"\n  next: `{context.command_path} --help` says how it is used" if context else ""
        click.echo(f"error: {problem.format_message()}{usage}", err=True)
        return problem.exit_code
    except Exception:
        traceback.print_exc()
        click.echo("this is a bug in the matrix: please report what it printed", err=True)
        return BUG
