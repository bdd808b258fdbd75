"""Capabilities: what implies what, what is left of a CPU that loses one, the worker's bits, and wrong tables."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrix.errors import TableError
from matrix.model.capability import ARCHITECTURES, Capability, CapabilityTable, Detection, load_capabilities
from matrix.model.catalog import Catalog

if TYPE_CHECKING:
    from tests.unit.conftest import Tree

FILE = "kernels/capabilities.toml"


@st.composite
def tables(draw: st.DrawFn) -> CapabilityTable:
    """Up to seven capabilities, each implying any of those above it."""
    rows: list[Capability] = []
    for index in range(draw(st.integers(1, 7))):
        above = [row.name for row in rows]
        implies = draw(st.lists(st.sampled_from(above), unique=True)) if above else []
        rows.append(Capability(f"c{index}", ["x86"], Detection("1.ecx", index), "nop", implies))
    return CapabilityTable("x86", tuple(rows))


def reachable(table: CapabilityTable, name: str) -> set[str]:
    """What ``name`` implies at any distance, with itself; written as a recursion, unlike the code under test."""
    found = {name}
    for below in table.by_name[name].implies:
        found |= reachable(table, below)
    return found


@given(data=st.data(), table=tables())
def test_closure_is_everything_reachable(data: st.DataObject, table: CapabilityTable) -> None:
    names = data.draw(st.sets(st.sampled_from(table.names)))
    closed = table.closure(names)
    assert closed == set().union(*(reachable(table, name) for name in names))
    assert table.closure(closed) == closed


@given(data=st.data(), table=tables())
def test_without_takes_exactly_what_needs_the_lost_one(data: st.DataObject, table: CapabilityTable) -> None:
    closed = table.closure(data.draw(st.sets(st.sampled_from(table.names))))
    lost = data.draw(st.sampled_from(table.names))
    left = table.without(closed, lost)
    assert left == {name for name in closed if lost not in reachable(table, name)}
    assert table.closure(left) == left


@given(data=st.data(), table=tables())
def test_bits_are_rows(data: st.DataObject, table: CapabilityTable) -> None:
    names = data.draw(st.sets(st.sampled_from(table.names)))
    word = table.bits(names)
    assert {name for bit, name in enumerate(table.names) if word >> bit & 1} == names
    assert word >> len(table.names) == 0
    assert [table.names.index(name) for name in table.sorted(names)] == sorted(map(table.names.index, names))


def test_avx2_needs_avx_and_ssse3_and_losing_avx_loses_it(small: Catalog) -> None:
    table = small.capabilities["x86_64"]
    assert table.closure(["avx2"]) == {"avx2", "avx", "ssse3"}
    assert table.without({"avx2", "avx", "ssse3", "adx"}, "avx") == {"ssse3", "adx"}
    assert table.bits(["ssse3", "adx"]) == 0b1001


def test_each_architecture_has_its_own_table(small: Catalog) -> None:
    assert small.capabilities["arm32"].names == ("neon", "aes")
    assert small.capabilities["x86"].names == ()
    assert set(small.capabilities) == set(ARCHITECTURES)


def test_the_repositorys_table_loads_and_every_architecture_has_capabilities(catalog: Catalog) -> None:
    for table in catalog.capabilities.values():
        assert table.names
        for row in table.rows:
            assert row.probe, row.name


@pytest.mark.parametrize(
    ("old", "new", "key", "reason"),
    [
        ('name   = "neon"', 'nam = "neon"', "capability[0]", "nam"),
        ('name   = "neon"', "name = 3", "capability[0].name", "str"),
        ('name   = "neon"', 'name = "none"', "name", "none"),
        ('name   = "neon"', 'name = "a+b"', "name", "a+b"),
        ('name   = "adx"', 'name = "avx2"', "name", "unique"),
        ('arch   = ["arm32"]', 'arch = ["arm64"]', "arch", "arm64"),
        ('arch   = ["arm32"]', "arch = []", "arch", "empty"),
        ('implies = ["neon"]', 'implies = ["sve"]', "implies", "sve"),
        ('implies = ["avx"]', 'implies = ["adx"]', "implies", "adx"),
        ('implies = ["avx"]', 'implies = ["avx2", "avx2x"]', "implies", "avx2x"),
        ('implies = ["avx"]', 'implies = ["neon"]', "implies", "neon"),
        ('word = "hwcap"', 'word = "1.ecx"', "detect.word", "1.ecx"),
        ("bit = 12", "bit = 64", "detect.bit", "64"),
        ("bit = 12", "bit = -1", "detect.bit", "-1"),
        ("bit = 12", "bit = 12, xcr0 = 6", "detect.xcr0", "6"),
        ("xcr0 = 6", "xcr0 = 256", "detect.xcr0", "256"),
        ("bit = 12", "bti = 12", "capability[0].detect", "bti"),
        ('probe  = "nop"', "", "capability[0]", "probe"),
        ("[[capability]]", "[[capability]", FILE, "line 2"),
        ("[[capability]]", "[[capabilities]]\n[[capability]]", FILE, "capabilities"),
    ],
)
def test_a_wrong_table_is_one_clear_error(tree: "Tree", old: str, new: str, key: str, reason: str) -> None:
    path = tree.change(FILE, old, new)
    with pytest.raises(TableError) as caught:
        load_capabilities(path)
    assert str(path) in caught.value.where
    assert key in caught.value.where
    assert reason in caught.value.why
    assert caught.value.step


def test_a_missing_and_an_unreadable_table_are_errors(tree: "Tree") -> None:
    path = tree.root / "absent.toml"
    with pytest.raises(TableError, match=r"absent\.toml"):
        load_capabilities(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(TableError, match=r"absent\.toml"):
        load_capabilities(path)


def test_more_than_one_mask_word_of_capabilities_is_refused(tree: "Tree") -> None:
    row = '[[capability]]\nname = "c{0}"\narch = ["x86"]\ndetect = {{ word = "1.ecx", bit = 0 }}\nprobe = "nop"\n'
    path = tree.put(FILE, "".join(row.format(index) for index in range(64)))
    assert len(load_capabilities(path)["x86"].names) == 64
    path.write_text(path.read_text() + row.format(64))
    with pytest.raises(TableError, match=r"65.*64"):
        load_capabilities(path)
