"""The command line: what is wrong ends in one message and its exit code; list and explain need no tools."""

import io
import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from matrix import __version__
from matrix.__main__ import main
from matrix.checks import every_cell
from matrix.command_line import cli
from matrix.commands.listing import explain
from matrix.commands.running import pytest_arguments
from matrix.errors import SelectionError
from matrix.model.catalog import Catalog, every_profile
from matrix.options import OPTIONS
from matrix.plan.cell import Cell
from matrix.plan.selection import FILTERS, Selection
from matrix.report.console import make_console
from matrix.run.cell_ids import cell_named
from matrix.run.session import Settings
from matrix.run.state import controller_state


@dataclass
class Ended:
    """How a command ended: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


class Terminal:
    """Runs commands in this process as the console script does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def run(self, *arguments: str) -> Ended:
        self._monkeypatch.setattr(sys, "argv", ["capmatrix", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
        said = self._capsys.readouterr()
        code = caught.value.code
        return Ended(code if isinstance(code, int) else 0 if code is None else 1, said.out, said.err)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(monkeypatch, capsys)


def test_list_names_every_cell_and_says_that_nothing_was_probed(terminal: Terminal, catalog: Catalog) -> None:
    ended = terminal.run("list")
    assert ended.code == 0
    lines = [line.split("  skip ")[0] for line in ended.out.splitlines()]
    assert {cell.id for cell in every_cell(catalog, None)} <= set(lines)
    assert "not probed" in ended.out
    assert "skipped*" in ended.out
    assert "* skips that only --probe finds are not counted" in lines


def test_list_of_one_target_has_that_target_only(terminal: Terminal, catalog: Catalog) -> None:
    ended = terminal.run("list", "arm32-noneon")
    wanted = [cell.id for cell in every_cell(catalog, None) if cell.target == "arm32-noneon"]
    assert [line for line in ended.out.splitlines() if "/" in line] == wanted
    assert f"{len(wanted)} cells" in ended.out


def test_list_as_json_has_lattices_masks_and_decisions(terminal: Terminal, catalog: Catalog) -> None:
    ended = terminal.run("list", "--json")
    assert ended.code == 0
    said = json.loads(ended.out)
    assert said["probed"] is False
    assert [target["name"] for target in said["targets"]] == [target.name for target in catalog.targets.targets]
    for target in said["targets"]:
        row = target["providers"]["kernels"]
        assert row["mask_count"] == len(row["masks"]) >= 1
        assert row["masks"][0] == "none"
        named = {name for variant in row["variants"].values() for name in variant["requires"]}
        assert set(row["lattice"]) == named
    assert [cell["id"] for cell in said["cells"]] == [cell.id for cell in every_cell(catalog, None)]
    assert {cell["decision"] for cell in said["cells"]} <= {"run", "skip"}
    assert all(bool(cell["reason"]) == (cell["decision"] == "skip") for cell in said["cells"])


def test_a_noasm_target_has_exactly_the_mask_none(terminal: Terminal) -> None:
    said = json.loads(terminal.run("list", "--json").out)
    noasm = [target for target in said["targets"] if target["name"].endswith("-noasm")]
    assert noasm
    assert [target["providers"]["kernels"]["masks"] for target in noasm] == [["none"]] * len(noasm)


def test_list_and_explain_say_which_variants_have_no_trap_cell(terminal: Terminal) -> None:
    lines = terminal.run("list", "aarch64").out.splitlines()
    listed = [line for line in lines if line.startswith("no trap cells for ")]
    assert len(listed) == 1
    assert re.match(r"no trap cells for (\S+ ){3}and \d+ more \(`explain` says it of each\): ", listed[0])
    assert listed[0].endswith("no capability is required, so there is no CPU to trap on")
    said = json.loads(terminal.run("list", "aarch64", "--json").out)["targets"][0]["providers"]["kernels"]["variants"]
    assert said["chacha20-neon"]["no_trap"] == ""
    assert said["chacha20-c"]["no_trap"]
    explained = terminal.run("explain", "arm32-noneon/hard/none/chacha20-armv7").out
    assert "trap cell  no capability is required" in explained


def test_explain_says_how_a_cell_is_run(terminal: Terminal) -> None:
    ended = terminal.run("explain", "arm32-noneon/hard/none/chacha20-armv7")
    assert ended.code == 0
    assert "qemu-arm -cpu cortex-a9,neon=off" in ended.out
    assert "capmatrix run arm32-noneon/hard/none/chacha20-armv7" in ended.out


def _small_targets_last(catalog: Catalog) -> list[Cell]:
    """All cells; of two that will do, the later one is in the plan that is sooner made."""
    cells = every_cell(catalog, None)
    sizes = Counter(cell.target for cell in cells)
    return sorted(cells, key=lambda cell: -sizes[cell.target])


def test_every_kind_of_cell_can_be_explained() -> None:
    state = controller_state(Selection(), Settings(), "host", {}, collect_only=True)
    kinds = {(cell.kind, cell.enforcement, bool(cell.reason)): cell.id for cell in state.cells}
    for cell_id in kinds.values():
        out = io.StringIO()
        explain(state, cell_id, make_console(out))
        assert f"run it     capmatrix run {cell_id}" in out.getvalue()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["explain", "x86_64/hard/none/chacha21"], 21, "there is no cell 'x86_64/hard/none/chacha21'"),
        (["explain", "nonsense"], 21, "an id is target/enforcement/mask/subject"),
        (["list", "x86-65"], 21, "unknown target 'x86-65'"),
        (["run", "x86-65"], 21, "unknown target 'x86-65'"),
        (["run", "x86_64/hard/none/chacha21"], 21, "there is no cell"),
        (["run", "x86_64", "x86_64/hard/none/dispatch"], 21, "cannot be mixed"),
        (["doctor", "x86-65"], 21, "unknown target 'x86-65'"),
        (["repro", "/nonexistent/failure.json"], 128 + 15, "/nonexistent/failure.json"),
        (["nonsense"], 2, "No such command"),
        (["run", "-n", "-1"], 2, "Invalid value"),
        (["run", "--variatn", "c"], 2, "No such option '--variatn'"),
        (["run", "--variatn", "c"], 2, "'--variant'"),
        (["run", "--lf"], 2, "--pytest=--maxfail=1"),
        (["run", "x86_64/hard/none/dispatch", "--mask", "none"], 21, "--mask goes with targets"),
        (["run", "x86_64/hard/none/dispatch", "--shard", "1/2"], 21, "--shard goes with targets"),
        (["run", "x86_64/hard/none/dispatch", "--profile", "Os"], 21, "--profile goes with targets"),
        (["run", "x86_65"], 21, "did you mean 'x86_64'?"),
        (["list", "--sandbox", "cloud"], 21, "unknown sandbox 'cloud'"),
        (["repro", "x.json", "--sandbox", "podman"], 128 + 21, "unknown sandbox 'podman'"),
        (["list", "--algorithm", "chacha"], 21, "did you mean 'chacha20'?"),
        (["run", "arm32-noneon", "-k", "chacha20-amrv7"], 21, "did you mean chacha20-armv7?"),
        (["run", "x86_64", "-k", "trap and dispatch"], 21, "-k matches no cell"),
        (["repro"], 128 + 2, "Missing argument"),
    ],
)
def test_what_is_wrong_is_one_message_without_a_traceback(
    terminal: Terminal, arguments: list[str], code: int, words: str
) -> None:
    ended = terminal.run(*arguments)
    assert ended.code == code
    assert words in ended.err
    assert ended.out == ""
    assert "Traceback" not in ended.err
    assert ended.err.startswith("error: ")
    assert "  next: " in ended.err


