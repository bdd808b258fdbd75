"""Planted faults as data: a small change to the repository's own files, and what the matrix must say of it.

Each file below ``tests/planted/<subject>/`` is one plant. Because it is a change and no copy, it follows the kernel as
that evolves; when the text that it replaces is gone, the plant is refused and has to be written anew.
"""

import shutil
from pathlib import Path
from typing import Literal

import msgspec

PLANTS = Path(__file__).parent
REPOSITORY = PLANTS.parents[1]
"""The source tree that is planted in."""
_COPIED = ("kernels", "images", "tests/conformance")
_LINKED = ("vectors",)

FaultClass = Literal["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P"]
"""What fails: tails and block counts (A), counters (B), carries (C), bounds (D), registers (E), dispatch (F), alignment
(G), overlap (H), splits (I), byte order (J), the build (K), lanes and constants (L), key schedules (M), constant time
(N), nothing was tested (O), the compiler (P)."""


class PlantError(Exception):
    """A plant cannot be used: its file is wrong, or it does not fit the sources any more."""


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``old`` becomes ``new`` in ``file``, where it must occur exactly ``count`` times."""

    file: str
    old: str
    new: str
    count: int = 1


class Addition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file that does not exist yet."""

    file: str
    text: str


class Expectation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A failure that ``cell`` must have: its ``kind``, and regular expressions that must be found in its summary (all
    of ``words``), in its case's name and in its placement's name.

    A cell may be named by several; each must be seen, and the cell may have no other failures. So a fault is caught by
    the check that it was planted for, and by no other.
    """

    cell: str
    kind: str
    words: list[str]
    cases: str = ""
    placements: str = ""


class Plant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"fault_class": "class"}):
    """One planted fault.

    ``target`` may be TARGET@PROFILE: a fault that only this way to build shows.
    ``imitates`` is the id of a public report or change, or says why there is none; ``passes`` are cells that must pass
    all the same; ``twin`` are the cells of the sound sources when they have other ids than the failing ones.
    ``placements`` is that of a run that catches it; ``deadline`` is in seconds per request, 0 for the usual one;
    ``case`` is the only case that is run, of the exhaustive corpus, for what takes too long to find among the others.
    With ``known_gap`` nothing catches the fault yet, and that is asserted: the mark goes when it is.
    """

    title: str
    fault_class: FaultClass
    imitates: str
    target: str
    expect: list[Expectation]
    change: list[Change] = []
    add: list[Addition] = []
    passes: list[str] = []
    twin: list[str] = []
    placements: Literal["quick", "full"] = "quick"
    deadline: float = 0
    case: str = ""
    known_gap: str = ""

    @property
    def failing(self) -> list[str]:
        """Ids of the cells that must fail."""
        return list(dict.fromkeys(expectation.cell for expectation in self.expect))

    @property
    def sound(self) -> list[str]:
        """Ids of the cells that must pass in the sources as they are."""
        return [*(self.twin or self.failing), *self.passes]


def names() -> list[str]:
    """Every plant as ``subject/name``, sorted."""
    return sorted(str(path.relative_to(PLANTS).with_suffix("")) for path in PLANTS.glob("*/*.toml"))


def load(name: str) -> Plant:
    """Read the plant ``name``. Raises PlantError."""
    path = PLANTS / f"{name}.toml"
    try:
        plant = msgspec.toml.decode(path.read_bytes(), type=Plant)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise PlantError(f"{path}: {problem}") from None
    if not plant.expect or not (plant.change or plant.add):
        raise PlantError(f"{path}: a plant changes something and expects something")
    return plant


def apply(plant: Plant, root: Path, source: Path = REPOSITORY) -> None:
    """Copy what is built and run from ``source`` to ``root``, and plant the fault there. Raises PlantError."""
    copy_sources(root, source)
    change_sources(plant, root)


def change_sources(plant: Plant, root: Path) -> None:
    """Plant the fault in the sources at ``root``. Raises PlantError."""
    for change in plant.change:
        path = root / change.file
        if not path.is_file():
            raise PlantError(f"{change.file} does not exist any more")
        text = path.read_text(encoding="utf-8")
        found = text.count(change.old)
        if found != change.count or not change.old:
            raise PlantError(f"{change.file}: found {found} times, not {change.count}: {change.old!r}")
        path.write_text(text.replace(change.old, change.new), encoding="utf-8")
    for addition in plant.add:
        path = root / addition.file
        if path.exists():
            raise PlantError(f"{addition.file} exists already")
        path.write_text(addition.text, encoding="utf-8")


def copy_sources(root: Path, source: Path = REPOSITORY) -> None:
    """Copy to ``root`` what a session reads; vectors are only linked, no plant changes them."""
    for name in _COPIED:
        shutil.copytree(source / name, root / name)
    for name in _LINKED:
        (root / name).symlink_to(source / name)
