"""The plan: a pure function from tables, headers and abilities to cells, each with run or a reason to skip."""

from typing import TYPE_CHECKING

import pytest

from matrix.checks import all_checks, every_cell
from matrix.checks.trap import why_no_trap
from matrix.model.catalog import Catalog
from matrix.plan.ability import Abilities, CpuAbility
from matrix.plan.cell import CANNOT_EXPRESS, EMULATED, HOST_LACKS, NATIVE, REASONS, Cell, Enforcement
from matrix.plan.plan import cpu_strings, find

if TYPE_CHECKING:
    from tests.unit.conftest import Tree

EXECUTES = {
    "a9,neon=off": "",
    "a9-without": "",
    "a9": "neon",
    "a57": "neon aes",
    "qemu64": "",
    "qemu64,+ssse3": "ssse3",
    "qemu64,+ssse3,+xsave,+avx": "ssse3 avx",
    "qemu64,+ssse3,+xsave,+avx,+avx2": "ssse3 avx avx2",
    "max,enforce": "ssse3 avx avx2 adx",
}
"""What an obedient QEMU does with each CPU string of the small tree, typed by hand; `max` has everything."""


def abilities(**changed: CpuAbility) -> Abilities:
    """An obedient QEMU but for ``changed``, whose names are CPU strings (of any architecture)."""
    cpus = {}
    for arch, everything in (("arm32", "neon aes"), ("x86_64", "ssse3 avx avx2 adx")):
        for text, names in {**EXECUTES, "max": everything}.items():
            cpus["qemu-" + arch, text] = changed.get(text) or CpuAbility(True, frozenset(names.split()))
    return Abilities(cpus)


def cell(cells: tuple[Cell, ...], cell_id: str) -> Cell:
    """The cell called ``cell_id``."""
    found = find(cells, cell_id)
    assert found is not None, cell_id
    return found


X64 = """
x64/hard/none/dispatch
x64/hard/ssse3/dispatch
x64/hard/ssse3+avx2/dispatch
x64/soft/none/dispatch
x64/soft/ssse3/dispatch
x64/soft/ssse3+avx2/dispatch
x64/hard/none/cipher
x64/hard/ssse3/cipher
x64/hard/ssse3+avx2/cipher
x64/soft/none/cipher
x64/soft/ssse3/cipher
x64/soft/ssse3+avx2/cipher
x64/hard/none/hash
x64/hard/ssse3/hash
x64/hard/ssse3+avx2/hash
x64/soft/none/hash
x64/soft/ssse3/hash
x64/soft/ssse3+avx2/hash
x64/hard/none/cipher-ssse3
x64/hard/ssse3/cipher-avx2
x64/hard/ssse3/hash-avx2
x64/hard/none/cipher-c
x64/soft/none/cipher-c
x64/hard/ssse3/cipher-ssse3
x64/soft/ssse3/cipher-ssse3
x64/hard/ssse3+avx2/cipher-avx2
x64/soft/ssse3+avx2/cipher-avx2
x64/hard/none/hash-c
x64/soft/none/hash-c
x64/hard/ssse3+avx2/hash-avx2
x64/soft/ssse3+avx2/hash-avx2
"""


def test_the_cells_of_the_small_x86_target_in_order(small: Catalog) -> None:
    assert [c.id for c in every_cell(small, None) if c.target == "x64"] == X64.split()


def test_a_build_without_assembly_has_its_portable_variants_only(small: Catalog) -> None:
    assert [c.id for c in every_cell(small, None) if c.target == "x64-c"] == [
        "x64-c/hard/none/dispatch",
        "x64-c/soft/none/dispatch",
        "x64-c/hard/none/cipher",
        "x64-c/soft/none/cipher",
        "x64-c/hard/none/hash",
        "x64-c/soft/none/hash",
        "x64-c/hard/none/cipher-c",
        "x64-c/soft/none/cipher-c",
        "x64-c/hard/none/hash-c",
        "x64-c/soft/none/hash-c",
    ]


