"""What is found in code and data of an object: data that hides code, relocations, notes, writable data, profiles."""

import pytest

from matrix.build.code import Code
from matrix.build.extensions import extension_problems, into_data_problems, uses_of
from matrix.build.inspection import code_problems
from matrix.build.landing import claims, landing_problems
from matrix.build.placing import placing_script
from matrix.build.position import has_assembly, position_problems
from matrix.build.profile import Profile, profiles
from matrix.build.writable import writable_problems
from matrix.model.catalog import Catalog
from matrix.model.kernel import Variant

from .conftest import Tree
from .relocatable import ALLOC, COMMON, EXECUTE, LOCAL, NOBITS, NOTE, NOTYPE, OBJECT, SECTION, WRITE, Made

CODE = ALLOC | EXECUTE
RET = {"x86": b"\xc3", "x86_64": b"\xc3", "aarch64": b"\xc0\x03\x5f\xd6", "arm32": b"\x1e\xff\x2f\xe1"}


def made(arch: str, code: bytes, name: str = "f") -> Made:
    """An object with the function ``name`` in section 1, .text."""
    one = Made(arch)
    one.section(".text", code, CODE, 16)
    one.symbol(name, 1, 0, len(code))
    return one


def problems(catalog: Catalog, one: Made, *requires: str) -> list[str]:
    table = catalog.instructions[one.arch]
    elf = one.elf()
    found = uses_of(Code(elf, one.arch), table)
    return [*extension_problems(found, elf, table, requires), *into_data_problems(found)]


def test_an_instruction_beyond_requires_is_named_with_its_place_and_number(catalog: Catalog) -> None:
    one = made("x86_64", bytes.fromhex("90 660f3800c1 660f3800c1 c3"))
    assert problems(catalog, one, "ssse3") == []
    [line] = problems(catalog, one, "aesni")
    assert line.startswith(
        "error: pshufb xmm0, xmm1 at f+0x1 needs ssse3, and requires names aesni (1 more): name ssse3"
    )


def test_what_no_row_names_is_an_error(catalog: Catalog) -> None:
    [line] = problems(catalog, made("x86", bytes.fromhex("0fa2 c3")), "sse2")
    assert line.startswith("error: cpuid at f+0x0 is in no row of kernels/instructions.toml")


def test_an_instruction_that_does_not_trap_says_so(catalog: Catalog) -> None:
    [line] = problems(catalog, made("x86_64", bytes.fromhex("f30fbcc1 c3")))
    assert "tzcnt eax, ecx at f+0x0 needs bmi1, and requires names nothing: name bmi2" in line
    assert line.endswith("raises no SIGILL but does something else")


def test_bytes_in_code_that_are_no_instruction(catalog: Catalog) -> None:
    one = made("x86_64", bytes.fromhex("eb02 0606 c3"))
    [line] = problems(catalog, one)
    assert line.startswith("error: bytes 06 at f+0x2 is no instruction: give data in a code section a symbol")
    one.symbol("table", 1, 2, 2, OBJECT, LOCAL)
    assert problems(catalog, one) == []


def test_code_that_runs_into_data(catalog: Catalog) -> None:
    one = made("arm32", bytes.fromhex("8f0720f4") + RET["arm32"])
    one.symbol("$d", 1, 0, 0, NOTYPE, LOCAL)
    one.symbol("$a", 1, 4, 0, NOTYPE, LOCAL)
    assert problems(catalog, one) == []
    one = made("arm32", bytes.fromhex("0000a0e1") + bytes.fromhex("8f0720f4") + RET["arm32"])
    one.symbol("$a", 1, 0, 0, NOTYPE, LOCAL)
    one.symbol("$d", 1, 4, 0, NOTYPE, LOCAL)
    one.symbol("$a.1", 1, 8, 0, NOTYPE, LOCAL)
    [line] = problems(catalog, one)
    assert line.startswith("error: f+0x4 is data, and the code before it runs into it")


@pytest.mark.parametrize("last", ["1eff2fe1", "1080bde8", "feffffea", "04f09fe5"])
def test_data_behind_code_that_leaves(catalog: Catalog, last: str) -> None:
    one = made("arm32", bytes.fromhex(last) + bytes(8))
    one.symbol("$a", 1, 0, 0, NOTYPE, LOCAL)
    one.symbol("$d", 1, 4, 0, NOTYPE, LOCAL)
    assert problems(catalog, one) == []


def test_thumb_is_read_as_thumb(catalog: Catalog) -> None:
    one = Made("arm32")
    one.section(".text", bytes.fromhex("20f98f07 7047"), CODE, 4)
    one.symbol("f", 1, 1, 6)
    one.symbol("$t", 1, 0, 0, NOTYPE, LOCAL)
    [line] = problems(catalog, one)
    assert line.startswith("error: vld1.32 {d0}, [r0] at f+0x0 needs neon, and requires names nothing")


X64_32S, X64_PC32, X64_PLT32, X64_GOTPCRELX = 11, 2, 4, 41
A64_ABS64, A64_PAGE, A64_CALL = 257, 275, 283
ARM_MOVW, ARM_CALL = 43, 28
I386_32, I386_GOTOFF = 1, 9


