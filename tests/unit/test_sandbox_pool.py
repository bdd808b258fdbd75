"""Containers are made when needed and again when lost."""

from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest

from matrix.errors import EngineError
from matrix.sandbox import pool as pool_module
from matrix.sandbox.engine import Gone
from matrix.sandbox.pool import Pool


@dataclass
class Made:
    """What was made and closed in the place of containers."""

    ids: Any = field(default_factory=lambda: count(1))
    open: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    record = Made()

    class Stub:
        def __init__(self, engine: object, image: str, kind: str, family: str) -> None:
            self.id = f"{kind}-{family}-{next(record.ids)}"
            record.open.append(self.id)
            record.images.append(image)

        def close(self) -> None:
            record.open.remove(self.id)

    monkeypatch.setattr(pool_module, "Container", Stub)
    return record


@pytest.fixture
def pool(made: Made) -> Pool:
    return Pool(None, lambda family: f"image-{family}")  # type: ignore[arg-type]  # the stub asks no engine


def test_one_container_per_kind_and_family(pool: Pool, made: Made) -> None:
    assert pool.use("build", "arm", str) == "build-arm-1"
    assert pool.use("build", "arm", str) == "build-arm-1"
    assert pool.use("worker", "arm", str) == "worker-arm-2"
    assert pool.use("build", "x86", str) == "build-x86-3"
    assert made.images == ["image-arm", "image-arm", "image-x86"]
    pool.close()
    assert not made.open


def test_a_lost_container_is_replaced(pool: Pool, made: Made) -> None:
    def action(container: str) -> str:
        if container.endswith("1"):
            raise Gone("killed")
        return container

    assert pool.use("worker", "arm", action) == "worker-arm-2"
    assert made.open == ["worker-arm-2"]


def test_containers_that_never_stay_are_an_error(pool: Pool, made: Made) -> None:
    def action(container: str) -> str:
        raise Gone("out of memory")

    with pytest.raises(EngineError, match="out of memory"):
        pool.use("worker", "arm", action)
    assert not made.open
