"""Fixtures of the tests with a real engine."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from matrix.model.catalog import Catalog, load_catalog
from matrix.resources import data_root
from matrix.sandbox.docker import DockerSandbox
from matrix.sandbox.engine import Engine
from matrix.sandbox.image import ensure_image, read_recipe

from ...engines import lacking, require_engine
from ..support import empty_cache
from .ground import IMAGES, SecondEngine, connect, drop_volume


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    """The repository's own catalog."""
    return load_catalog(data_root())


@pytest.fixture(scope="session")
def engine() -> Any:
    """The engine, by the SDK; fails or skips without one."""
    require_engine()
    client = connect()
    yield client
    client.close()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Any) -> Iterator[Path]:
    """A cache folder, and thus a volume, of one test alone."""
    folder = empty_cache(tmp_path / "cache")
    monkeypatch.setenv("CAPMATRIX_CACHE", str(folder))
    yield folder
    drop_volume(engine)


@pytest.fixture
def sandbox(cache: Path) -> Iterator[DockerSandbox]:
    """A docker sandbox of one test alone."""
    made = DockerSandbox(IMAGES, print)
    yield made
    made.close()


@pytest.fixture(scope="module")
def second_engine(engine: Any) -> Iterator[SecondEngine]:
    """A second engine that runs and has the ARM image."""
    if os.geteuid() != 0 or not shutil.which("dockerd"):
        lacking("a second engine needs root and dockerd")
    # The socket's path must be short: the system allows about 100 characters.
    second = SecondEngine(Path("/tmp") / f"capmatrix-{os.getpid()}")
    second.start()
    try:
        own = Engine()
        second.take_images(engine, ensure_image(own, read_recipe(IMAGES, "arm"), print))
        own.close()
        yield second
    finally:
        second.remove()


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory, engine: Any) -> Iterator[Path]:
    """A cache folder for tests that need a worker: the first of them builds."""
    folder = empty_cache(tmp_path_factory.mktemp("shared") / "cache")
    yield folder
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CAPMATRIX_CACHE", str(folder))
        drop_volume(engine)


@pytest.fixture
def warm_sandbox(shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DockerSandbox]:
    """A docker sandbox that finds what earlier tests have built."""
    monkeypatch.setenv("CAPMATRIX_CACHE", str(shared_cache))
    made = DockerSandbox(IMAGES, print)
    yield made
    made.close()