@pytest.mark.parametrize(
    ("arch", "kind", "words"),
    [
        ("x86_64", X64_32S, "relocation R_X86_64_32S at .text+0x4 against table"),
        ("x86", I386_32, "relocation R_386_32 at .text+0x4 against table"),
        ("arm32", ARM_MOVW, "relocation R_ARM_MOVW_ABS_NC at .text+0x4 against table"),
        ("aarch64", A64_ABS64, "relocation R_AARCH64_ABS64 at .text+0x4 against table"),
    ],
)
def test_an_absolute_address_in_code(arch: str, kind: int, words: str) -> None:
    one = made(arch, RET[arch] * 8)
    table = one.symbol("table", 0)
    one.relocation(1, 4, kind, table)
    [line] = position_problems(one.elf(), arch)
    assert words in line
    assert "holds an absolute address" in line


@pytest.mark.parametrize(
    ("arch", "kind"), [("x86_64", X64_PC32), ("x86", I386_GOTOFF), ("aarch64", A64_PAGE), ("arm32", 46)]
)
def test_a_distance_to_what_another_module_may_have(arch: str, kind: int) -> None:
    one = made(arch, RET[arch] * 8)
    table = one.symbol("table", 1, 0, 4, OBJECT)
    one.relocation(1, 4, kind, table)
    [line] = position_problems(one.elf(), arch)
    assert "holds the distance to a symbol that another module may take over" in line
    one.hidden(table)
    assert position_problems(one.elf(), arch) == []


@pytest.mark.parametrize(
    ("arch", "kind"),
    [("x86_64", X64_PLT32), ("x86_64", X64_GOTPCRELX), ("aarch64", A64_CALL), ("arm32", ARM_CALL), ("x86", 4)],
)
def test_a_call_or_an_entry_of_the_got_may_lead_anywhere(arch: str, kind: int) -> None:
    one = made(arch, RET[arch] * 8)
    one.relocation(1, 4, kind, one.symbol("other", 0))
    assert position_problems(one.elf(), arch) == []


def test_relocations_of_data_that_the_loader_may_write_are_none_of_code() -> None:
    one = made("x86_64", b"\xc3")
    for name, flags, count in ((".data.rel.ro", ALLOC | WRITE, 0), (".rodata", ALLOC, 1), (".debug_info", 0, 1)):
        number = one.section(name, bytes(8), flags)
        one.relocation(number, 0, 1, one.symbol(f"at{name}", 0))
        assert len(position_problems(one.elf(), "x86_64")) == count


def test_a_relocation_of_no_known_type() -> None:
    one = made("x86_64", b"\xc3" * 8)
    one.relocation(1, 4, 200, one.symbol("other", 0))
    assert "relocation type 200 at .text+0x4" in position_problems(one.elf(), "x86_64")[0]


def test_assembly_in_c_is_seen() -> None:
    assert has_assembly(b'x = 1; __asm__("nop");')
    assert has_assembly(b"asm volatile (x)")
    assert not has_assembly(b"int assembly; /* asmx */")


def note(feature: int, bits: int, wide: bool = True) -> bytes:
    """A .note.gnu.property with one property."""
    row = b"".join(word.to_bytes(4, "little") for word in (feature, 4, bits)) + (bytes(4) if wide else b"")
    return b"".join(word.to_bytes(4, "little") for word in (4, len(row), 5)) + b"GNU\0" + row


X86_FEATURES, A64_FEATURES = 0xC0000002, 0xC0000000
ENDBR64, BTI_C, PACIASP, BTI_J = (bytes.fromhex(text) for text in ("f30f1efa", "5f2403d5", "3f2303d5", "9f2403d5"))


@pytest.mark.parametrize(
    ("arch", "feature", "first", "wanted"),
    [
        ("x86_64", X86_FEATURES, ENDBR64, ""),
        ("x86_64", X86_FEATURES, b"\x90", "the object claims IBT, and f begins with nop"),
        ("x86_64", X86_FEATURES, bytes.fromhex("f30f1efb"), "begins with endbr32"),
        ("aarch64", A64_FEATURES, BTI_C, ""),
        ("aarch64", A64_FEATURES, PACIASP, ""),
        ("aarch64", A64_FEATURES, BTI_J, "the object claims BTI, and f begins with bti j"),
        ("aarch64", A64_FEATURES, RET["aarch64"], "begins with ret"),
    ],
)
def test_a_note_must_be_true_of_every_exported_function(arch: str, feature: int, first: bytes, wanted: str) -> None:
    one = made(arch, first + RET[arch])
    assert landing_problems(one.elf(), Code(one.elf(), arch)) == []
    one.section(".note.gnu.property", note(feature, 1), ALLOC, 8, NOTE)
    one.symbol("helper", 1, len(first), len(RET[arch]), bind=LOCAL)
    elf = one.elf()
    found = landing_problems(elf, Code(elf, arch))
    assert len(found) == bool(wanted)
    assert all(wanted in line for line in found)


