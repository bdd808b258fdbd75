"""Every planted fault is caught, by the right check and with the right words, and its sound twin passes."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from matrix.plan.cell import REASONS
from matrix.run.verdict import CellResult, Failure
from matrix.sandbox.base import Sandbox
from matrix.sandbox.choose import choose_sandbox
from matrix.sandbox.docker import DockerSandbox

from ..engines import require_engine
from . import plants
from .ground import Ground
from .plants import Expectation, Plant

SANDBOXES = ("host", "docker")
SoundGround = Callable[[Plant], Ground]
"""The sources as they are, in the sandbox of the test, shared by the twins of all plants of one target."""


@pytest.fixture(scope="session", params=SANDBOXES)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """One for all plants in this process: with docker they share its containers."""
    if request.param == "docker":
        require_engine()
    made = choose_sandbox(request.param)
    yield made
    if isinstance(made, DockerSandbox):
        made.close()


@pytest.fixture(scope="session")
def sound_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources as they are."""
    root = tmp_path_factory.mktemp("sound")
    plants.copy_sources(root)
    return root


@pytest.fixture(scope="session")
def sound(sandbox: Sandbox, sound_root: Path) -> Iterator[SoundGround]:
    grounds: dict[tuple[str, str, str], Ground] = {}

    def ground(plant: Plant) -> Ground:
        key = (plant.target, plant.placements, plant.case)
        if key not in grounds:
            grounds[key] = Ground(sandbox, sound_root, *key)
        return grounds[key]

    yield ground
    for one in grounds.values():
        one.close()


@pytest.mark.parametrize("name", plants.names())
def test_planted(name: str, tmp_path: Path, sandbox: Sandbox, sound: SoundGround) -> None:
    plant = plants.load(name)
    if reason := sound(plant).lacking(plant.sound):
        pytest.skip(f"{reason}: {REASONS[reason]} ({plant.target})")
    twin = sound(plant)
    for cell in plant.sound:
        result = twin.run(cell)
        assert not result.failures, f"the sound twin fails in {cell}: {_told(result)}"
    twin.close()
    plants.apply(plant, tmp_path / "planted")
    ground = Ground(sandbox, tmp_path / "planted", plant.target, plant.placements, plant.case, plant.deadline)
    try:
        _judge(plant, ground)
        if not plant.known_gap:
            _reproduce(plant, ground, twin, tmp_path)
    finally:
        ground.close()
        twin.close()


def _judge(plant: Plant, ground: Ground) -> None:
    """Compare what became of the plant's cells with what it expects."""
    for cell in plant.failing:
        result = ground.run(cell)
        if plant.known_gap:
            text = f"{cell} catches this now: {_told(result)}; take the mark known_gap away"
            assert not result.failures, text
        else:
            assert result.failures, f"not caught in {cell}"
            _compare(cell, [row for row in plant.expect if row.cell == cell], result.failures)
    for cell in plant.passes:
        result = ground.run(cell)
        assert not result.failures, f"{cell} should not be touched by this fault: {_told(result)}"


def _compare(cell: str, expected: list[Expectation], failures: list[Failure]) -> None:
    """Every failure is one that is expected, and everything that is expected of the cell was seen."""
    unseen = list(expected)
    for failure in failures:
        differences = [_difference(row, failure) for row in expected]
        where = f"{cell}, case {failure.case or '(none)'}, placement {failure.placement or '(none)'}"
        assert "" in differences, f"{where}: {failure.kind}: {failure.summary}\n{'; '.join(differences)}"
        unseen = [row for row in unseen if _difference(row, failure)]
    assert not unseen, f"{cell}: not seen: {unseen}"


def _difference(expected: Expectation, failure: Failure) -> str:
    """How ``failure`` is not what is expected; empty when it is."""
    if failure.kind != expected.kind:
        return f"another check than {expected.kind}"
    missing = [words for words in expected.words if not re.search(words, failure.summary)]
    if missing:
        return f"no {missing[0]!r} in the summary"
    if not re.search(expected.cases, failure.case):
        return f"no case like {expected.cases!r}"
    return "" if re.search(expected.placements, failure.placement) else f"no placement like {expected.placements!r}"


def _reproduce(plant: Plant, ground: Ground, sound: Ground, folder: Path) -> None:
    """The failure file shows the fault again, and shows that the sound twin does not have it."""
    for cell in plant.failing:
        failure = ground.run(cell).failures[0]
        file = ground.record(cell, failure, folder)
        again = ground.again(file)
        assert [other.kind for other in again.failures[:1]] == [failure.kind], f"repro of {file.name}: {_told(again)}"
        if sound.has(cell):
            healed = sound.again(file)
            assert not healed.failures, f"repro of {file.name} on sound sources: {_told(healed)}"


def _told(result: CellResult) -> str:
    return (
        "; ".join(f"{failure.kind}: {failure.summary}" for failure in result.failures) or f"passed {result.runs} runs"
    )
