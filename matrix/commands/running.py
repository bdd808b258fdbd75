"""``run``: the conformance tests of some targets or cells, spread over the cores by pytest-xdist."""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from rich.console import Console

from matrix.commands.doctor import doctor
from matrix.errors import SelectionError
from matrix.model.catalog import every_profile, load_catalog
from matrix.model.plan import find, plan
from matrix.resources import conformance_root, data_root


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))


def pytest_arguments(what: Sequence[str], workers: int, options: Iterable[str]) -> list[str]:
    """pytest's command line for targets (names) and cells (ids with slashes). Raises SelectionError."""
    catalog = every_profile(load_catalog(data_root()))
    root = conformance_root()
    nodes: list[str] = []
    targets: list[str] = []
    for name in what:
        if "/" not in name:
            targets.append(catalog.targets.get(name).name)
            continue
        target = name.split("/")[0]
        known = any(row.name == target for row in catalog.targets.targets)
        cell = find(plan(replace(catalog, targets=catalog.targets.only([target])), None), name) if known else None
        if cell is None:
            raise SelectionError(f"there is no cell {name!r}")
        nodes.append(f"{root / f'test_{cell.kind}.py'}::test_{cell.kind}[{cell.id}]")
    if nodes and targets:
        raise SelectionError("targets and cells cannot be mixed", why="name targets, or cell ids")
    targets += [name.split("/")[0] for name in what if "/" in name]  # so that only their QEMU is probed
    arguments = [word for name in dict.fromkeys(targets) for word in ("--target", name)]
    profiles = dict.fromkeys(name.partition("@")[2] for name in targets if "@" in name)
    arguments += [word for name in profiles for word in ("--profile", name)]
    return [*(nodes or [str(root)]), *arguments, "-n", str(workers), *options]


def install_compilers(what: Sequence[str], profiles: Sequence[str], sandbox: str, console: Console) -> None:
    """With CAPMATRIX_INSTALL=1, install what the profiles of a run on the host lack; else their cells are skipped.

    Raises ToolError when that fails, SelectionError for a name that there is not.
    """
    if os.environ.get("CAPMATRIX_INSTALL") == "1":
        targets = list(dict.fromkeys(name.split("/")[0] for name in what))
        doctor(load_catalog(data_root()), targets, profiles, False, sandbox, False, console)


def run(what: Sequence[str], workers: int, options: Iterable[str]) -> int:
    """Run pytest in this process and return its exit code."""
    sys.stdout.flush()
    return int(pytest.main(["-q", *pytest_arguments(what, workers, options)]))
