"""Failure files: ``failures/<cell id>[/<case>].json``, everything that is needed to see the failure again."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from matrix import __version__
from matrix.cases.case import Case
from matrix.errors import storing
from matrix.model.plan import Cell
from matrix.run.repro import FORMAT
from matrix.run.verdict import Failure

FOLDER = Path("failures")
"""Below the folder where the run was started."""


_STEP = "free space, or start the run in a folder that can be written"


def forget_failures(root: Path, cell: Cell) -> None:
    """Delete the failure files of ``cell`` below ``root``: it runs again, and what lies there must be current."""
    folder = root / FOLDER / cell.id
    with storing("failures/", folder, _STEP):
        for path in folder.glob("*.json"):
            path.unlink(missing_ok=True)
        top = root / FOLDER
        for empty in (folder, *(parent for parent in folder.parents if top in (parent, *parent.parents))):
            with suppress(OSError):  # not empty, or not there
                empty.rmdir()


def repro_command(file: str) -> str:
    """The command that runs ``file`` (relative to this folder) again, for the shell and folder the run was started in.

    ``python`` is named by its path where the shell's own would be another one, as it is for a run under tox.
    """
    start = Path(os.environ.get("CAPMATRIX_STARTED_IN") or Path.cwd())
    python = "python"
    found = shutil.which("python")
    if "TOX_ENV_DIR" in os.environ or found is None or Path(found).parent != Path(sys.executable).parent:
        python = sys.executable
        if start in Path(python).parents:
            python = os.path.relpath(python, start)
    return shlex.join([python, "-m", "matrix", "repro", os.path.relpath(file, start)])


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
        "cell": {**asdict(cell), "mask": str(cell.mask), "id": cell.id},
        "failure": failure.as_json(),
        "settings": settings,
        "facts": {**facts, "capmatrix": __version__, "commit": _commit()},
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


def _commit() -> str:
    """The commit of the sources, '' outside a git checkout or before its first commit."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def write_failure(root: Path, cell: Cell, failure: Failure, record: dict[str, Any]) -> Path:
    """Write the file below ``root`` and return its path relative to it. Raises StoreError."""
    relative = failure_path(cell, failure)
    path = root / relative
    with storing("a failure file", path, _STEP):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return relative
