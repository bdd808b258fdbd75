"""The hand-typed expectation of what the dispatcher takes: tests/conformance/expected_dispatch.toml."""

from pathlib import Path

import msgspec

from matrix.errors import TableError
from matrix.model.tables import read_toml


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


def expected_variant(
    rows: tuple[Row, ...], algorithm: str, call: str, arch: str, assembly: bool, mask: frozenset[str], length: int
) -> str:
    """The variant that must be taken for ``call`` with ``length`` bytes. Raises TableError when no row speaks of it."""
    for row in rows:
        if (
            row.algorithm == algorithm
            and arch in row.arch
            and row.call in ("", call)
            and mask.issuperset(row.needs)
            and length >= row.min_bytes
            and (assembly or not row.assembly)
        ):
            return row.variant
    why = f"no row for {algorithm}.{call} on {arch} with {' '.join(sorted(mask)) or 'none'} and {length} bytes"
    raise TableError("the expected dispatch is not typed", where="tests/conformance/expected_dispatch.toml", why=why)