def test_ids_do_not_depend_on_abilities_and_are_unique(small: Catalog, catalog: Catalog) -> None:
    for one in (small, catalog):
        blind = [c.id for c in every_cell(one, None)]
        assert len(set(blind)) == len(blind)
        assert [c.id for c in every_cell(one, Abilities())] == blind
    assert [c.id for c in every_cell(small, abilities())] == [c.id for c in every_cell(small, None)]


def test_the_plan_is_a_function_of_the_files(tree: "Tree") -> None:
    assert every_cell(tree.load(), abilities()) == every_cell(tree.load(), abilities())


def test_every_kind_enforcement_and_reason_is_a_known_one(catalog: Catalog) -> None:
    cells = every_cell(catalog, None) + every_cell(catalog, Abilities())
    assert {c.kind for c in cells} == {check.name for check in all_checks()}
    assert {c.enforcement for c in cells} == set(Enforcement)
    assert {c.reason for c in cells} <= {"", *REASONS}


def test_an_obedient_qemu_runs_everything(small: Catalog) -> None:
    cells = every_cell(small, abilities())
    assert [c.id for c in cells if c.reason] == []
    for c in cells:
        executes = frozenset(EXECUTES.get(c.cpu, "everything").split())
        if c.enforcement == "hard":
            assert executes == c.mask.closed, c.id
        else:
            assert c.cpu == ("a9,neon=off" if c.target == "arm-old" else "max"), c.id


def test_without_abilities_everything_that_the_table_has_a_cpu_for_runs(small: Catalog) -> None:
    assert [c.id for c in every_cell(small, None) if c.reason] == []


def test_a_trap_takes_the_capability_and_all_that_needs_it(small: Catalog) -> None:
    traps = {c.id: c for c in every_cell(small, None) if c.kind == "trap"}
    avx2 = traps["x64/hard/ssse3/cipher-avx2"]
    assert avx2.lost == "avx2"
    assert avx2.mask.closed == {"ssse3", "avx"}
    assert avx2.cpu == "qemu64,+ssse3,+xsave,+avx"
    for trap in traps.values():
        assert trap.lost not in trap.mask.closed


def test_a_variant_that_names_an_implied_capability_has_a_trap_for_each(tree: "Tree") -> None:
    tree.kernel("cipher", "avx2", "x86_64", requires=["ssse3", "avx2"], priority=30)
    traps = [
        c for c in every_cell(tree.load(), None) if c.kind == "trap" and c.variant == "avx2" and c.algorithm == "cipher"
    ]
    assert [(c.lost, str(c.mask), c.mask.closed) for c in traps] == [
        ("ssse3", "none", frozenset()),
        ("avx2", "ssse3", frozenset({"ssse3", "avx"})),
    ]


def test_a_cpu_that_does_not_start_is_replaced_by_the_next_string(small: Catalog) -> None:
    broken = CpuAbility(False, note="no property neon")
    cells = every_cell(small, abilities(**{"a9,neon=off": broken}))
    assert {c.cpu for c in cells if c.target == "arm" and c.enforcement == "hard" and not c.mask.names} == {
        "a9-without"
    }
    assert [c.id for c in cells if c.reason] == []


def test_without_any_cpu_that_starts_the_cell_is_a_skip_that_says_why(small: Catalog) -> None:
    broken = CpuAbility(False, note="no property neon")
    cells = every_cell(small, abilities(**{"a9,neon=off": broken, "a9-without": CpuAbility(False)}))
    skipped = cell(cells, "arm/hard/none/cipher")
    assert skipped.reason == CANNOT_EXPRESS
    assert "a9,neon=off: no property neon" in skipped.detail
    assert "a9-without: does not start" in skipped.detail
    assert not cell(cells, "arm/hard/neon/cipher").reason
    assert not cell(cells, "arm/soft/none/cipher").reason


