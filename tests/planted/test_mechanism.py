"""The mechanism itself: a plant that does not fit is an error, and what is planted covers what the matrix reports."""

import typing
from pathlib import Path

import msgspec
import pytest

from matrix.run import verdict

from . import plants
from .plants import Addition, Change, Expectation, Plant, PlantError

KERNEL = "kernels/chacha20/chacha20_c.c"
KINDS = {value for name, value in vars(verdict).items() if name.isupper() and isinstance(value, str)} - {
    verdict.PASSED,
    verdict.FAILED,
    verdict.SKIPPED,
}
"""Every kind of failure that the matrix reports."""
NOT_PLANTED: set[str] = set()
"""Fault classes that no kernel here can have."""


def _plant(change: list[Change], add: list[Addition] | None = None) -> Plant:
    row = Expectation("arm32-noneon/hard/none/chacha20-c", verdict.CRASH, [])
    return Plant("a plant", "A", "nobody#0", "arm32-noneon", [row], change, add or [])


def test_a_change_is_made(tmp_path: Path) -> None:
    plants.apply(_plant([Change(KERNEL, "BLOCK = 64", "BLOCK = 63")]), tmp_path / "root")
    planted = (tmp_path / "root" / KERNEL).read_text(encoding="utf-8")
    assert planted == (plants.REPOSITORY / KERNEL).read_text(encoding="utf-8").replace("BLOCK = 64", "BLOCK = 63")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Change(KERNEL, "text that nobody wrote", ""), "found 0 times, not 1"),
        (Change(KERNEL, "x0 + state[0]", "", count=2), "found 1 times, not 2"),
        (Change(KERNEL, "", "more"), "not 1: ''"),
        (Change("kernels/chacha20/chacha20_gone.c", "a", "b"), "does not exist any more"),
    ],
)
def test_a_plant_that_does_not_fit_is_refused(tmp_path: Path, change: Change, words: str) -> None:
    with pytest.raises(PlantError, match=words):
        plants.apply(_plant([change]), tmp_path / "root")


def test_an_added_file_must_be_new(tmp_path: Path) -> None:
    with pytest.raises(PlantError, match="exists already"):
        plants.apply(_plant([], [Addition(KERNEL, "")]), tmp_path / "root")


def test_every_plant_can_be_read_and_applied(tmp_path: Path) -> None:
    """Without running it: a kernel that moved away from its plants is seen at once."""
    for number, name in enumerate(plants.names()):
        plants.apply(plants.load(name), tmp_path / str(number))


def test_every_field_is_known() -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.toml.decode(b'title = "a"\nclas = "A"', type=Plant)


def test_titles_are_distinct() -> None:
    titles = [plants.load(name).title for name in plants.names()]
    assert len(titles) == len(set(titles))


def test_every_kind_of_failure_is_planted() -> None:
    """Each verdict has at least one plant that only it can answer; a kind that is added wants one too."""
    caught = [plants.load(name) for name in plants.names()]
    assert {row.kind for plant in caught if not plant.known_gap for row in plant.expect} == KINDS


def test_every_class_is_planted() -> None:
    classes = set(typing.get_args(plants.FaultClass))
    assert classes - {plants.load(name).fault_class for name in plants.names()} <= NOT_PLANTED


def test_known_gaps_are_few() -> None:
    """They count against us."""
    gaps = [name for name in plants.names() if plants.load(name).known_gap]
    assert len(gaps) <= len(plants.names()) / 10, gaps
