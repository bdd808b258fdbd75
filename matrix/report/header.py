"""The first line of a journal: what a run was asked for, and what it was made with."""

import secrets
import sys
import time
from collections.abc import Iterable
from typing import Any

from matrix import __version__
from matrix.build.toolchain import kernel_flags, worker_flags
from matrix.plan.cell import Cell
from matrix.run.provenance import tree_state
from matrix.run.state import RunState

FORMAT = 1
"""Version of the journal's lines."""


def run_header(state: RunState, arguments: Iterable[str], run_id: str = "") -> dict[str, Any]:
    """The fields of the line; ``arguments`` are those of the command line, ``run_id`` is how who has started the run
    knows the journal for that of his run ('': nobody asks). ``state`` has a sandbox and abilities."""
    assert state.sandbox
    assert state.abilities
    settings = state.settings
    return {
        "format": FORMAT,
        "run_id": run_id or secrets.token_hex(8),
        "capmatrix": __version__,
        **tree_state(state.catalog.root).as_json(),
        "shard": state.wanted.shard,
        "sandbox": state.sandbox.name,
        "seed": settings.seed,
        "exhaustive": settings.exhaustive,
        "placements": settings.placements,
        "python": sys.version.split()[0],
        "started": time.time(),
        "qemu": dict(state.abilities.versions),
        "arguments": list(arguments),
        "targets": _targets(state),
    }


def _targets(state: RunState) -> dict[str, Any]:
    """Of each target how its worker is compiled, and with which flags each variant that runs by name."""
    by_target: dict[str, list[Cell]] = {}
    for cell in state.selected:
        if not cell.reason:
            by_target.setdefault(cell.target, []).append(cell)
    return {name: _target(state, name, cells) for name, cells in by_target.items()}


def _target(state: RunState, name: str, cells: Iterable[Cell]) -> dict[str, Any]:
    row = state.catalog.targets.get(name)
    table = state.catalog.capabilities[row.arch]
    kernels = {}
    for cell in cells:
        for variant in state.catalog.provider(cell.provider).variants if cell.variant else ():
            if (variant.algorithm, variant.name) == (cell.algorithm, cell.variant) and row.arch in variant.arch:
                kernels[cell.subject] = kernel_flags(row, table, variant)
    compilers = [row.c_compiler, row.compiler] if row.c_compiler else [row.compiler]
    return {"compilers": compilers, "flags": worker_flags(row), "kernels": kernels}