def test_a_hard_cpu_that_executes_too_much_is_a_skip(small: Catalog) -> None:
    loose = CpuAbility(True, frozenset({"neon"}))
    cells = every_cell(small, abilities(**{"a9,neon=off": loose, "a9-without": loose}))
    for name in ("arm/hard/none/cipher-neon", "arm/hard/none/dispatch", "arm-old/hard/none/cipher-c"):
        assert cell(cells, name).reason == CANNOT_EXPRESS
        assert "executes neon all the same" in cell(cells, name).detail


def test_too_much_counts_outside_the_lattice_too(small: Catalog) -> None:
    cells = every_cell(small, abilities(qemu64=CpuAbility(True, frozenset({"adx"}))))
    assert "executes adx all the same" in cell(cells, "x64/hard/none/cipher-c").detail
    assert not cell(cells, "x64/hard/ssse3/cipher").reason


def test_a_cpu_that_executes_too_little_is_a_skip(small: Catalog) -> None:
    cells = every_cell(small, abilities(a9=CpuAbility(True), max=CpuAbility(True, frozenset({"ssse3"}))))
    assert "cannot execute neon" in cell(cells, "arm/hard/neon/cipher-neon").detail
    assert not cell(cells, "x64/soft/ssse3/cipher").reason
    assert cell(cells, "x64/soft/ssse3+avx2/cipher").cpu == "max,enforce"
    assert cell(cells, "arm/soft/neon/cipher").reason == CANNOT_EXPRESS


def test_a_soft_cpu_may_execute_more_than_the_mask(small: Catalog) -> None:
    assert not cell(every_cell(small, abilities()), "x64/soft/none/cipher").reason


def test_what_was_not_probed_is_a_skip(small: Catalog) -> None:
    cells = every_cell(small, Abilities())
    assert {c.reason for c in cells} == {CANNOT_EXPRESS}
    assert {"was not probed" in c.detail for c in cells} == {True}


def test_a_mask_without_a_cpu_is_a_skip_and_the_variant_itself_runs_softly(tree: "Tree") -> None:
    tree.change("images/targets.toml", 'strings = ["a57"]\nhas     = ["aes"]', 'strings = ["x"]\nhas = []')
    tree.change("images/targets.toml", 'strings = ["a9"]\nhas     = ["neon"]', 'strings = ["y"]\nhas = []')
    catalog = tree.load()
    cells = every_cell(catalog, None)
    assert cell(cells, "arm/hard/neon/cipher").reason == CANNOT_EXPRESS
    assert "that has neon and nothing more" in cell(cells, "arm/hard/neon/cipher").detail
    assert cell(cells, "arm/soft/neon/cipher-neon").cpu == "max"
    assert find(cells, "arm/hard/neon/cipher-neon") is None


def test_a_native_cell_needs_a_machine_that_has_the_mask(tree: "Tree") -> None:
    tree.change("images/targets.toml", 'name        = "x64"', 'name = "x64"\nnative = true')
    catalog = tree.load()
    host = {("x86_64", NATIVE): CpuAbility(True, frozenset({"ssse3"}))}
    cells = every_cell(catalog, Abilities({**abilities().cpus, **host}))
    assert not cell(cells, "x64/native/ssse3/cipher-ssse3").reason
    assert cell(cells, "x64/native/ssse3+avx2/cipher-avx2").reason == HOST_LACKS
    assert cell(cells, "x64/native/ssse3+avx2/cipher-avx2").detail == "lacks avx avx2"
    assert not cell(cells, "x64/hard/ssse3+avx2/cipher-avx2").reason
    other = {("x86_64", NATIVE): CpuAbility(False, note="an ARM machine")}
    assert cell(every_cell(catalog, Abilities(other)), "x64/native/none/cipher-c").detail == "an ARM machine"
    assert cell(every_cell(catalog, abilities()), "x64/native/none/cipher-c").detail == "was not probed"