def test_an_unknown_id_is_answered_with_what_is_near(terminal: Terminal) -> None:
    for command in ("explain", "run"):
        said = terminal.run(command, "x86_64/hard/none/chacha21").err
        assert "no subject 'chacha21' in x86_64/hard/none; did you mean chacha20 " in said


@pytest.mark.parametrize(
    ("cell_id", "words"),
    [
        ("x86-64/hard/none/chacha20", "no target 'x86-64'; did you mean x86_64"),
        ("x86_64/hrad/none/chacha20", "no enforcement 'hrad' in x86_64; did you mean hard?"),
        ("x86_64/hard/ssse/chacha20", "no mask 'ssse' in x86_64/hard; did you mean ssse3"),
        ("x86_64/hard/avx2+ssse3/dispatch", "no mask 'avx2+ssse3' in x86_64/hard; did you mean ssse3+avx2?"),
        ("x86_64/hard/none/zzz", "no subject 'zzz' in x86_64/hard/none; there are dispatch, "),
        ("x86_64@O4/hard/none/chacha20", "no target 'x86_64@O4'; did you mean x86_64@Os or x86_64@O3"),
    ],
)
def test_the_first_wrong_part_of_an_id_is_named(catalog: Catalog, cell_id: str, words: str) -> None:
    with pytest.raises(SelectionError) as caught:
        cell_named(every_profile(catalog), cell_id)
    assert words in caught.value.why


