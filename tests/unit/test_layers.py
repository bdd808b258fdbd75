"""The layers: who may import whom, and how long a module may be. Imports are read from the source, not run."""

import ast
from functools import cache
from itertools import pairwise
from pathlib import Path

import matrix
from matrix.checks import all_checks

PACKAGE = Path(matrix.__file__).parent
STAGES = ("plan", "sandbox", "build", "worker", "oracles", "cases", "run", "report")
"""From left to right; a stage imports itself, the stages to its left, and what all may import."""
CHECKS = "checks"
"""Kinds of cells: they stand beside ``run``, which runs a cell through its check; each of the two imports the other."""
FOR_ALL = frozenset({"model", "errors", "invocation", "plain", "resources", "__version__"})
GLUE = frozenset({"__main__", "command_line", "commands", "environment"}) | frozenset(
    {"options", "plugin", "reporter", "scheduling", "stopping"}
)
"""What sees everything; nothing but glue imports it."""
LONGEST = 400

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "data" not in path.relative_to(PACKAGE).parts[:1])


def _unit(path: Path) -> str:
    """The stage or top-level module that a file is in: ``run`` for run/judge.py, ``errors`` for errors.py."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else path.stem


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _imports(path: Path) -> set[str]:
    """The units of ours that a file imports anywhere in it, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the layers"
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("matrix.")}
    return found


def _name(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def test_every_folder_and_module_has_a_place_in_the_layers() -> None:
    others = {"model", "errors", "invocation", "plain", "resources", "__init__"}
    assert {_unit(path) for path in MODULES} == {*STAGES, CHECKS, *GLUE, *others}


def test_imports_are_found_in_every_form(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(
        "import matrix.run.judge\nfrom matrix import __version__, report\ndef f():\n  from matrix.a.b import c\n"
    )
    assert _imports(path) == {"run", "__version__", "report", "a"}


def _allowed(unit: str) -> set[str]:
    """The units that a module of ``unit`` may import."""
    if unit in ("invocation", "plain", "resources", "__init__"):
        return set()
    if unit == "errors":
        return {"plain"}
    if unit == "model":
        return {"model", "errors", "plain"}
    last = STAGES.index("run" if unit == CHECKS else unit)
    seen = {*FOR_ALL, *STAGES[: last + 1]}
    return seen | {CHECKS} if "run" in seen else seen


def test_a_module_imports_only_what_its_layer_may_see() -> None:
    below = [path for path in MODULES if _unit(path) not in GLUE]
    assert len(below) > 50
    wrong = {_name(path): more for path in below if (more := _imports(path) - _allowed(_unit(path)))}
    assert wrong == {}


def test_a_file_is_short() -> None:
    files = [*MODULES, *Path(__file__).parents[1].rglob("*.py")]
    assert [str(path) for path in files if len(path.read_text(encoding="utf-8").splitlines()) >= LONGEST] == []


def test_a_module_says_what_it_is() -> None:
    assert [_name(path) for path in MODULES if not ast.get_docstring(_tree(path))] == []


def test_every_stage_stands_on_the_one_before_or_on_the_model() -> None:
    """Otherwise the order above would be arbitrary: each stage but the first is imported by one to its right."""
    seen = {unit: {_unit(path) for path in MODULES if unit in _imports(path)} for unit in STAGES}
    for stage, following in pairwise(STAGES):
        right = {*STAGES[STAGES.index(following) :], *GLUE}
        assert seen[stage] & right, stage


def _compared_with(path: Path) -> set[str]:
    """The texts that a file compares something called ``kind`` with."""
    found: set[str] = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Compare):
            sides = [one for side in (node.left, *node.comparators) for one in ast.walk(side)]
            names = {one.attr for one in sides if isinstance(one, ast.Attribute)}
            names |= {one.id for one in sides if isinstance(one, ast.Name)}
            if "kind" in names:
                found |= {one.value for one in sides if isinstance(one, ast.Constant) and isinstance(one.value, str)}
    return found


def test_nothing_outside_the_checks_asks_which_kind_a_cell_is(tmp_path: Path) -> None:
    """A new kind would have to be added there too."""
    kinds = {check.name for check in all_checks()}
    wrong = {_name(path) for path in MODULES if _unit(path) != CHECKS and _compared_with(path) & kinds}
    assert wrong == set()
    planted = tmp_path / "planted.py"
    planted.write_text('if cell.kind in ("dispatch", "trap") or "mask" == kind:\n    pass\n', encoding="utf-8")
    assert _compared_with(planted) == {"dispatch", "trap", "mask"}
