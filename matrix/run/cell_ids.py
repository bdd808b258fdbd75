"""Cell ids as people type them: the cell of one, or what is wrong with it."""

from dataclasses import replace

from matrix.checks import every_cell
from matrix.errors import SelectionError
from matrix.model.catalog import Catalog
from matrix.model.near import near
from matrix.plan.cell import Cell

_PARTS = ("target", "enforcement", "mask", "subject")
_MOST_NAMED = 8


def cell_named(catalog: Catalog, cell_id: str) -> Cell:
    """The cell of the unprobed plan called ``cell_id``. Raises SelectionError that says what is near.

    The parts of the id are looked at one by one, so that the first wrong one is named.
    """
    parts = cell_id.split("/")
    what = f"there is no cell {cell_id!r}"
    if len(parts) != len(_PARTS):
        raise SelectionError(what, why="an id is target/enforcement/mask/subject, as in x86_64/hard/none/dispatch")
    names = [target.name for target in catalog.targets.targets]
    if parts[0] not in names:
        raise SelectionError(what, why=_unknown_part("target", parts, 0, names))
    alone = replace(catalog.targets, targets=(catalog.targets.get(parts[0]),))
    left = every_cell(replace(catalog, targets=alone), None)
    for number, name in enumerate(_PARTS):
        known = list(dict.fromkeys(cell.id.split("/")[number] for cell in left))
        if parts[number] not in known:
            raise SelectionError(what, why=_unknown_part(name, parts, number, known))
        left = tuple(cell for cell in left if cell.id.split("/")[number] == parts[number])
    (cell,) = left
    return cell


def _unknown_part(name: str, parts: list[str], number: int, known: list[str]) -> str:
    place = "/".join(parts[:number])
    unknown = f"no {name} {parts[number]!r}" + (f" in {place}" if place else "")
    found = near(parts[number], known, 3)
    if name == "mask":
        # The order of the names is the table's, not the typist's.
        found = [text for text in known if set(text.split("+")) == set(parts[number].split("+"))] or found
    if found:
        return f"{unknown}; did you mean {' or '.join(found)}?"
    more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
    return f"{unknown}; there are {', '.join(known[:_MOST_NAMED])}{more}"
