"""Which variant the dispatcher takes: the rule that the generated dispatcher follows and the plan reasons with."""

from collections.abc import Iterable
from dataclasses import dataclass

from matrix.model.interface import Call, Interface, Operation, Pointer
from matrix.model.kernel import Variant


@dataclass(frozen=True)
class StateUse:
    """How a call uses an algorithm's state: the state's name and whether the call starts it."""

    state: str
    starts: bool


def state_use(call: Call, interface: Interface) -> StateUse | None:
    """The state that ``call`` works on, or None. A call whose state is an output starts it."""
    for arg in call.args:
        if isinstance(arg, Pointer) and arg.role in interface.states:
            return StateUse(arg.role, arg.direction == "out")
    return None


def starting_calls(interface: Interface, state: str) -> tuple[str, ...]:
    """The calls that start ``state``; the variant that one of them takes is the home of the state."""
    return tuple(call.name for call in interface.calls.values() if state_use(call, interface) == StateUse(state, True))


def candidates(variants: Iterable[Variant], call: str) -> list[Variant]:
    """The variants that provide ``call``, best first."""
    return sorted((v for v in variants if call in v.provides), key=lambda v: -v.priority)


def choose(variants: Iterable[Variant], call: str, mask: frozenset[str], length: int) -> Variant | None:
    """The variant of highest priority that provides ``call``, needs nothing outside ``mask`` and accepts ``length``."""
    for variant in candidates(variants, call):
        if mask.issuperset(variant.requires) and length >= variant.min_bytes.get(call, 0):
            return variant
    return None


def choose_continuing(
    variants: Iterable[Variant], call: str, state: str, home: Variant, mask: frozenset[str], length: int
) -> Variant | None:
    """As ``choose`` for a call that works on a state which ``home`` started: only equal layouts are interchangeable."""
    layout = home.state[state].layout
    alike = [v for v in variants if state in v.state and v.state[state].layout == layout]
    return choose(alike, call, mask, length)


def chosen_for(
    operation: Operation, interface: Interface, variants: tuple[Variant, ...], mask: frozenset[str], length: int
) -> tuple[tuple[str, Variant | None], ...]:
    """(call, variant) for each step of ``operation`` through the dispatcher, with ``length`` bytes in one piece."""
    homes: dict[str, Variant] = {}
    result: list[tuple[str, Variant | None]] = []
    for step in operation.steps:
        call = interface.calls[step.call]
        use = state_use(call, interface)
        call_length = length if call.length_role else 0
        if use and not use.starts:
            home = homes.get(use.state)
            taken = home and choose_continuing(variants, call.name, use.state, home, mask, call_length)
        else:
            taken = choose(variants, call.name, mask, call_length)
            if use and taken:
                homes[use.state] = taken
        result.append((call.name, taken))
    return tuple(result)


def length_classes(operation: Operation, variants: Iterable[Variant]) -> tuple[int, ...]:
    """Lengths that straddle every ``min_bytes`` of the operation's calls: 0, and each bound with its predecessor.

    Where only multiples of a unit are lengths, the first one from the bound on and the last one before it.
    """
    unit = operation.inputs[operation.split_role].multiple if operation.split_role else 1
    bounds = {v.min_bytes[step.call] for v in variants for step in operation.steps if step.call in v.min_bytes}
    reached = {-(-bound // unit) * unit for bound in bounds}
    return tuple(sorted({0, *reached, *(length - unit for length in reached if length)}))


def by_name(
    operation: Operation,
    interface: Interface,
    variant: Variant,
    variants: tuple[Variant, ...],
    closed: frozenset[str],
) -> dict[str, Variant] | None:
    """Which variant does each call when ``variant`` is tested by name on ``operation``, or None when it does no part.

    A call that the variant lacks is borrowed from the best variant with the same layout of the shared state that needs
    nothing outside ``closed``, which is what ``variant`` requires and all that it implies; without such a variant the
    operation is not the variant's.
    """
    calls = [step.call for step in operation.steps]
    if not any(call in variant.provides for call in calls):
        return None
    lent: dict[str, Variant] = {}
    for call in calls:
        use = state_use(interface.calls[call], interface)
        if call in variant.provides:
            lent[call] = variant
            continue
        taken = (
            choose_continuing(variants, call, use.state, variant, closed, 1 << 62)
            if use and use.state in variant.state
            else None
        )
        if taken is None:
            return None
        lent[call] = taken
    return lent