def test_the_first_mask_of_each_distinct_choice_runs_the_boundary_corpus(small: Catalog) -> None:
    cells = every_cell(small, abilities())
    for enforcement in EMULATED:
        prefix = f"x64/{enforcement}/"
        tiers = {c.id.removeprefix(prefix): c.tier for c in cells if c.kind == "mask" and c.id.startswith(prefix)}
        assert tiers["none/cipher"] == tiers["ssse3/cipher"] == tiers["ssse3+avx2/cipher"] == "boundary"
        assert tiers["none/hash"] == tiers["ssse3+avx2/hash"] == "boundary"
        assert tiers["ssse3/hash"] == "smoke"


def test_a_composition_is_distinct_where_its_parts_are(tree: "Tree") -> None:
    tree.put("kernels/both/both.toml", (tree.root / "kernels/cipher/cipher.toml").read_text())
    tree.kernel("both", "composed", provides=["xor"], state=None, composes=["hash"])
    cells = every_cell(tree.load(), None)
    tiers = {
        str(c.mask): c.tier for c in cells if c.id.startswith("x64/hard/") and c.algorithm == "both" and not c.variant
    }
    assert tiers == {"none": "boundary", "ssse3": "smoke", "ssse3+avx2": "boundary"}


def test_a_skipped_mask_does_not_count_as_the_first(small: Catalog) -> None:
    cells = every_cell(small, abilities(qemu64=CpuAbility(False)))
    assert cell(cells, "x64/hard/none/hash").reason
    assert cell(cells, "x64/hard/ssse3/hash").tier == "boundary"
    assert cell(cells, "x64/soft/ssse3/hash").tier == "smoke"


def test_by_name_and_traps_run_the_full_tier_on_the_cpu_of_their_mask(small: Catalog) -> None:
    cells = every_cell(small, abilities())
    own = [c for c in cells if c.kind in ("trap", "dispatch") or (c.kind == "variant" and c.enforcement == "hard")]
    assert {c.tier for c in own} == {"full"}


def test_by_name_runs_the_boundary_corpus_on_the_richest_cpu_too(small: Catalog) -> None:
    cells = every_cell(small, abilities())
    rich = cell(cells, "x64/soft/ssse3/cipher-ssse3")
    assert (rich.cpu, rich.tier, rich.kind) == ("max", "boundary", "variant")
    assert find(cells, "arm-old/soft/none/cipher-c") is None  # the richest is that of the mask


def test_every_cpu_string_that_a_cell_may_use_is_probed(small: Catalog) -> None:
    everything = {target.name for target in small.targets.targets}
    probed = {(target.qemu, text) for target, text in cpu_strings(small, everything, all_checks())}
    wanted = {("qemu-x86_64", text) for text in (*EXECUTES, "max") if text[0] in "mq"}
    wanted |= {("qemu-arm32", text) for text in (*EXECUTES, "max") if text[0] in "ma" and "enforce" not in text}
    assert probed == wanted - {("qemu-arm32", "a57")}


def test_only_the_wanted_targets_are_probed(small: Catalog) -> None:
    assert {text for _, text in cpu_strings(small, {"arm-old"}, all_checks())} == {"a9,neon=off", "a9-without"}
    assert cpu_strings(small, set(), all_checks()) == ()


def test_the_guest_is_target_provider_and_cpu(small: Catalog) -> None:
    cells = every_cell(small, None)
    assert cell(cells, "x64/soft/none/hash").guest == ("x64", "kernels", "max")
    assert find(cells, "x64/soft/none/hush") is None


@pytest.mark.parametrize("foreign", ["mine", "kernels"])
def test_another_providers_cells_carry_its_name(small: Catalog, foreign: str) -> None:
    provider = small.provider("kernels")
    theirs = type(provider)(foreign, provider.root, provider.interfaces, provider.variants)
    cells = every_cell(type(small)(small.capabilities, small.targets, (theirs,), small.root, small.instructions), None)
    prefix = "" if foreign == "kernels" else "mine:"
    assert find(cells, f"x64/hard/none/{prefix}cipher-c")
    assert find(cells, f"x64/hard/none/{prefix}dispatch")


