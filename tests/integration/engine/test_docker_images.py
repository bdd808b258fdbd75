"""Images are built once, by content, and say what to do when they cannot be."""

import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from matrix.commands import images as commands
from matrix.errors import SelectionError, ToolError
from matrix.sandbox import image as image_module
from matrix.sandbox.engine import Engine
from matrix.sandbox.image import ensure_image, find_base, image_states, read_recipe

from ..support import environment
from .ground import IMAGES

FAMILY = "test-image"
DOCKERFILE = "ARG BASE=localhost:1/none\nFROM ${BASE}\nCOPY shared/mark /\n"


@pytest.fixture
def own(engine: Any) -> Iterator[Engine]:
    made = Engine()
    ensure_image(made, read_recipe(IMAGES, "arm"), print)
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path, engine: Any, cache: Path) -> Iterator[Path]:
    """An images folder with one tiny family, whose images are removed after the test."""
    (tmp_path / "images" / FAMILY).mkdir(parents=True)
    (tmp_path / "images" / "shared").mkdir()
    (tmp_path / "images" / "shared" / "mark").write_text(str(tmp_path))
    dockerfile = (IMAGES / "arm" / "Dockerfile").read_text()
    base = next(line for line in dockerfile.splitlines() if line.startswith("ARG BASE="))
    (tmp_path / "images" / FAMILY / "Dockerfile").write_text(f"{base}\nFROM ${{BASE}}\nCOPY shared/mark /\n")
    yield tmp_path / "images"
    for image in engine.images.list(name=f"capmatrix-{FAMILY}"):
        engine.images.remove(image.id, force=True)
    engine.images.prune(filters={"dangling": True, "label": "capmatrix=base"})  # layers of builds that had to fail


def test_a_changed_recipe_is_another_image(own: Engine, folder: Path) -> None:
    told: list[str] = []
    first = ensure_image(own, read_recipe(folder, FAMILY), told.append)
    assert f"building image {first}" in told
    assert any("Step 3/" in text for text in told), "progress is told"
    told.clear()
    assert ensure_image(own, read_recipe(folder, FAMILY), told.append) == first
    assert not told
    (folder / "shared" / "mark").write_text("other")
    second = ensure_image(own, read_recipe(folder, FAMILY), told.append)
    assert second != first
    states = {state.reference: state for state in image_states(own, folder)}
    assert (states[first].present, states[first].current) == (True, False)
    assert (states[second].present, states[second].current) == (True, True)


def test_the_builders_failure_is_shown(own: Engine, folder: Path) -> None:
    with (folder / FAMILY / "Dockerfile").open("a") as file:
        file.write("RUN echo what went wrong; exit 3\n")
    with pytest.raises(ToolError, match="what went wrong") as caught:
        ensure_image(own, read_recipe(folder, FAMILY), print)
    assert "returned a non-zero code: 3" in caught.value.why


def test_a_base_that_cannot_be_pulled_says_how_to_make_one(
    own: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_module, "our_base", lambda engine: None)
    (folder / FAMILY / "Dockerfile").write_text(DOCKERFILE)
    with pytest.raises(ToolError, match="localhost:1/none cannot be pulled") as caught:
        ensure_image(own, read_recipe(folder, FAMILY), print, make_missing_base=False)
    assert "images base" in caught.value.step
    made: list[str] = []

    def make_base(engine: Engine, say: object) -> str:
        made.append("base")
        base = find_base(own, read_recipe(IMAGES, "arm"))
        assert base
        return base

    monkeypatch.undo()
    base_of_all = find_base(own, read_recipe(IMAGES, "arm"))
    monkeypatch.setattr(image_module, "our_base", lambda engine: base_of_all if made else None)
    monkeypatch.setattr(image_module, "make_base", make_base)
    monkeypatch.setenv("CAPMATRIX_CACHE", str(folder / "cache"))
    told: list[str] = []
    assert ensure_image(own, read_recipe(folder, FAMILY), told.append)
    assert made == ["base"]
    assert any("with mmdebstrap" in text for text in told)


BUILD = """
    import sys
    from pathlib import Path
    from matrix.sandbox.engine import Engine
    from matrix.sandbox.image import ensure_image, read_recipe

    print(ensure_image(Engine(), read_recipe(Path(sys.argv[1]), sys.argv[2]), print))
"""


def test_two_processes_build_once(own: Engine, folder: Path) -> None:
    with (folder / FAMILY / "Dockerfile").open("a") as file:
        file.write("RUN sleep 1\n")
    command = [sys.executable, "-c", textwrap.dedent(BUILD), str(folder), FAMILY]
    both = [subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=120)[0].splitlines() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert said[0][-1] == said[1][-1]
    assert sum(line.startswith("building image") for lines in said for line in lines) == 1


def test_the_images_are_small_and_listed(own: Engine, cache: Path) -> None:
    states = [state for state in image_states(own, IMAGES) if state.current]
    assert {state.family for state in states} >= {"arm", "x86"}
    assert all(state.size < 400e6 for state in states if state.family != "clang"), "every run of a target needs these"
    console = Console(width=200, record=True, quiet=False)
    commands.show(IMAGES, console)
    assert "capmatrix-arm:" in console.export_text()
    with pytest.raises(SelectionError, match="there are arm, clang, sanitize, x86"):
        commands.build(IMAGES, ["sparc"], console)


def test_the_base_needs_mmdebstrap(own: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ToolError, match="mmdebstrap not found") as caught:
        commands.base(Console(quiet=True))
    assert "apt-get install" in caught.value.step
