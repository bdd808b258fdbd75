"""A stage for each test of a guest process; no child outlives it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from matrix.worker import patience, process

from .play import Stage


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setattr(process, "_INTERRUPT_GRACE", 0.2)
    monkeypatch.setattr(patience, "_MUCH_SLOWER", 0)  # the times of these tests are no longer than a slow start
    stage = Stage(tmp_path)
    yield stage
    for guest in stage.guests:
        guest.close()
    assert stage.alive() == []