def test_a_variant_without_a_trap_cell_has_a_reason_and_only_such_a_one(catalog: Catalog) -> None:
    """The repository's own: each has a trap cell for what it requires, or says why not."""
    traps = {(cell.target, cell.algorithm, cell.variant) for cell in every_cell(catalog, None) if cell.kind == "trap"}
    for target in catalog.targets.targets:
        table = catalog.capabilities[target.arch]
        for variant in catalog.provider("kernels").for_target(target, table):
            has = (target.name, variant.algorithm, variant.name) in traps
            assert has == (not why_no_trap(variant, catalog.instructions[target.arch])), (
                target.name,
                variant.path.name,
            )


def test_the_reason_names_what_no_assembler_refuses(tree: "Tree") -> None:
    tree.kernel("cipher", "plain", "arm32", requires=[], priority=5)
    loaded = tree.load()
    variants = {variant.name: variant for variant in loaded.provider("kernels").variants}
    table = loaded.instructions["arm32"]
    assert "accepts instructions of neon aes unasked" in why_no_trap(variants["plain"], table)
    assert why_no_trap(variants["c"], table) == "no capability is required, so there is no CPU to trap on"
    assert why_no_trap(variants["neon"], table) == ""


_LZCNT = """
[[capability]]
name   = "lzcnt"
arch   = ["x86_64"]
detect = { word = "7.ebx", bit = 20 }
qemu   = ["+lzcnt"]
probe  = "nop"
"""
_ROW = """
[[instruction]]
arch  = ["x86_64"]
needs = ["lzcnt"]
names = "{names}"
traps = {traps}
"""


@pytest.mark.parametrize("some_trap", [False, True])
def test_no_trap_cell_takes_away_what_no_sigill_shows(tree: "Tree", some_trap: bool) -> None:
    """A CPU without LZCNT executes bsr in its place; a capability with one instruction that traps has its cell."""
    for name, text in (
        ("capabilities", _LZCNT),
        ("instructions", _ROW.format(names="lzcnt", traps="false")),
        ("instructions", _ROW.format(names="other", traps="true") if some_trap else ""),
    ):
        path = tree.root / "kernels" / f"{name}.toml"
        tree.put(f"kernels/{name}.toml", path.read_text() + text)
    tree.kernel("cipher", "lz", "x86_64", requires=["ssse3", "lzcnt"], priority=40)
    loaded = tree.load()
    cells = [cell for cell in every_cell(loaded, None) if cell.kind == "trap" and cell.variant == "lz"]
    assert [cell.lost for cell in cells] == ["ssse3", "lzcnt"][: 1 + some_trap]
    [variant] = [one for one in loaded.provider("kernels").variants if one.name == "lz"]
    why = "" if some_trap else "none takes lzcnt away: a CPU without it raises no SIGILL but does something else"
    assert why_no_trap(variant, loaded.instructions["x86_64"]) == why


def test_what_the_rows_of_the_repository_show(catalog: Catalog) -> None:
    """tzcnt shows no loss of BMI2, but mulx does; each of the repository's capabilities has such an instruction."""
    for table in catalog.instructions.values():
        for name in table.capabilities.names:
            closed = table.capabilities.closure([name])
            assert not table.silent(closed, table.capabilities.without(closed, name)), (table.arch, name)
    x86_64 = catalog.instructions["x86_64"]
    found = x86_64.find(["tzcnt"], "core", False)
    assert found is not None
    assert not found.traps
    bti = catalog.instructions["aarch64"].find(["bti"], "core", False)
    assert bti is not None
    assert bti.names == (), "a hint: no capability, so that nothing is there to take away"
