"""A stage for each test of a guest process; no child outlives it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from matrix.worker import process

from .play import Stage


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setattr(process, "_INTERRUPT_GRACE", 0.1)
    stage = Stage(tmp_path)
    yield stage
    for guest in stage.guests:
        guest.close()
    assert stage.alive() == []
