"""The main job: 32-bit ARM built and run without NEON, by two xdist workers."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from matrix.plan.selection import Selection
from matrix.run.session import Settings
from matrix.run.state import controller_state

from . import support

NEON_BIT = 12
"""HWCAP_NEON (Linux arch/arm/include/uapi/asm/hwcap.h)."""


@pytest.fixture(scope="module")
def main_job(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[dict[str, Any]]]:
    """Output and journal of the run, as a user starts it."""
    folder = tmp_path_factory.mktemp("main")
    status, output = support.python(folder, "-m", "matrix", "run", support.MAIN_TARGET, "-n", "2", "--sandbox", "host")
    assert status == 0, output
    return output, support.journal(folder)


def test_the_ledger_is_the_last_word(main_job: tuple[str, list[dict[str, Any]]]) -> None:
    output, rows = main_job
    ledger = support.check_balance(rows)
    assert ledger["passed"] > 0
    assert ledger["failed"] == 0
    said = re.findall(r"^ledger: planned (\d+) = (\d+) passed \+ (\d+) failed \+ (\d+) skipped", output, re.MULTILINE)
    assert said == [tuple(str(ledger[name]) for name in ("planned", "passed", "failed", "skipped"))]
    assert ledger["notes"] == []


def test_every_cell_that_passed_ran_cases(main_job: tuple[str, list[dict[str, Any]]]) -> None:
    _, rows = main_job
    passed = [row for row in support.lines(rows, "cell") if row["verdict"] == "passed"]
    assert passed
    for row in passed:
        assert row["runs"] >= row["cases"] > 0, row["id"]
        assert row["entered"], row["id"]
        assert row["facts"]["build_id"]
        assert row["facts"]["compiler"]


def test_no_cell_saw_neon(main_job: tuple[str, list[dict[str, Any]]]) -> None:
    _, rows = main_job
    for row in support.lines(rows, "cell"):
        assert "neon" not in row["detected"], row["id"]
        assert not [name for name in row["entered"] if name.endswith(".neon")], row["id"]


def test_nodes_and_guests_have_not_doubled(main_job: tuple[str, list[dict[str, Any]]]) -> None:
    output, rows = main_job
    ledger = support.check_balance(rows)
    known = tomllib.loads((Path(__file__).parent / "baseline.toml").read_text(encoding="utf-8"))
    for name, now in (("nodes", ledger["planned"]), ("guests", ledger["guests"])):
        assert known[name] / 2 < now < known[name] * 2, f"{now} {name}, {known[name]} in baseline.toml"
    assert f"nodes {ledger['planned']}, guests {ledger['guests']}, " in output


def test_hello_shows_no_neon() -> None:
    """The guest's own first frame: neither the kernel's word nor what was made of it has NEON. A CPU with NEON shows
    that the worker would have seen it."""
    state = controller_state(Selection(targets=(support.MAIN_TARGET,)), Settings(), "host", {}, collect_only=False)
    without = next(cell for cell in state.selected if cell.enforcement == "hard")
    session = state.session()
    try:
        hello = session.guest(without).hello
        assert hello.arch == "arm32"
        assert not hello.raw[0] >> NEON_BIT & 1
        assert "neon" not in hello.detected_names
        assert "neon" in hello.capabilities
        richer = session.guest(replace(without, cpu="cortex-a9")).hello
        assert richer.raw[0] >> NEON_BIT & 1
        assert richer.detected_names == {"neon"}
    finally:
        session.close()
