"""Select cells of a plan by the words of the command line, and cut the selection into shards."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from matrix.errors import MaskError, SelectionError
from matrix.model.catalog import Catalog
from matrix.model.mask import parse_mask, words_of
from matrix.model.near import known_names
from matrix.plan.cell import Cell, Enforcement

FILTERS = {
    "provider": "run this provider",
    "enforcement": f"run this enforcement ({', '.join(Enforcement)})",
    "mask": "run this mask (names joined by +, or none)",
    "algorithm": "run this algorithm",
    "variant": "run this variant",
}
"""The options that select cells of the chosen targets, each repeatable, with their help."""
CPU_HELP = "run only cells on this emulated CPU"


@dataclass(frozen=True)
class Selection:
    """What is wanted; an empty tuple or text means everything. ``shard`` is ``i/n`` with 1 <= i <= n.

    ``profiles`` are built and run beside the plain targets.
    """

    targets: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    enforcements: tuple[str, ...] = ()
    masks: tuple[str, ...] = ()
    algorithms: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    cpu: str = ""
    shard: str = ""
    profiles: tuple[str, ...] = ()


def select(cells: Iterable[Cell], wanted: Selection, catalog: Catalog, costs: Mapping[str, float]) -> tuple[Cell, ...]:
    """The cells that ``wanted`` names, in plan order. Raises SelectionError, MaskError for words that name nothing."""
    cells = tuple(cells)
    _check(wanted, catalog)
    _check_cpu(wanted.cpu, cells, catalog)
    tests: list[Callable[[Cell], bool]] = []
    for names, attribute in (
        (wanted.providers, "provider"),
        (wanted.enforcements, "enforcement"),
        (wanted.algorithms, "algorithm"),
        (wanted.variants, "variant"),
    ):
        if names:
            tests.append(lambda cell, names=names, attribute=attribute: getattr(cell, attribute) in names)  # type: ignore[misc]
    if wanted.targets:
        tests.append(lambda cell: cell.target in wanted.targets or cell.target.split("@")[0] in wanted.targets)
    if wanted.masks:
        sets = {frozenset(text.split("+")) for text in wanted.masks}
        tests.append(lambda cell: frozenset(str(cell.mask).split("+")) in sets)
    if wanted.cpu:
        tests.append(lambda cell: wanted.cpu in (cell.cpu, cell.cpu.split(",")[0]))
    chosen = tuple(cell for cell in cells if all(test(cell) for test in tests))
    return _shard(chosen, wanted.shard, costs) if wanted.shard else chosen


def _check(wanted: Selection, catalog: Catalog) -> None:
    for name in wanted.targets:
        catalog.targets.get(name)
    variants = {variant.name for provider in catalog.providers for variant in provider.variants}
    for what, names, known in (
        ("provider", wanted.providers, [provider.name for provider in catalog.providers]),
        ("enforcement", wanted.enforcements, [str(one) for one in Enforcement]),
        ("algorithm", wanted.algorithms, list(catalog.algorithms)),
        ("variant", wanted.variants, sorted(variants)),
    ):
        for name in names:
            if name not in known:
                step = _two_filters(name, catalog) or SelectionError.step
                raise SelectionError(f"unknown {what} {name!r}", why=known_names(name, known), step=step)
    for text in wanted.masks:
        _check_mask(text, wanted, catalog)


def _two_filters(name: str, catalog: Catalog) -> str:
    """How to say a variant with its algorithm, as `chacha20-ssse3` in a cell's id or `chacha20_ssse3` in a file's name;
    '' when ``name`` is none."""
    for provider in catalog.providers:
        for variant in provider.variants:
            if name.lower().replace("_", "-") == f"{variant.algorithm}-{variant.name}".replace("_", "-"):
                return f"write `--algorithm {variant.algorithm} --variant {variant.name}`"
    return ""


def _check_cpu(wanted: str, cells: Iterable[Cell], catalog: Catalog) -> None:
    """A CPU must be the string of a cell, or of the table of targets (a probe may choose another one there)."""
    strings = {cell.cpu for cell in cells} | {text for row in catalog.targets.cpus for text in row.strings}
    names = sorted({text.split(",")[0] for text in strings if text})
    if wanted and wanted not in strings and wanted not in names:
        raise SelectionError(f"unknown CPU {wanted!r}", why=known_names(wanted, names))


def _check_mask(text: str, wanted: Selection, catalog: Catalog) -> None:
    """A mask must be one of at least one selected target; that which knows most of its names says what is wrong."""
    problem: MaskError | None = None
    most_known = -1
    for target in catalog.targets.targets:
        if wanted.targets and target.name not in wanted.targets:
            continue
        for provider in catalog.providers:
            table = catalog.capabilities[target.arch]
            lattice = provider.lattice(target, table)
            try:
                parse_mask(text, table, lattice)
                return
            except MaskError as error:
                known = len(words_of(text) & set(lattice))
                if known > most_known:
                    problem, most_known = error, known
    if problem:
        raise problem


_SHARD = re.compile(r"([0-9]{1,18})/([0-9]{1,18})")


def _shard(cells: tuple[Cell, ...], shard: str, costs: Mapping[str, float]) -> tuple[Cell, ...]:
    """Shard i of n: cells from dear to cheap, each to the shard that has least; the same on every machine with the same
    recorded costs."""
    match = _SHARD.fullmatch(shard)
    index, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= index <= count:
        why = "the form is I/N, part I of N, with 1 <= I <= N"
        raise SelectionError(f"shard {shard!r} cannot be read", why=why, step="write for example `--shard 1/2`")
    if index > len(cells) > 0:
        why = f"{len(cells)} cells are left to share out; part {index} of {count} gets none"
        raise SelectionError(f"shard {shard!r} is empty", why=why, step=f"cut into at most {len(cells)} parts")
    index, loads = index - 1, [0.0] * min(count, len(cells))  # cells are dealt to the first parts first
    mine: set[str] = set()
    for cell in sorted(cells, key=lambda cell: (-cost(cell, costs), cell.id)):
        lightest = loads.index(min(loads))
        loads[lightest] += cost(cell, costs)
        if lightest == index:
            mine.add(cell.id)
    return tuple(cell for cell in cells if cell.id in mine)


def cost(cell: Cell, costs: Mapping[str, float]) -> float:
    """Seconds that ``cell`` took when it last ran, or a guess by kind."""
    return 0.01 if cell.reason else costs.get(cell.id, cell.guess)
