"""Masks: closed sets of capabilities, and the lattice of masks of a target."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from matrix.errors import MaskError, TableError
from matrix.model.capability import CapabilityTable
from matrix.model.near import known_names

NONE = "none"
MOST_IN_LATTICE = 16
"""A lattice of so many capabilities has up to 65,536 masks."""


@dataclass(frozen=True)
class Mask:
    """A closed set of named capabilities, in table order, as it is written in a cell id.

    ``names`` holds the capabilities that variants name; ``closed`` adds what those imply, which is what a CPU has.
    """

    names: tuple[str, ...]
    closed: frozenset[str]

    def __str__(self) -> str:
        return "+".join(self.names) or NONE


def make_mask(table: CapabilityTable, lattice: Iterable[str], names: Iterable[str]) -> Mask:
    """The mask of ``names`` closed under implication, written with the capabilities of ``lattice``."""
    closed = table.closure(names)
    return Mask(table.sorted(closed & set(lattice)), closed)


def lattice_names(table: CapabilityTable, requires: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """The capabilities that at least one variant names in ``requires``, in table order."""
    return table.sorted({name for needs in requires for name in needs})


def masks(table: CapabilityTable, lattice: tuple[str, ...]) -> tuple[Mask, ...]:
    """Every closed subset of ``lattice``, fewest first, then table order. Raises TableError when they are too many."""
    if len(lattice) > MOST_IN_LATTICE:
        why = f"{len(lattice)} capabilities are required on {table.arch}, at most {MOST_IN_LATTICE} make a lattice"
        step = "let kernel headers require fewer capabilities"
        raise TableError("a target has too many masks", where=f"`requires` of {table.arch}", why=why, step=step)
    found: dict[tuple[str, ...], Mask] = {}
    for size in range(len(lattice) + 1):
        for subset in combinations(lattice, size):
            mask = make_mask(table, lattice, subset)
            if mask.names == subset:
                found[subset] = mask
    return tuple(found.values())


def parse_mask(text: str, table: CapabilityTable, lattice: tuple[str, ...]) -> Mask:
    """Parse ``ssse3+avx2`` or ``none``. Raises MaskError for unknown names and for sets that are not closed."""
    names = [] if text == NONE else text.split("+")
    step = _meant(text, table, lattice)
    for name in names:
        if name not in table.by_name:
            why = f"{name!r} is no capability of {table.arch}; {known_names(name, table.names)}"
            raise MaskError(f"mask {text!r} has an unknown name", why=why, step=step)
        if name not in lattice:
            why = f"no variant of this target requires {name!r}; the lattice is {', '.join(lattice) or NONE}"
            raise MaskError(f"mask {text!r} is outside the target's lattice", why=why, step=step)
    mask = make_mask(table, lattice, names)
    if set(mask.names) != set(names):
        why = f"{'+'.join(names)} implies {mask}"
        raise MaskError(f"mask {text!r} is not closed", why=why, step=f"write {mask}")
    return mask


def _meant(text: str, table: CapabilityTable, lattice: tuple[str, ...]) -> str:
    """How to write the mask that ``text`` probably means, with other separators or capitals; '' when nothing is."""
    names = words_of(text)
    known = names <= set(lattice)
    return f"write {make_mask(table, lattice, names)}: names joined by +" if names and known else ""


def words_of(text: str) -> set[str]:
    """The names in a mask text whose separators and capitals may be wrong."""
    return set(re.findall(r"[a-z0-9]+", text.lower())) - {NONE}
