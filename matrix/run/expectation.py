"""The hand-typed expectation of what the dispatcher takes: tests/conformance/expected_dispatch.toml."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from matrix.errors import TableError
from matrix.model.capability import ARCHITECTURES
from matrix.model.catalog import Catalog
from matrix.model.near import known_names
from matrix.model.tables import read_toml
from matrix.model.target import Target

FILE = Path("tests", "conformance", "expected_dispatch.toml")
"""Where the table lies, below the root of the sources."""


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line: ``variant`` is taken where the mask has ``needs``, from ``min_bytes`` on.

    ``call`` '' means every call. ``assembly`` rows do not exist in builds without assembly.
    """

    algorithm: str
    arch: list[str]
    variant: str
    needs: list[str] = []
    call: str = ""
    min_bytes: int = 0
    assembly: bool = True


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    expect: list[Row]


def load_expectation(path: Path) -> tuple[Row, ...]:
    """Read the table; the rows of an algorithm stand from best to worst. Raises TableError."""
    return tuple(read_toml(path, _File).expect)


def checked_expectation(catalog: Catalog) -> tuple[Row, ...]:
    """The table that belongs to ``catalog``, read and checked. Raises TableError."""
    path = catalog.root / FILE
    rows = load_expectation(path)
    for number, row in enumerate(rows):
        if problem := next(_problems(rows, number, catalog), ""):
            where = f"{path}, row {number + 1}: {row.algorithm} {row.variant} on {' '.join(row.arch)}"
            raise TableError("an expectation speaks of nothing", where=where, why=problem, step=_STEP)
    for target in catalog.targets.targets:
        for provider in catalog.providers:
            compiled = {v.algorithm for v in provider.for_target(target, catalog.capabilities[target.arch])}
            for algorithm in sorted(compiled):
                for call in provider.interfaces[algorithm].calls:
                    expected_variant(rows, algorithm, call, target, frozenset(), 0)
    return rows


_STEP = "correct the row, or delete it with the variant that it is about"


def _problems(rows: tuple[Row, ...], number: int, catalog: Catalog) -> Iterator[str]:
    """What in row ``number`` names nothing, or why it is never reached."""
    row = rows[number]
    interfaces = {name: found for provider in catalog.providers for name, found in provider.interfaces.items()}
    if row.algorithm not in interfaces:
        yield f"unknown algorithm {row.algorithm!r}; {known_names(row.algorithm, list(interfaces))}"
        return
    calls = list(interfaces[row.algorithm].calls)
    if row.call and row.call not in calls:
        yield f"{row.algorithm} has no call {row.call!r}; {known_names(row.call, calls)}"
    if not row.arch:
        yield "no architecture is named"
    for arch in row.arch:
        if arch not in ARCHITECTURES:
            yield f"unknown architecture {arch!r}; {known_names(arch, ARCHITECTURES)}"
            continue
        own = [v for p in catalog.providers for v in p.variants if v.algorithm == row.algorithm and arch in v.arch]
        variant = next((v for v in own if v.name == row.variant), None)
        if variant is None:
            names = [v.name for v in own]
            yield f"{row.algorithm} has no variant {row.variant!r} on {arch}; {known_names(row.variant, names)}"
        elif row.call and row.call not in variant.provides:
            yield f"{variant.name} does not provide {row.call}; it provides {', '.join(variant.provides)}"
        table = catalog.capabilities[arch]
        for name in row.needs:
            if name not in table.by_name:
                yield f"unknown capability {name!r} of {arch}; {known_names(name, table.names)}"
                return
        for before, other in enumerate(rows[:number], 1):
            if _hides(other, row, arch, table.closure(row.needs)):
                yield f"it is never reached on {arch}: row {before} ({other.variant}) fits wherever it does"


def _hides(other: Row, row: Row, arch: str, has: frozenset[str]) -> bool:
    """Whether ``other``, which stands above ``row``, fits on ``arch`` wherever ``row`` does."""
    return (
        other.algorithm == row.algorithm
        and arch in other.arch
        and other.call in ("", row.call)
        and has.issuperset(other.needs)
        and other.min_bytes <= row.min_bytes
        and (row.assembly or not other.assembly)
    )


def expected_variant(
    rows: tuple[Row, ...], algorithm: str, call: str, target: Target, mask: frozenset[str], length: int
) -> str:
    """The variant that must be taken for ``call`` with ``length`` bytes. Raises TableError when no row speaks of it."""
    for row in rows:
        if (
            row.algorithm == algorithm
            and target.arch in row.arch
            and row.call in ("", call)
            and mask.issuperset(row.needs)
            and length >= row.min_bytes
            and (target.assembly or not row.assembly)
        ):
            return row.variant
    why = f"no row for {algorithm}.{call} on {target.arch} with {' '.join(sorted(mask)) or 'none'} and {length} bytes"
    step = "type a row for it: CONTRIBUTING.md, Add a variant"
    raise TableError("the expected dispatch is not typed", where=str(FILE), why=why, step=step)
