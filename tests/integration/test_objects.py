"""What our own variants' objects use, on every target; the samples of instructions are what the assemblers make."""

import io
import json
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from matrix.model.catalog import load_catalog

from . import support

SAMPLES = support.REPOSITORY / "tests" / "unit" / "instructions.txt"
ASSEMBLERS = {
    "x86": ["i686-linux-gnu-gcc"],
    "x86_64": ["x86_64-linux-gnu-gcc"],
    "aarch64": ["aarch64-linux-gnu-gcc", "-march=armv8.6-a+sve+sve2+crypto+sha3+sm4+fp16"],
    "arm": ["arm-linux-gnueabihf-gcc", "-marm", "-march=armv8-a+crc", "-mfpu=crypto-neon-fp-armv8"],
    "thumb": ["arm-linux-gnueabihf-gcc", "-mthumb", "-march=armv8-a+crc", "-mfpu=crypto-neon-fp-armv8"],
}


@pytest.mark.parametrize("kind", ASSEMBLERS)
def test_the_samples_of_the_unit_tests_are_what_the_assembler_makes(kind: str, tmp_path: Path) -> None:
    rows = [(line[8:32].strip(), line[48:]) for line in SAMPLES.read_text().splitlines() if line.split()[0] == kind]
    state = [".syntax unified", f".{kind}"] if kind in ("arm", "thumb") else []
    source = tmp_path / "samples.s"
    source.write_text("\n".join([".text", *state, *(f"at{i}: {text}" for i, (_, text) in enumerate(rows)), ""]))
    subprocess.run([*ASSEMBLERS[kind], "-c", source.name, "-o", "samples.o"], cwd=tmp_path, check=True)
    file = ELFFile(io.BytesIO((tmp_path / "samples.o").read_bytes()))
    text, symbols = (file.get_section_by_name(name) for name in (".text", ".symtab"))
    assert text is not None
    assert isinstance(symbols, SymbolTableSection)
    code = text.data()
    at = {symbol.name: symbol["st_value"] for symbol in symbols.iter_symbols()}
    for number, (wanted, line) in enumerate(rows):
        start = at[f"at{number}"]
        assert code[start : start + len(wanted) // 2].hex() == wanted, line


def test_every_variant_uses_what_it_requires_and_nothing_more() -> None:
    """On every target and in ARM state: no instruction that the table does not name, and none beyond ``requires``."""
    catalog = load_catalog(support.REPOSITORY)
    targets = [target.name for target in catalog.targets.targets] + ["arm32-neon@arm"]
    done = subprocess.run(
        ["python", "-m", "matrix", "objects", "--json", "--sandbox", "host", *targets],
        cwd=support.REPOSITORY,
        env=support.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    rows = json.loads(done.stdout)
    assert {row["target"] for row in rows} == set(targets)
    for row in rows:
        label = f"{row['target']}: {row['variant']}"
        assert "failed" not in row, f"{label}: {row['failed']}"
        arch = catalog.targets.get(row["target"].partition("@")[0]).arch
        table, uses = catalog.instructions[arch], set(row["uses"])
        closed = table.capabilities.closure(row["requires"])
        assert all(table.granted(name, closed) for name in uses), f"{label} uses {uses}"
        used = table.capabilities.closure(name for name in uses if name in table.capabilities.by_name)
        idle = set(row["requires"]) - used
        assert not [name for name in idle if not any(table.granted(use, frozenset({name})) for use in uses)], label
    by_function = {(row["target"], row["function"]): row for row in rows}
    assert by_function["aarch64", "ghash_update_pmull"]["uses"] == ["neon", "pmull"]
    assert by_function["x86_64", "chacha20_xor_c"]["unwinding"] == ".eh_frame"
    assert by_function["x86_64", "chacha20_xor_ssse3"]["landing_pad"] == ""
