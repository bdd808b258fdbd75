"""Which functions a run has entered, in words and by whose they are."""

from collections.abc import Iterable

from matrix.build.prototypes import Function
from matrix.run.stream import Subject


def own_and_inner(about: Subject, functions: list[Function]) -> tuple[set[str], list[Function]]:
    """Of the variants' functions of the operation's algorithm: the names of those that its steps call, and the others,
    which a composition of the algorithm's own calls (a hash of its compression function) has entered by dispatch."""
    mine = [f for f in functions if f.variant and f.interface is about.interface]
    calls = {step.call for step in about.operation.steps}
    return {f.name for f in mine if f.call.name in calls}, [f for f in mine if f.call.name not in calls]


def names(found: Iterable[str]) -> str:
    """``found`` in words."""
    return ", ".join(sorted(found)) or "nothing"
