"""Images: one per family of targets, named by the hash of all that goes into it, built once."""

import hashlib
import io
import os
import tarfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import Timeout

from matrix.errors import EngineError, TableError, ToolError
from matrix.model.textfile import read_text
from matrix.sandbox.base_image import BASE_NAME, make_base, our_base
from matrix.sandbox.engine import Engine, Gone
from matrix.sandbox.locks import build_lock
from matrix.sandbox.owner import LABEL, labels

FAMILY = "capmatrix.family"
"""Label of an image: its family."""
_SHARED = "shared"
_TAG_DIGITS = 16
_LOG_LINES = 30
_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "no_proxy")

Say = Callable[[str], None]


@dataclass(frozen=True)
class Recipe:
    """What an image is made from: a Dockerfile, the shared files, and the base that the Dockerfile names."""

    family: str
    files: dict[str, bytes]
    default_base: str

    def reference(self, base_id: str) -> str:
        """Name and tag of the image on the base with this id."""
        state = hashlib.sha256(base_id.encode())
        for name, data in sorted(self.files.items()):
            state.update(f"\0{name}\0{len(data)}\0".encode() + data)
        return f"capmatrix-{self.family}:{state.hexdigest()[:_TAG_DIGITS]}"

    def context(self) -> io.BytesIO:
        """The files as a tar stream for the builder."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as tar:
            for name, data in sorted(self.files.items()):
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                entry.mode = 0o644
                tar.addfile(entry, io.BytesIO(data))
        buffer.seek(0)
        return buffer


def families(images: Path) -> list[str]:
    """The families that have a Dockerfile in the folder ``images``."""
    return sorted(path.parent.name for path in images.glob("*/Dockerfile"))


def read_recipe(images: Path, family: str) -> Recipe:
    """Read a family's Dockerfile and the shared files. Raises TableError."""
    path = images / family / "Dockerfile"
    if not path.exists():
        why = f"there are {', '.join(families(images))}"
        raise TableError(f"no image {family!r}", where=f"{images / 'targets.toml'}, image; {path}", why=why)
    dockerfile = read_text(path, TableError)
    for line in dockerfile.splitlines():
        if line.startswith("ARG BASE="):
            files = sorted(file for file in (images / _SHARED).iterdir() if not file.name.startswith("."))
            shared = {f"{_SHARED}/{file.name}": read_text(file, TableError).encode() for file in files}
            base = line.removeprefix("ARG BASE=").strip()
            return Recipe(family, {"Dockerfile": dockerfile.encode()} | shared, base)
    raise TableError("a Dockerfile has no base", where=str(path), why="it needs a line `ARG BASE=<image>`")


def find_base(engine: Engine, recipe: Recipe) -> str | None:
    """Id of the base that the engine has: one made by ``images base``, else the Dockerfile's; None when neither."""
    return our_base(engine) or engine.image_id(recipe.default_base)


def ensure_image(engine: Engine, recipe: Recipe, say: Say, make_missing_base: bool = True) -> str:
    """The image's reference; it is built, and its base obtained, when the engine does not have it.

    Raises ToolError with the builder's last lines or when there is no base, EngineError.
    """
    base = find_base(engine, recipe)
    if base and engine.image_id(recipe.reference(base)):
        return recipe.reference(base)
    with _only_builder(say):
        base = find_base(engine, recipe) or _obtain_base(engine, recipe.default_base, say, make_missing_base)
        reference = recipe.reference(base)
        if not engine.image_id(reference):
            _build(engine, recipe, base, reference, say)
        return reference


@contextmanager
def _only_builder(say: Say) -> Iterator[None]:
    lock = build_lock("images")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say("waiting: another process is building images")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _obtain_base(engine: Engine, reference: str, say: Say, make_missing: bool) -> str:
    """Pull ``reference``; if that fails make a base of our own, or say how."""
    say(f"pulling {reference}")
    try:
        _follow(engine.pull(reference), say=None)
        if found := engine.image_id(reference):
            return found
        why = "the engine says it has pulled it, and does not have it"
    except (Gone, EngineError, ToolError) as problem:
        why = getattr(problem, "why", "") or str(problem)
    if not make_missing:
        step = "`capmatrix images base` makes one from this machine's package sources with mmdebstrap"
        raise ToolError(f"the base image {reference} cannot be pulled", why=why, step=step)
    say(f"{reference} cannot be pulled ({why.splitlines()[0]}); making {BASE_NAME} with mmdebstrap")
    return make_base(engine, say)


def _build(engine: Engine, recipe: Recipe, base: str, reference: str, say: Say) -> None:
    options = str(engine.facts().get("SecurityOptions"))
    proxies = {name: os.environ[name] for lower in _PROXIES for name in (lower, lower.upper()) if name in os.environ}
    say(f"building image {reference}")
    records = engine.build(
        recipe.context(),
        dockerfile="Dockerfile",
        tag=reference,
        buildargs={"BASE": base} | proxies,
        labels=labels("image") | {FAMILY: recipe.family},
        # The engine's own bridge may have no way out. With user namespaces the machine's network is not to be had.
        network_mode=None if "name=userns" in options else "host",
    )
    _follow(records, lambda text: say(f"image {recipe.family}: {text}"))


def _follow(records: Iterable[dict[str, Any]], say: Say | None) -> None:
    """Read the engine's progress records; tells the steps. Raises ToolError with the last lines on an error."""
    last: deque[str] = deque(maxlen=_LOG_LINES)
    for record in records:
        if "error" in record:
            log = "\n".join([*last, str(record["error"])])
            raise ToolError("an image cannot be made", why=log, step="`capmatrix images build` tries again")
        text = str(record.get("stream", "")).strip()
        if text:
            last.append(text)
            if say and text.startswith("Step "):
                say(text)


@dataclass(frozen=True)
class ImageState:
    """One image for a listing; ``current`` when it is what the recipe and base of now give."""

    family: str
    reference: str
    size: int
    created: int
    present: bool
    current: bool


def image_states(engine: Engine, images: Path) -> list[ImageState]:
    """Every family's image, those of older recipes that are still in the engine, and our base."""
    states: list[ImageState] = []
    wanted: dict[str, str] = {}
    for family in families(images):
        recipe = read_recipe(images, family)
        base = find_base(engine, recipe)
        wanted[family] = recipe.reference(base) if base else f"capmatrix-{family}"
    for image in engine.images(f"{LABEL}=image") + engine.images(f"{LABEL}=base"):
        family = image["Labels"].get(FAMILY, "base")
        for reference in (tag for tag in image["RepoTags"] or [] if tag.startswith("capmatrix-")):
            current = reference == wanted.get(family) or (family == "base" and image["Id"] == our_base(engine))
            states.append(ImageState(family, reference, image["Size"], image["Created"], True, current))
    present = {state.reference for state in states}
    missing = [ImageState(family, name, 0, 0, False, True) for family, name in wanted.items() if name not in present]
    return missing + states
