"""Number the cases of a corpus: what their order in it decides is fixed here, once, whatever part of it is run."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from matrix.cases.case import TIERS, Case
from matrix.cases.material import byte_count
from matrix.cases.placement import beyond_placements
from matrix.model.interface import Interface

_BEYOND_LEAST, _BEYOND_MOST = 16, 4096
"""Bytes of an input whose length is told too long: a call that is quick if it takes no more."""


def numbered(interface: Interface, cases: Iterable[Case]) -> tuple[Case, ...]:
    """``cases`` with their numbers, and with the placements ``beyond-...`` at the first of each operation that fit.

    Numbers count the cases of an operation from 0, those of a smaller tier first, so that even the few of a smoke cell
    are numbers in a row.
    """
    made = list(cases)
    numbers: Counter[str] = Counter()
    sizes: Counter[tuple[str, tuple[int, ...]]] = Counter()
    wanted = {
        (name, placement.beyond): placement.name
        for name, operation in interface.operations.items()
        for placement in beyond_placements(interface, operation)
    }
    for index in sorted(range(len(made)), key=lambda index: TIERS.index(made[index].tier)):
        case = made[index]
        lengths = tuple(byte_count(value) for value in case.inputs.values())
        extra = case.extra
        for role in [role for operation, role in wanted if operation == case.operation]:
            if (
                case.plain
                and case.expected is not None
                and _BEYOND_LEAST <= _length(interface, case, role) <= _BEYOND_MOST
            ):
                extra = (*extra, wanted.pop((case.operation, role)))
        key = (case.operation, lengths)
        made[index] = replace(case, number=numbers[case.operation], before=sizes[key], extra=extra)
        numbers[case.operation] += 1
        sizes[key] += 1
    return tuple(made)


def _length(interface: Interface, case: Case, role: str) -> int:
    """Bytes of an input, or of an output that is exactly as long as one."""
    value = case.inputs.get(role)
    return byte_count(case.inputs[interface.operations[case.operation].outputs[role].like] if value is None else value)