def test_what_is_not_probed_is_planned_not_promised(terminal: Terminal) -> None:
    said = terminal.run("explain", "arm32-noneon/hard/none/chacha20-armv7").out
    assert "decision   planned; not probed" in said
    assert "--probe" in said


def test_a_cell_of_a_profile_can_be_explained(terminal: Terminal) -> None:
    ended = terminal.run("explain", "arm32-noneon@Os/hard/none/chacha20-armv7")
    assert ended.code == 0
    assert "compiled with -Os" in ended.out


def test_the_filters_of_run_are_the_plugins() -> None:
    """What `run` hands on, pytest knows; `--pytest` is no option of pytest's."""
    run = cli.commands["run"]
    names = {word for parameter in run.params for word in parameter.opts if word.startswith("--")}
    assert {f"--{name}" for name in FILTERS} < names
    assert names - {"--pytest"} == {f"--{name}" for name in OPTIONS if name != "target"}, "targets are arguments"


def test_every_command_has_help_and_every_option_is_explained() -> None:
    runner = CliRunner()
    assert set(cli.commands) >= {"list", "explain", "run", "repro", "doctor"}
    for name, command in cli.commands.items():
        done = runner.invoke(cli, [name, "--help"])
        assert done.exit_code == 0
        assert command.help, name
        for parameter in command.params:
            record = parameter.to_info_dict()
            assert record["param_type_name"] == "argument" or record["help"], f"{name} {parameter.name}"


def test_the_runner_sees_our_errors_unchanged() -> None:
    done = CliRunner().invoke(cli, ["explain", "nonsense"])
    assert isinstance(done.exception, SelectionError)


def test_the_version(terminal: Terminal) -> None:
    assert __version__ in terminal.run("--version").out


def test_the_module_runs_as_a_program() -> None:
    command = [sys.executable, "-m", "matrix", "explain", "nonsense"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 21
    assert done.stdout == ""
    assert done.stderr.startswith("error: there is no cell 'nonsense'")


def test_the_arguments_for_pytest(catalog: Catalog) -> None:
    targets = pytest_arguments(["x86_64", "arm32-noneon"], 2, ["--seed", "3"])
    assert targets[1:5] == ["--capmatrix-target", "x86_64", "--capmatrix-target", "arm32-noneon"]
    assert targets[5:] == ["-n", "2", "--seed", "3"]
    assert Path(targets[0]).is_dir()
    one = pytest_arguments(["x86_64/hard/none/chacha20-ssse3"], 1, [])
    assert one[0].endswith("test_cells.py::test_cell[x86_64/hard/none/chacha20-ssse3]")
    assert pytest_arguments([], 4, []) == [targets[0], "-n", "4"]
    for cell_id in {cell.kind: cell.id for cell in _small_targets_last(catalog)}.values():
        node = pytest_arguments([cell_id], 1, [])[0]
        assert Path(node.split("::")[0]).is_file()


@pytest.mark.parametrize(
    ("raised", "code", "words"),
    [
        (KeyError("a bug"), 3, "Traceback (most recent call last)"),
        (KeyError("a bug"), 3, "please report"),
        (KeyboardInterrupt(), 2, "interrupted"),
        (SelectionError("ours"), 21, "error: ours"),
    ],
)
@pytest.mark.parametrize("command", ["list", "repro"])
def test_what_ends_a_command_has_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, terminal: Terminal, command: str, raised: BaseException, code: int, words: str
) -> None:
    """Those of ``repro`` begin at 128: 1 to 124 would be a bad commit for ``git bisect run``."""

    def broken(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr("matrix.command_line.controller_state", broken)
    monkeypatch.setattr("matrix.commands.reproduce.read_failure", broken)
    ended = terminal.run(*([command, "file.json"] if command == "repro" else [command]))
    assert ended.code == code + (128 if command == "repro" else 0)
    assert words in ended.err
