"""The plan of cells on other CPUs than a mask's usual one: further ones, and the machine's own."""

from typing import TYPE_CHECKING

from matrix.checks import all_checks, every_cell
from matrix.model.catalog import every_profile
from matrix.plan.cell import NATIVE
from matrix.plan.plan import cpu_strings

if TYPE_CHECKING:
    from tests.unit.conftest import Tree

FURTHER = """
[[cpu]]
arch = "arm32"
name = "a15"
strings = ["a15,neon=off"]
has = []

[[cpu]]
arch = "arm32"
name = "a15"
strings = ["a15"]
has = ["neon"]

[[cpu]]
arch = "x86_64"
name = "intel"
base = "qemu64,vendor=GenuineIntel"

[[cpu]]
arch = "x86_64"
name = "other"
strings = ["max,vendor=GenuineIntel"]
uses = ["avx2"]
"""


def test_by_name_runs_the_boundary_corpus_on_further_cpus(tree: "Tree") -> None:
    """Each has a name behind its ids; the ids of all other cells stay."""
    plain = [c.id for c in every_cell(tree.load(), None)]
    file = tree.root / "images/targets.toml"
    file.write_text(file.read_text() + FURTHER)
    catalog = tree.load()
    cells = every_cell(catalog, None)
    assert [c.id for c in cells if not c.further] == plain
    more = {c.id: c.cpu for c in cells if c.further and not c.target.startswith("x64-c")}
    assert more == {
        "x64/hard/none/cipher-c@intel": "qemu64,vendor=GenuineIntel",
        "x64/hard/ssse3/cipher-ssse3@intel": "qemu64,vendor=GenuineIntel,+ssse3",
        "x64/hard/ssse3+avx2/cipher-avx2@intel": "qemu64,vendor=GenuineIntel,+ssse3,+xsave,+avx,+avx2",
        "x64/soft/ssse3+avx2/cipher-avx2@other": "max,vendor=GenuineIntel",
        "x64/hard/none/hash-c@intel": "qemu64,vendor=GenuineIntel",
        "x64/hard/ssse3+avx2/hash-avx2@intel": "qemu64,vendor=GenuineIntel,+ssse3,+xsave,+avx,+avx2",
        "x64/soft/ssse3+avx2/hash-avx2@other": "max,vendor=GenuineIntel",
        "arm/hard/none/cipher-c@a15": "a15,neon=off",
        "arm/hard/neon/cipher-neon@a15": "a15",
        "arm/hard/none/hash-c@a15": "a15,neon=off",
        "arm-old/hard/none/cipher-c@a15": "a15,neon=off",
        "arm-old/hard/none/hash-c@a15": "a15,neon=off",
    }
    assert {(c.kind, c.tier) for c in cells if c.further} == {("variant", "boundary")}
    probed = {
        text for _, text in cpu_strings(catalog, {target.name for target in catalog.targets.targets}, all_checks())
    }
    assert set(more.values()) <= probed


def test_a_native_target_runs_each_variant_on_the_machine_too(tree: "Tree") -> None:
    tree.change("images/targets.toml", 'name        = "x64"', 'name = "x64"\nnative = true')
    catalog = tree.load()
    cells = every_cell(catalog, None)
    natives = [c for c in cells if c.enforcement == "native"]
    assert [c.id for c in natives] == [
        "x64/native/none/cipher-c",
        "x64/native/ssse3/cipher-ssse3",
        "x64/native/ssse3+avx2/cipher-avx2",
        "x64/native/none/hash-c",
        "x64/native/ssse3+avx2/hash-avx2",
    ]
    assert {(c.cpu, c.kind, c.reason) for c in natives} == {(NATIVE, "variant", "")}


SANITIZE = """
[[profile]]
name = "sanitize"
description = "under sanitizers"
arch = ["x86_64"]
sanitize = ["address"]
"""


def test_a_sanitized_target_runs_its_c_by_name_on_the_machine_alone(tree: "Tree") -> None:
    file = tree.root / "images/targets.toml"
    file.write_text(file.read_text() + SANITIZE)
    cells = [c for c in every_cell(every_profile(tree.load()), None) if c.target == "x64@sanitize"]
    assert [(c.id, c.cpu) for c in cells] == [
        ("x64@sanitize/native/none/cipher-c", NATIVE),
        ("x64@sanitize/native/none/hash-c", NATIVE),
    ]
