"""Targets and emulated CPUs: which CPU a hard and a soft mask get, and wrong tables."""

from typing import TYPE_CHECKING

import pytest

from matrix.errors import SelectionError, TableError
from matrix.model.catalog import Catalog
from matrix.model.mask import Mask, make_mask
from matrix.model.target import Cpu

if TYPE_CHECKING:
    from tests.unit.conftest import Tree

FILE = "images/targets.toml"


def _hard(catalog: Catalog, target: str, lattice: tuple[str, ...], *names: str) -> Cpu | None:
    row = catalog.targets.get(target)
    table = catalog.capabilities[row.arch]
    return catalog.targets.hard_cpu(row, table, lattice, make_mask(table, lattice, names))


def test_a_hard_mask_gets_the_cpu_that_has_exactly_it(small: Catalog) -> None:
    assert _hard(small, "arm", ("neon", "aes")) == Cpu(("a9,neon=off", "a9-without"), frozenset())
    assert _hard(small, "arm", ("neon", "aes"), "neon") == Cpu(("a9",), frozenset({"neon"}))
    assert _hard(small, "arm", ("neon", "aes"), "aes") == Cpu(("a57",), frozenset({"neon", "aes"}))


def test_what_no_variant_names_may_be_there_but_least_is_best(tree: "Tree") -> None:
    catalog = tree.load()
    assert _hard(catalog, "arm", ("neon",), "neon") == Cpu(("a9",), frozenset({"neon"}))
    tree.change(FILE, 'strings = ["a9"]\nhas     = ["neon"]', 'strings = ["a9"]\nhas     = []')
    assert _hard(tree.load(), "arm", ("neon",), "neon") == Cpu(("a57",), frozenset({"neon", "aes"}))


def test_no_cpu_has_aes_without_neon(small: Catalog) -> None:
    table = small.capabilities["arm32"]
    impossible = Mask(("aes",), frozenset({"aes"}))
    assert small.targets.hard_cpu(small.targets.get("arm"), table, ("neon", "aes"), impossible) is None


def test_a_cpu_that_lacks_what_the_mask_implies_does_not_fit(small: Catalog) -> None:
    """The lattice may hold fewer names than the mask's closure; the CPU must have all of the closure."""
    table = small.capabilities["arm32"]
    mask = Mask(("aes",), frozenset({"aes", "neon"}))
    found = small.targets.hard_cpu(small.targets.get("arm"), table, ("aes",), mask)
    assert found == Cpu(("a57",), frozenset({"neon", "aes"}))


def test_a_build_without_neon_runs_on_no_cpu_with_neon(small: Catalog) -> None:
    assert _hard(small, "arm-old", ()) == Cpu(("a9,neon=off", "a9-without"), frozenset())
    assert _hard(small, "arm-old", (), "neon") is None
    target = small.targets.get("arm-old")
    assert small.targets.soft_cpu(target, small.capabilities["arm32"]).has == frozenset()


def test_an_additive_cpu_has_the_properties_of_the_whole_closure_once(small: Catalog) -> None:
    assert _hard(small, "x64", ("ssse3", "avx2")) == Cpu(("qemu64",), frozenset())
    found = _hard(small, "x64", ("ssse3", "avx2"), "avx2")
    assert found == Cpu(("qemu64,+ssse3,+xsave,+avx,+avx2",), frozenset({"ssse3", "avx", "avx2"}))


def test_a_soft_mask_runs_on_the_richest_cpu(small: Catalog) -> None:
    targets, tables = small.targets, small.capabilities
    assert targets.soft_cpu(targets.get("arm"), tables["arm32"]) == Cpu(("max",), None)
    assert targets.soft_cpu(targets.get("x64"), tables["x86_64"]) == Cpu(("max", "max,enforce"), None)


def test_richest_counts_what_is_implied(tree: "Tree") -> None:
    rows = '[[cpu]]\narch = "x86_64"\nstrings = ["{}"]\nhas = {}\n'
    both = rows.format("two", '["ssse3", "adx"]') + rows.format("three", '["avx2"]')
    text = (tree.root / FILE).read_text()
    tree.put(FILE, text.replace('strings = ["max", "max,enforce"]', 'strings = ["min"]\nhas = []') + both)
    catalog = tree.load()
    found = catalog.targets.soft_cpu(catalog.targets.get("x64"), catalog.capabilities["x86_64"])
    assert found.strings == ("three",)


def test_a_target_without_any_soft_cpu_is_a_table_error(tree: "Tree") -> None:
    tree.change(FILE, "[[cpu]]", '[[cpu]]\narch = "arm32"\nstrings = ["x"]\nhas = ["neon"]\n[[cpu]]')
    tree.change(FILE, 'strings = ["a9,neon=off", "a9-without"]\nhas     = []', 'strings = ["a"]\nhas = ["neon"]')
    catalog = tree.load()
    with pytest.raises(TableError, match="arm-old"):
        catalog.targets.soft_cpu(catalog.targets.get("arm-old"), catalog.capabilities["arm32"])


def test_an_unknown_target_is_a_selection_error_that_lists_the_known(small: Catalog) -> None:
    with pytest.raises(SelectionError, match=r"arm, arm-old, x64, x64-c"):
        small.targets.get("arm64")


def test_word_size_follows_from_the_architecture(small: Catalog) -> None:
    assert small.targets.get("arm").word_bytes == 4
    assert small.targets.get("x64").word_bytes == 8


def test_every_target_of_the_repository_has_a_soft_cpu_and_a_cpu_for_the_empty_mask(catalog: Catalog) -> None:
    for target in catalog.targets.targets:
        table = catalog.capabilities[target.arch]
        lattice = catalog.provider("kernels").lattice(target, table)
        assert catalog.targets.soft_cpu(target, table).strings
        empty = catalog.masks(target, catalog.provider("kernels"))[0]
        if target.arch != "aarch64":  # QEMU has no AArch64 CPU without Advanced SIMD
            assert catalog.targets.hard_cpu(target, table, lattice, empty) is not None, target.name


@pytest.mark.parametrize(
    ("old", "new", "key", "reason"),
    [
        ('name        = "arm"', 'name = "a/b"', "target a/b, key name", "a/b"),
        ('name        = "arm-old"', 'name = "arm"', "target arm, key name", "unique"),
        ('name        = "arm"', "nam = 1", "target[0]", "nam"),
        ('arch        = "arm32"', 'arch = "arm64"', "target arm, key arch", "arm64"),
        ('without = ["neon"]', 'without = ["neo"]', "target arm-old, key without", "neo"),
        ('compiler    = "cc"', "", "target[0]", "compiler"),
        ("assembly = false", 'assembly = "no"', "target[3].assembly", "bool"),
        ('arch    = "arm32"', 'arch    = "arm64"', "key arch", "arm64"),
        ('has     = ["aes"]', 'has     = ["avx2"]', "key has", "avx2"),
        ('base    = "qemu64"', "", "cpu", "exactly one"),
        ('base    = "qemu64"', 'base = "qemu64"\nstrings = ["max"]', "cpu", "exactly one"),
        ('base    = "qemu64"', 'base = "qemu64"\nhas = []', "key has", "base"),
        ("[[cpu]]", "[[cpus]]\n[[cpu]]", FILE, "cpus"),
    ],
)
def test_a_wrong_table_is_one_clear_error(tree: "Tree", old: str, new: str, key: str, reason: str) -> None:
    path = tree.change(FILE, old, new)
    with pytest.raises(TableError) as caught:
        tree.load()
    assert str(path) in caught.value.where
    assert key in caught.value.where
    assert reason in caught.value.why