def test_a_shadow_stack_does_not_suffer_a_pushed_return() -> None:
    one = made("x86_64", bytes.fromhex("50 c3"))
    one.section(".note.gnu.property", note(X86_FEATURES, 2), ALLOC, 8, NOTE)
    elf = one.elf()
    assert claims(elf, "x86_64") == {"SHSTK"}
    [line] = landing_problems(elf, Code(elf, "x86_64"))
    assert "f+0x1 returns to an address that it pushed" in line


def test_a_claim_of_signed_return_addresses() -> None:
    saves = bytes.fromhex("fd7bbfa9")
    for code, count in ((saves + RET["aarch64"], 1), (PACIASP + saves + RET["aarch64"], 0), (RET["aarch64"], 0)):
        one = made("aarch64", code)
        one.section(".note.gnu.property", note(A64_FEATURES, 2), ALLOC, 8, NOTE)
        assert len(landing_problems(one.elf(), Code(one.elf(), "aarch64"))) == count


def test_writable_data_is_named_with_its_symbols() -> None:
    one = made("x86_64", b"\xc3")
    one.section(".data.rel.ro", bytes(8), ALLOC | WRITE)
    one.section(".data", b"", ALLOC | WRITE)
    one.section(".init_array", bytes(8), ALLOC | WRITE)
    assert writable_problems(one.elf()) == []
    number = one.section(".bss", bytes(64), ALLOC | WRITE, kind=NOBITS)
    one.symbol("scratch", number, 0, 64, OBJECT, LOCAL)
    one.symbol("cache", COMMON, 8, 32, OBJECT)
    first, second = writable_problems(one.elf())
    assert first.startswith(
        "error: section .bss holds 64 writable bytes (scratch): a kernel keeps nothing between calls"
    )
    assert second.startswith("error: cache is a common symbol of 32 writable bytes")


def test_sections_are_placed_at_an_odd_multiple_of_their_alignment() -> None:
    one = made("x86_64", b"\xc3")
    one.section(".rodata.cst16", bytes(16), ALLOC, 2)
    one.section(".eh_frame", bytes(16), ALLOC, 8)
    one.section(".debug_info", bytes(16), 0, 1)
    one.section(".rodata", b"", ALLOC, 32)
    script = placing_script({"objects/x/a.o": one.elf()})
    assert script.splitlines() == [
        "SECTIONS",
        "{",
        '  .kernel.0.text (ALIGN(32) + 16) : { "objects/x/a.o"(.text) }',
        "}",
        "INSERT AFTER .text;",
        "SECTIONS",
        "{",
        '  .kernel.1.rodata.cst16 (ALIGN(4) + 2) : { "objects/x/a.o"(.rodata.cst16) }',
        "}",
        "INSERT AFTER .rodata;",
    ]


def test_the_profile_of_exported_functions() -> None:
    one = made("x86_64", ENDBR64 + b"\xc3\xc3", "with")
    one.symbol("without", 1, 5, 1)
    one.symbol("local", 1, 5, 1, bind=LOCAL)
    text = one.symbol("", 1, 0, 0, SECTION, LOCAL)
    one.relocation(one.section(".eh_frame", bytes(64), ALLOC, 8), 32, X64_PC32, text, 0)
    assert profiles(one.elf(), "x86_64") == [
        Profile("with", ".eh_frame", "endbr64", ()),
        Profile("without", "", "", ()),
    ]


def test_a_function_that_cannot_be_unwound_on_arm() -> None:
    one = made("arm32", RET["arm32"] * 2, "cannot")
    one.symbol("can", 1, 4, 4)
    text = one.symbol("", 1, 0, 0, SECTION, LOCAL)
    table = bytes(4) + (1).to_bytes(4, "little") + (4).to_bytes(4, "little") + bytes.fromhex("b0b0b080")
    index = one.section(".ARM.exidx", table, ALLOC, 4)
    one.relocation(index, 0, 42, text)
    one.relocation(index, 8, 42, text)
    assert [(row.function, row.unwind) for row in profiles(one.elf(), "arm32")] == [
        ("can", ".ARM.exidx"),
        ("cannot", ""),
    ]


def _variant(tree: Tree, **header: object) -> Variant:
    path = tree.kernel("cipher", "fast", "x86_64", **header)
    catalog = tree.load()
    return next(one for one in catalog.provider("kernels").variants if one.path == path)


def test_the_header_claims_what_is_otherwise_refused(tree: Tree, catalog: Catalog) -> None:
    one = made("x86_64", b"\xc3" * 8)
    one.section(".bss", bytes(8), ALLOC | WRITE, kind=NOBITS)
    one.relocation(1, 4, X64_32S, one.symbol("table", 0))
    table = catalog.instructions["x86_64"]
    refused = code_problems(one.elf(), _variant(tree), table)
    assert [line.partition("holds")[0].split()[1] for line in refused] == ["section", "relocation"]
    assert code_problems(one.elf(), _variant(tree, writable="counts", position_dependent=True), table) == []


def test_what_cannot_be_read_is_told_by_the_other_checks(tree: Tree, catalog: Catalog) -> None:
    assert code_problems(b"no object", _variant(tree), catalog.instructions["x86_64"]) == []
