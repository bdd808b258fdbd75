"""What the code and data of a kernel's object must be, beyond the names by which it takes part in a link."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from elftools.common.exceptions import ELFError

from matrix.build import code, extensions, landing, placing, position, source_lines, writable
from matrix.build.code import Code
from matrix.build.extensions import Uses, extension_problems, into_data_problems, uses_of
from matrix.build.landing import landing_problems
from matrix.build.position import has_assembly, position_problems
from matrix.build.units import Unit, Units
from matrix.build.writable import writable_problems
from matrix.model.instructions import InstructionTable
from matrix.model.kernel import Variant

SHARED = ("-fPIC", "-fvisibility=hidden")
"""How a kernel is compiled for a shared library that exports none of its own functions by accident."""


@cache
def code_checks() -> tuple[bytes, ...]:
    """The sources of what looks at code and places it: what an older check has let through is looked at again."""
    modules = (code, extensions, landing, placing, position, source_lines, writable)
    return tuple(path.read_bytes() for path in (Path(__file__), *(Path(m.__file__ or "") for m in modules)))


@dataclass(frozen=True)
class Findings:
    """What an object does, whoever it belongs to: its header says which of that is right."""

    uses: Uses
    writable: tuple[str, ...]
    landing: tuple[str, ...]


_KNOWN: dict[tuple[bytes, bytes], Findings] = {}
"""Findings by the digests of object and table: many workers of a process are made of the same objects."""


def findings(elf: bytes, table: InstructionTable) -> Findings:
    """What the object ``elf`` does. Raises ELFError, ValueError."""
    key = (hashlib.sha256(elf).digest(), table.digest)
    if key not in _KNOWN:
        read = Code(elf, table.arch)
        _KNOWN[key] = Findings(
            uses_of(read, table),
            tuple(writable_problems(elf)),
            tuple(landing_problems(elf, read)),
        )
    return _KNOWN[key]


def code_problems(elf: bytes, variant: Variant, table: InstructionTable) -> list[str]:
    """What the header of ``variant`` does not allow of its object, one line each.

    C is compiled for a program at fixed addresses here, so that its relocations say nothing: the builder compiles it a
    second time where that matters. An object that cannot be read has no problems here; ``object_problems`` tells of it.
    """
    try:
        found = findings(elf, table)
    except (ELFError, ValueError):
        return []
    lines = extension_problems(found.uses, elf, table, variant.requires)
    if not variant.writable:
        lines += found.writable
    if variant.assembly:  # a compiler hides nothing in its literal pools, which may follow a call that does not return
        lines += into_data_problems(found.uses)
    if variant.assembly and not variant.position_dependent:
        lines += position_problems(elf, table.arch)
    return [*lines, *found.landing]


def wrong_code(
    units: Units, kernels: Mapping[Variant, Unit], for_a_library: Callable[[Variant], Unit], table: InstructionTable
) -> dict[str, str]:
    """{output: what is wrong with it} for objects of ``kernels`` whose code or data their headers do not allow.

    C is compiled a second time, ``for_a_library``, to see what ties it to an address; but only where it holds assembly:
    elsewhere the compiler's word is enough, and a second build would double the first.
    """
    read = units.sandbox.read_all(unit.output for unit in kernels.values())
    problems = {unit.output: code_problems(read[unit.output], variant, table) for variant, unit in kernels.items()}
    doubtful = {
        unit.output: for_a_library(variant)
        for variant, unit in kernels.items()
        if not variant.assembly and not variant.position_dependent and any(map(has_assembly, unit.files.values()))
    }
    logs = units.make(doubtful.values())
    again = units.sandbox.read_all({unit.output for unit in doubtful.values()} - logs.keys())
    for output, unit in doubtful.items():
        if unit.output in logs:
            problems[output].append(f"error: it does not compile for a shared library: {logs[unit.output]}")
        else:
            problems[output] += position_problems(again[unit.output], table.arch)
    return {output: "\n".join(lines) for output, lines in problems.items() if lines}
