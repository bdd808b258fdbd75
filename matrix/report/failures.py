"""Failure files: ``failures/<cell id>/<case>.json``, everything that is needed to see the failure again."""

import json
import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from matrix import __version__
from matrix.cases.case import Case
from matrix.errors import StoreError
from matrix.invocation import command_words
from matrix.plan.cell import Cell
from matrix.report.causes import also_words, by_cause
from matrix.report.owned import forget, write
from matrix.run.provenance import tree_state
from matrix.run.repro import FORMAT
from matrix.run.session import Session
from matrix.run.verdict import CellResult, Failure

FOLDER = Path("failures")
"""Below the folder where the run was started."""
_MOST_ERRORS = 10
"""Errors of one file that the summary of a run shows."""
_BEGIN = f'{{\n "format": {FORMAT},\n "cell": {{'
"""How a failure file begins, by which it is known as one."""


def forget_failures(root: Path, cell: Cell) -> None:
    """Delete the failure files of ``cell`` below ``root``: it runs again, and what lies there must be current.

    Nothing else goes: neither a file that is no failure file, nor what a link names, nor a folder, in which another
    process may be about to write. Raises StoreError.
    """
    forget(root, FOLDER / cell.id, _BEGIN)


def forget_empty_folders(root: Path) -> None:
    """Delete the folders for failure files below ``root`` that hold nothing, once no process of the run is left."""
    with suppress(OSError):  # there are none
        for _, folders, _, place in os.fwalk(root / FOLDER, topdown=False, follow_symlinks=False):
            for name in folders:
                with suppress(OSError):  # not empty, or a link
                    os.rmdir(name, dir_fd=place)
        (root / FOLDER).rmdir()


def repro_command(file: str) -> str:
    """The command that runs ``file`` (relative to this folder) again, for the shell and folder the run was started in.

    The program is named by its path where the shell's own would be another one, as it is for a run under tox.
    """
    start = Path(os.environ.get("CAPMATRIX_STARTED_IN") or Path.cwd())
    words = command_words(start, here="TOX_ENV_DIR" not in os.environ)
    return shlex.join([*words, "repro", os.path.relpath(file, start)])


def failure_path(cell: Cell, failure: Failure) -> Path:
    """Where the file of a failure lies, relative to the folder of the run."""
    name = f"{cell.id}/{failure.case}-{failure.placement}" if failure.case else f"{cell.id}/cell"
    return FOLDER / f"{name}.json"


def encode_inputs(values: dict[str, bytes | int]) -> dict[str, str | int]:
    """Bytes as hex, integers as they are."""
    return {name: value.hex() if isinstance(value, bytes) else value for name, value in values.items()}


def failure_record(
    cell: Cell, failure: Failure, case: Case | None, facts: dict[str, Any], settings: dict[str, Any]
) -> dict[str, Any]:
    """The content of a failure file."""
    record: dict[str, Any] = {
        "format": FORMAT,
        "cell": cell.recorded(),
        "failure": failure.as_json(),
        "settings": settings,
        "facts": {**facts, "capmatrix": __version__},
    }
    if case:
        expected = None if case.expected is None else encode_inputs(dict(case.expected))
        record["case"] = {
            "name": case.name,
            "algorithm": case.algorithm,
            "operation": case.operation,
            "origin": case.origin,
            "inputs": encode_inputs(case.inputs),
            "expected": expected,
            "total": case.total,
            "number": case.number,
            "chain": asdict(case.chain) if case.chain else None,
        }
    return record


def write_failure(root: Path, cell: Cell, failure: Failure, record: dict[str, Any]) -> Path:
    """Write the file below ``root`` and return its path relative to it. Raises StoreError."""
    relative = failure_path(cell, failure)
    write(root, relative, json.dumps(record, indent=1) + "\n", _BEGIN)
    return relative


def keep_failures(root: Path, session: Session, cell: Cell, result: CellResult) -> dict[str, Any]:
    """Write a file below ``root`` for each failure of ``result``; return its JSON form, with the files' paths and with
    the failures of one cause as one."""
    told = result.as_json()
    tree = tree_state(session.catalog.root).as_json() if result.failures else {}
    for failure, row in zip(result.failures, told["failures"], strict=True):
        facts = {**result.facts, **tree, "sandbox": session.sandbox.name, "detected": result.detected}
        facts["sources"] = session.sources(cell)
        record = failure_record(cell, failure, failure.input, facts, session.settings.recorded())
        try:
            row["file"] = str(write_failure(root, cell, failure, record))
        except StoreError as problem:
            row["summary"] += f" ({problem.what}: {problem.why})"
    told["failures"] = by_cause(told["failures"])
    return told


def failure_lines(row: dict[str, Any]) -> Iterator[str]:
    """What is said of a failure, in its JSON form: the kind and the summary, what else is wrong with a file that does
    not build, how to see it again, and where else."""
    yield f"{row['kind']}: {row['summary']}"
    errors = row.get("details", {}).get("errors", [])
    yield from (f"  {line}" for line in errors[1:_MOST_ERRORS])
    if len(errors) > _MOST_ERRORS:
        yield f"  and {len(errors) - _MOST_ERRORS} more errors, which the command below prints"
    if "file" in row:
        yield repro_command(row["file"])
    if words := also_words(row):
        yield words
