"""Cell ids as people type them: the cell of one, or what is wrong with it."""

from collections.abc import Sequence
from dataclasses import replace

from matrix.errors import SelectionError
from matrix.model.catalog import Catalog
from matrix.model.near import near
from matrix.model.plan import Cell, find, plan

_PARTS = ("target", "enforcement", "mask", "subject")
_MOST_NAMED = 8


def cell_named(catalog: Catalog, cell_id: str) -> Cell:
    """The cell of the unprobed plan called ``cell_id``. Raises SelectionError that says what is near."""
    target = cell_id.split("/")[0]
    known = any(row.name == target for row in catalog.targets.targets)
    cells = plan(replace(catalog, targets=catalog.targets.only([target])) if known else catalog, None)
    cell = find(cells, cell_id)
    if cell is None:
        raise unknown_cell(cell_id, cells)
    return cell


def unknown_cell(cell_id: str, cells: Sequence[Cell]) -> SelectionError:
    """The error about a cell id that no cell has; ``cells`` are those of all targets, or of the id's own one.

    The parts of the id are looked at one by one, so that the first wrong one is named.
    """
    parts = cell_id.split("/")
    what = f"there is no cell {cell_id!r}"
    if len(parts) != len(_PARTS):
        example = f"such as {cells[0].id}" if cells else "and there is no cell at all"
        return SelectionError(what, why=f"an id is target/enforcement/mask/subject, {example}")
    left = list(cells)
    for number, name in enumerate(_PARTS):
        known = list(dict.fromkeys(cell.id.split("/")[number] for cell in left))
        if parts[number] not in known:
            return SelectionError(what, why=_unknown_part(name, parts, number, known))
        left = [cell for cell in left if cell.id.split("/")[number] == parts[number]]
    raise AssertionError(f"{cell_id} is a cell")


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
