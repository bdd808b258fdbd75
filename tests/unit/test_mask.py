"""Masks: the lattice of a target, its closed subsets in order, and what a mask's text may say."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrix.errors import MaskError
from matrix.model.capability import Capability, CapabilityTable, Detection
from matrix.model.catalog import Catalog
from matrix.model.mask import NONE, lattice_names, make_mask, masks, parse_mask


@st.composite
def lattices(draw: st.DrawFn) -> tuple[CapabilityTable, tuple[str, ...]]:
    """A table of up to six capabilities and some of its names in table order."""
    rows: list[Capability] = []
    for index in range(draw(st.integers(0, 6))):
        above = [row.name for row in rows]
        implies = draw(st.lists(st.sampled_from(above), unique=True)) if above else []
        rows.append(Capability(f"c{index}", ["x86"], Detection("1.ecx", index), "nop", implies))
    table = CapabilityTable("x86", tuple(rows))
    names = draw(st.sets(st.sampled_from(table.names))) if rows else set()
    return table, table.sorted(names)


@given(drawn=lattices())
def test_the_masks_are_exactly_the_closed_subsets_in_order(
    drawn: tuple[CapabilityTable, tuple[str, ...]],
) -> None:
    table, lattice = drawn
    closed = [
        subset
        for size in range(len(lattice) + 1)
        for subset in combinations(lattice, size)
        if all(table.closure([name]) & set(lattice) <= set(subset) for name in subset)
    ]
    found = masks(table, lattice)
    assert [mask.names for mask in found] == closed
    assert len({str(mask) for mask in found}) == len(found)
    for mask in found:
        assert mask.closed == table.closure(mask.names)
        assert parse_mask(str(mask), table, lattice) == mask


@given(drawn=lattices(), data=st.data())
def test_a_mask_text_is_accepted_exactly_when_it_is_closed(
    drawn: tuple[CapabilityTable, tuple[str, ...]], data: st.DataObject
) -> None:
    table, lattice = drawn
    names = data.draw(st.lists(st.sampled_from(lattice), unique=True)) if lattice else []
    text = "+".join(names) or NONE
    if table.closure(names) & set(lattice) == set(names):
        assert set(parse_mask(text, table, lattice).names) == set(names)
    else:
        with pytest.raises(MaskError, match="not closed"):
            parse_mask(text, table, lattice)


def test_masks_of_the_small_x86_target(small: Catalog) -> None:
    found = small.masks(small.targets.get("x64"), small.provider("kernels"))
    assert [str(mask) for mask in found] == ["none", "ssse3", "ssse3+avx2"]
    assert found[2].closed == {"ssse3", "avx", "avx2"}


def test_an_implied_capability_that_nobody_names_is_in_no_mask_text(small: Catalog) -> None:
    table = small.capabilities["x86_64"]
    assert lattice_names(table, [["avx2"], [], ["adx"]]) == ("avx2", "adx")
    mask = make_mask(table, ("avx2", "adx"), ["avx2"])
    assert str(mask) == "avx2"
    assert mask.closed == {"avx2", "avx", "ssse3"}


def test_a_build_without_assembly_or_without_a_capability_has_one_mask(small: Catalog) -> None:
    for name in ("x64-c", "arm-old"):
        assert [str(mask) for mask in small.masks(small.targets.get(name), small.provider("kernels"))] == ["none"]


def test_every_target_of_the_repository_has_a_lattice(catalog: Catalog) -> None:
    for target in catalog.targets.targets:
        found = catalog.masks(target, catalog.provider("kernels"))
        assert str(found[0]) == NONE
        assert target.assembly or len(found) == 1
        assert [len(mask.names) for mask in found] == sorted(len(mask.names) for mask in found)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no capability"),
        ("sse9", "sse9"),
        ("ssse3,avx2", "ssse3,avx2"),
        ("ssse3+", "no capability"),
        ("none+ssse3", "none"),
        ("adx", "no variant of this target requires 'adx'"),
        ("avx2", "implies ssse3+avx2"),
    ],
)
def test_a_wrong_text_names_what_is_wrong(small: Catalog, text: str, reason: str) -> None:
    table = small.capabilities["x86_64"]
    with pytest.raises(MaskError) as caught:
        parse_mask(text, table, ("ssse3", "avx2"))
    assert repr(text) in caught.value.what
    assert reason in caught.value.why


def test_the_order_of_a_text_does_not_matter(small: Catalog) -> None:
    table = small.capabilities["x86_64"]
    lattice = ("ssse3", "avx2")
    assert parse_mask("avx2+ssse3", table, lattice) == parse_mask("ssse3+avx2", table, lattice)
