"""The dispatcher's rule: priority, needs, min_bytes, layouts of states, and what a variant tested by name borrows."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrix.model.catalog import Catalog
from matrix.model.choice import by_name, choose, chosen_for, length_classes, starting_calls, state_use
from matrix.model.interface import Interface
from matrix.model.kernel import State, Variant

CALLS = ("init", "update", "final")
NAMES = ("ssse3", "avx", "avx2", "adx")
CLOSED = [frozenset(names) for names in ((), ("ssse3",), ("adx",), ("ssse3", "avx"), ("ssse3", "avx", "avx2"), NAMES)]


def variant(
    name: str,
    priority: int = 0,
    requires: Iterable[str] = (),
    provides: Iterable[str] = CALLS,
    bound: int = 0,
    layout: str = "",
) -> Variant:
    """A variant of ``hash``; ``bound`` is the min_bytes of update."""
    return Variant(
        "hash",
        name,
        ("x86_64",),
        Path(f"hash_{name}.c"),
        tuple(provides),
        tuple(requires),
        priority,
        {"update": bound} if bound else {},
        {"ctx": State(64, 8, layout or name)},
        True,
        (),
        {},
    )


@st.composite
def sets(draw: st.DrawFn) -> tuple[Variant, ...]:
    """Up to five variants of distinct priorities, with few layouts, so that states are shared."""
    priorities = draw(st.lists(st.integers(0, 50), min_size=1, max_size=5, unique=True))
    return tuple(
        variant(
            f"v{index}",
            priority,
            draw(st.sets(st.sampled_from(NAMES), max_size=2)),
            [call for call in CALLS if draw(st.booleans())] or ["update"],
            draw(st.sampled_from([0, 0, 1, 16, 65])),
            draw(st.sampled_from(["a", "b"])),
        )
        for index, priority in enumerate(priorities)
    )


def best(variants: Iterable[Variant], call: str, mask: frozenset[str], length: int, layout: str = "") -> Variant | None:
    """The rule as an exhaustive search: no admitted variant has a higher priority."""
    admitted = [
        v
        for v in variants
        if call in v.provides
        and set(v.requires) <= mask
        and not (call == "update" and length < v.min_bytes.get("update", 0))
        and (not layout or v.state["ctx"].layout == layout)
    ]
    return max(admitted, key=lambda v: v.priority, default=None)


@given(variants=sets(), mask=st.sampled_from(CLOSED), length=st.integers(0, 80))
def test_choose_takes_the_best_that_is_admitted(
    variants: tuple[Variant, ...], mask: frozenset[str], length: int
) -> None:
    for call in CALLS:
        assert choose(variants, call, mask, length) is best(variants, call, mask, length)


@given(variants=sets(), mask=st.sampled_from(CLOSED), length=st.integers(0, 80))
def test_an_operation_stays_with_the_layout_that_started_its_state(
    small: Catalog, variants: tuple[Variant, ...], mask: frozenset[str], length: int
) -> None:
    interface = _hash(small)
    chosen = dict(chosen_for(interface.operations["mac"], interface, variants, mask, length))
    home = best(variants, "init", mask, 0)
    assert chosen["init"] is home
    for call in ("update", "final"):
        expected = best(variants, call, mask, length, home.state["ctx"].layout) if home else None
        assert chosen[call] is expected


@given(variants=sets(), mask=st.sampled_from(CLOSED))
def test_between_two_length_classes_nothing_changes(
    small: Catalog, variants: tuple[Variant, ...], mask: frozenset[str]
) -> None:
    interface = _hash(small)
    operation = interface.operations["mac"]
    classes = length_classes(operation, variants)
    assert classes[0] == 0
    for length in range(80):
        representative = max(start for start in classes if start <= length)
        assert chosen_for(operation, interface, variants, mask, length) == chosen_for(
            operation, interface, variants, mask, representative
        )


def _hash(small: Catalog) -> Interface:
    return small.provider("kernels").interfaces["hash"]


def test_length_classes_straddle_every_bound(small: Catalog) -> None:
    operation = _hash(small).operations["mac"]
    assert length_classes(operation, [variant("a", 1, bound=65), variant("b", 2, bound=1)]) == (0, 1, 64, 65)
    assert length_classes(operation, [variant("a")]) == (0,)


def test_min_bytes_is_of_one_call_only() -> None:
    wide = variant("wide", 5, bound=65)
    plain = variant("plain", 1)
    assert choose([plain, wide], "update", frozenset(), 64) is plain
    assert choose([plain, wide], "update", frozenset(), 65) is wide
    assert choose([plain, wide], "init", frozenset(), 0) is wide


def test_a_bound_may_hand_over_to_another_variant_of_the_same_layout_only(small: Catalog) -> None:
    interface = _hash(small)
    operation = interface.operations["mac"]
    base = variant("base", 1, layout="shared")
    other = variant("other", 2, provides=["update", "final"], layout="its-own")
    wide = variant("wide", 3, provides=["update"], bound=64, layout="shared")
    chosen = chosen_for(operation, interface, (base, other, wide), frozenset(), 64)
    assert [v.name for _, v in chosen if v] == ["base", "wide", "base"]
    chosen = chosen_for(operation, interface, (base, other, wide), frozenset(), 63)
    assert [v.name for _, v in chosen if v] == ["base", "base", "base"]


def test_a_state_that_nothing_started_is_not_continued(small: Catalog) -> None:
    interface = _hash(small)
    only = variant("late", provides=["update", "final"])
    assert dict(chosen_for(interface.operations["mac"], interface, (only,), frozenset(), 5)) == {
        "init": None,
        "update": None,
        "final": None,
    }


def test_how_calls_use_a_state(small: Catalog) -> None:
    interface = _hash(small)
    uses = {name: state_use(interface.calls[name], interface) for name in CALLS}
    assert [(use.state, use.starts) for use in uses.values() if use] == [("ctx", True), ("ctx", False), ("ctx", False)]
    assert starting_calls(interface, "ctx") == ("init",)
    cipher = small.provider("kernels").interfaces["cipher"]
    assert state_use(cipher.calls["xor"], cipher) is None


ALL = variant("all", 1, layout="shared")
BETTER = variant("better", 2, layout="shared")
NEEDY = variant("needy", 3, ["avx2"], layout="shared")
IMPLIED = variant("implied", 4, ["ssse3"], layout="shared")
FOREIGN = variant("foreign", 5, layout="another")


def _lent(small: Catalog, tested: Variant, others: Iterable[Variant], algorithm: str = "hash") -> dict[str, str] | None:
    interface = small.provider("kernels").interfaces[algorithm]
    operation = next(iter(interface.operations.values()))
    closed = small.capabilities["x86_64"].closure(tested.requires)
    lent = by_name(operation, interface, tested, (tested, *others), closed)
    return None if lent is None else {call: owner.name for call, owner in lent.items()}


def test_a_variant_with_every_call_borrows_nothing(small: Catalog) -> None:
    assert _lent(small, ALL, [BETTER]) == dict.fromkeys(CALLS, "all")


@pytest.mark.parametrize(
    ("requires", "lender"),
    [([], "better"), (["avx2"], "implied"), (["adx"], "better"), (["ssse3"], "implied")],
)
def test_a_missing_call_comes_from_the_best_of_the_same_layout_that_needs_no_more(
    small: Catalog, requires: list[str], lender: str
) -> None:
    tested = variant("tested", 0, requires, ["update"], layout="shared")
    lent = _lent(small, tested, [ALL, BETTER, IMPLIED, FOREIGN])
    assert lent == {"init": lender, "update": "tested", "final": lender}


def test_nothing_is_borrowed_from_what_needs_more_or_has_another_layout(small: Catalog) -> None:
    tested = variant("tested", 0, provides=["update"], layout="shared")
    assert _lent(small, tested, [NEEDY, FOREIGN]) is None


def test_borrowing_does_not_look_at_min_bytes(small: Catalog) -> None:
    tested = variant("tested", 0, provides=["init", "final"], layout="shared")
    lender = variant("lender", 1, provides=["update"], bound=1 << 20, layout="shared")
    assert _lent(small, tested, [lender]) == {"init": "tested", "update": "lender", "final": "tested"}


def test_a_stateless_operation_is_of_those_only_that_have_its_call(small: Catalog) -> None:
    assert _lent(small, ALL, [], "cipher") is None
