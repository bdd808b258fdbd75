"""What each instruction needs, by the repository's table; the bytes in instructions.txt are the assemblers'."""

from pathlib import Path

import capstone
import pytest

from matrix.build.extensions import classify
from matrix.errors import TableError
from matrix.model.capability import load_capabilities
from matrix.model.catalog import Catalog
from matrix.model.instructions import load_instructions

from .conftest import Tree

SAMPLES = Path(__file__).with_name("instructions.txt")
V8 = capstone.CS_MODE_V8
DISASSEMBLERS = {
    "x86": (capstone.CS_ARCH_X86, capstone.CS_MODE_32),
    "x86_64": (capstone.CS_ARCH_X86, capstone.CS_MODE_64),
    "aarch64": (capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM),
    "arm": (capstone.CS_ARCH_ARM, capstone.CS_MODE_ARM | V8),
    "thumb": (capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | V8),
}


def samples(kind: str) -> list[tuple[bytes, str, str]]:
    """(bytes, what is needed, text) of the samples for one disassembler."""
    rows = []
    for line in SAMPLES.read_text().splitlines():
        if line.split()[0] == kind:
            rows.append((bytes.fromhex(line[8:32].strip()), line[32:48].strip(), line[48:]))
    return rows


@pytest.mark.parametrize("kind", DISASSEMBLERS)
def test_every_sample_needs_what_the_manual_says(catalog: Catalog, kind: str) -> None:
    table = catalog.instructions["arm32" if kind in ("arm", "thumb") else kind]
    disassembler = capstone.Cs(*DISASSEMBLERS[kind])
    wrong = []
    rows = samples(kind)
    for raw, wanted, text in rows:
        [(_, _, mnemonic, operands)] = disassembler.disasm_lite(raw, 0)
        evex = kind.startswith("x86") and raw[0] == 0x62
        needs = classify(table, mnemonic, operands, evex)
        found = "?" if needs is None else (" ".join(needs.names) or "-") + ("" if needs.traps else " silent")
        if found != wanted:
            wrong.append(f"{text}: {found}, not {wanted}")
    assert rows
    assert not wrong


def test_what_a_capability_brings(catalog: Catalog) -> None:
    x86, x86_64 = catalog.instructions["x86"], catalog.instructions["x86_64"]
    assert not x86.granted("sse2", frozenset())
    assert x86_64.granted("sse2", frozenset())
    assert x86.granted("bmi1", frozenset({"bmi2"}))
    assert not x86.granted("bmi1", frozenset({"avx2"}))
    assert not x86_64.granted("avx512", x86_64.capabilities.closure(x86_64.capabilities.names))
    assert x86.advice("bmi1").startswith("name bmi2 in requires")
    assert x86.advice("aesni").startswith("name aesni in requires")
    assert "no capability of x86 brings it" in x86.advice("fma")


EXTENSION = '[[extension]]\nname = "{name}"\narch = ["arm32"]\n{more}\n'
INSTRUCTION = '[[instruction]]\narch = ["{arch}"]\nneeds = ["{needs}"]\nnames = "{names}"\n{more}\n'


def _instruction(names: str = "vadd.i32", needs: str = "neon", arch: str = "arm32", more: str = "") -> str:
    return INSTRUCTION.format(names=names, needs=needs, arch=arch, more=more)


@pytest.mark.parametrize(
    ("text", "where", "why"),
    [
        (_instruction(needs="noen"), "instruction vadd.i32, key needs", "did you mean 'neon'"),
        (_instruction(more='forms = ["w"]'), "instruction vadd.i32, key forms", "'w' is none of core, s, d, q, move"),
        (_instruction(more='but = { w = ["neon"] }'), "key but", "'w' is none of"),
        (_instruction(arch="arm64"), "key arch", "'arm64' is none of arm32"),
        (_instruction() * 2, "instruction vadd.i32", "two rows of arm32 name it"),
        (EXTENSION.format(name="neon", more=""), "extension neon (arm32)", "a capability has it too"),
        (EXTENSION.format(name="d32", more='with = ["noen"]'), "key with", "did you mean 'neon'"),
        (EXTENSION.format(name="d32", more='with = ["neon"]\nalways = true'), "extension d32", "at most one"),
    ],
)
def test_a_wrong_table_is_one_message(tree: Tree, text: str, where: str, why: str) -> None:
    capabilities = load_capabilities(tree.root / "kernels" / "capabilities.toml")
    path = tree.put("kernels/instructions.toml", text)
    with pytest.raises(TableError) as caught:
        load_instructions(path, capabilities)
    assert where in caught.value.where
    assert why in caught.value.why


def test_a_name_goes_before_a_pattern_and_the_operands_decide(tree: Tree) -> None:
    rows = _instruction("vmull.*") + _instruction("vmull.p64", "aes") + _instruction("vmov", more='forms = ["q"]')
    path = tree.put("kernels/instructions.toml", rows)
    table = load_instructions(path, load_capabilities(tree.root / "kernels" / "capabilities.toml"))["arm32"]
    found = table.find(["vmull.p64"], "q", False)
    assert found is not None
    assert found.names == ("aes",)
    found = table.find(["vmull.u32"], "q", False)
    assert found is not None
    assert found.names == ("neon",)
    assert table.find(["vmov"], "d", False) is None
