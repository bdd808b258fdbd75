"""What the code and data of a kernel's object must be, beyond the names by which it takes part in a link."""

import hashlib
from dataclasses import dataclass

from elftools.common.exceptions import ELFError

from matrix.build.code import Code
from matrix.build.extensions import Uses, extension_problems, into_data_problems, uses_of
from matrix.build.landing import landing_problems
from matrix.build.position import position_problems
from matrix.build.writable import writable_problems
from matrix.model.instructions import InstructionTable
from matrix.model.kernel import Variant


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
        code = Code(elf, table.arch)
        _KNOWN[key] = Findings(
            uses_of(code, table),
            tuple(writable_problems(elf)),
            tuple(landing_problems(elf, code)),
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
