"""``images base|build|list``: the container images, made and shown by hand."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from matrix.errors import SelectionError
from matrix.model.near import known_names
from matrix.report.console import styled
from matrix.sandbox.base_image import make_base
from matrix.sandbox.engine import Engine
from matrix.sandbox.image import Say, ensure_image, families, image_states, read_recipe


def base(console: Console) -> None:
    """Make the base image with mmdebstrap from this machine's package sources. Raises ToolError, EngineError."""
    with _progress(console, "base") as say:
        made = make_base(Engine(), say)
    console.print(f"base {made}; `capmatrix images build` builds on it", highlight=False, soft_wrap=True)


def build(images: Path, names: Sequence[str], console: Console) -> None:
    """Build what is missing of the images ``names`` (empty: all). Raises SelectionError, ToolError, EngineError."""
    known = families(images)
    for name in names:
        if name not in known:
            step = "`capmatrix images list` shows them"
            raise SelectionError(f"unknown image {name!r}", why=known_names(name, list(known)), step=step)
    engine = Engine()
    for name in names or known:
        started = time.monotonic()
        with _progress(console, name) as say:
            reference = ensure_image(engine, read_recipe(images, name), say, make_missing_base=False)
        console.print(f"{reference} is there ({time.monotonic() - started:.0f} s)", highlight=False, soft_wrap=True)


def show(images: Path, console: Console) -> None:
    """List the images: what there is, what is missing, and what is left of older recipes. Raises EngineError."""
    engine = Engine()
    table = Table(title=f"images at {engine.address}", title_justify="left")
    for column in ("family", "image", "size", "made", "state"):
        table.add_column(column, justify="right" if column == "size" else "left")
    for state in image_states(engine, images):
        size = f"{state.size / 1e6:.0f} MB" if state.present else ""
        made = time.strftime("%Y-%m-%d %H:%M", time.localtime(state.created)) if state.present else ""
        words = ("in use" if state.present else "not built") if state.current else "old: `docker rmi` removes it"
        table.add_row(state.family, state.reference, size, made, words)
    console.print(table)


@contextmanager
def _progress(console: Console, what: str) -> Iterator[Say]:
    """A spinner with the latest step on a terminal; elsewhere, as in a CI log, every step on a line of its own."""

    def line(text: str) -> None:
        console.print(text, highlight=False, soft_wrap=True)

    if not console.is_terminal:
        yield line
        return
    with console.status(styled(what)) as status:  # rich would read markup in a str

        def step(text: str) -> None:
            if text.startswith("+ "):
                line(text)
            else:
                status.update(styled(text))

        yield step
