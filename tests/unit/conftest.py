"""Fixtures of the unit tests: the repository's own catalog, and a small repository that a test may damage."""

import json
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from matrix.model.catalog import Catalog, load_catalog
from matrix.resources import data_root

from ..signals import heed

try:
    from hypothesis import settings
except ModuleNotFoundError:
    LACKING = "hypothesis"
else:
    LACKING = ""
    settings.register_profile("unit", max_examples=20, deadline=None)
    settings.load_profile("unit")


_WHAT_LACKS = f"the unit tests need {LACKING}: `pip install {LACKING}`, or `./toxw -e unit`"


def pytest_configure() -> None:
    """Signals that a test sends arrive."""
    heed()


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Say what is missing when unit tests are collected, not before: pytest loads this file for ``--help`` too."""
    if LACKING:
        raise pytest.UsageError(_WHAT_LACKS)


def pytest_collect_file() -> None:
    """The same where this folder is only met on the way, as by ``pytest tests``."""
    if LACKING:
        raise pytest.Collector.CollectError(_WHAT_LACKS)


CAPABILITIES = """
[[capability]]
name   = "neon"
arch   = ["arm32"]
detect = { word = "hwcap", bit = 12 }
probe  = "nop"

[[capability]]
name    = "aes"
arch    = ["arm32"]
implies = ["neon"]
detect  = { word = "hwcap2", bit = 0 }
probe   = "nop"

[[capability]]
name   = "ssse3"
arch   = ["x86_64"]
detect = { word = "1.ecx", bit = 9 }
qemu   = ["+ssse3"]
probe  = "nop"

[[capability]]
name    = "avx"
arch    = ["x86_64"]
implies = ["ssse3"]
detect  = { word = "1.ecx", bit = 28, xcr0 = 6 }
qemu    = ["+xsave", "+avx"]
probe   = "nop"

[[capability]]
name    = "avx2"
arch    = ["x86_64"]
implies = ["avx"]
detect  = { word = "7.ebx", bit = 5, xcr0 = 6 }
qemu    = ["+avx2"]
probe   = "nop"

[[capability]]
name   = "adx"
arch   = ["x86_64"]
detect = { word = "7.ebx", bit = 19 }
qemu   = ["+adx"]
probe  = "nop"
"""

_TARGET = """
[[target]]
name        = "{name}"
description = "small"
arch        = "{arch}"
image       = "small"
compiler    = "cc"
qemu        = "qemu-{arch}"
packages    = []
{more}
"""

TARGETS = (
    _TARGET.format(name="arm", arch="arm32", more="")
    + _TARGET.format(name="arm-old", arch="arm32", more='without = ["neon"]')
    + _TARGET.format(name="x64", arch="x86_64", more="")
    + _TARGET.format(name="x64-c", arch="x86_64", more="assembly = false")
    + """
[[cpu]]
arch    = "arm32"
strings = ["a9,neon=off", "a9-without"]
has     = []

[[cpu]]
arch    = "arm32"
strings = ["a57"]
has     = ["aes"]

[[cpu]]
arch    = "arm32"
strings = ["a9"]
has     = ["neon"]

[[cpu]]
arch    = "arm32"
strings = ["max"]

[[cpu]]
arch    = "x86_64"
base    = "qemu64"

[[cpu]]
arch    = "x86_64"
strings = ["max", "max,enforce"]
"""
)

CIPHER = """
[call.xor]
args = ["out:out", "data:in", "len(data)", "key:in", "counter:u32+data/64"]

[op.xor]
in     = { key = "32", counter = "u32", data = "0.." }
out    = { out = "len(data)" }
steps  = ["xor*"]
split  = "data/64"
alias  = ["out=data"]
secret = ["key", "data"]
"""

HASH = """
[call.init]
args = ["ctx:out", "key:in"]

[call.update]
args = ["ctx:inout", "data:in", "len(data)"]

[call.final]
args = ["ctx:inout", "tag:out"]

[state.ctx]

[op.mac]
in    = { key = "32", data = "0.." }
out   = { tag = "16" }
steps = ["init", "update*", "final"]
split = "data/1"
"""


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(inner)}" for name, inner in value.items()) + " }"
    return json.dumps(value)


INSTRUCTIONS = """
[[extension]]
name = "vfp"
arch = ["arm32"]
always = true

[[extension]]
name = "d32"
arch = ["arm32"]
with = ["neon"]

[[instruction]]
arch  = ["arm32"]
needs = ["neon"]
forms = ["d", "q"]
but   = { q = ["neon", "d32"] }
names = "vadd.*"

[[instruction]]
arch     = ["x86_64"]
needs    = []
operands = "memory"
traps    = false
names    = "lea"
"""


class Tree:
    """A small repository: two ARM and two x86-64 targets, a stateless algorithm ``cipher`` and a streaming ``hash``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.put("kernels/capabilities.toml", CAPABILITIES)
        self.put("kernels/instructions.toml", INSTRUCTIONS)
        self.put("images/targets.toml", TARGETS)
        self.put("kernels/cipher/cipher.toml", CIPHER)
        self.put("kernels/hash/hash.toml", HASH)
        self.kernel("cipher", "c", priority=0)
        self.kernel("cipher", "neon", "arm32", requires=["neon"], priority=20)
        self.kernel("cipher", "ssse3", "x86_64", requires=["ssse3"], priority=20)
        self.kernel("cipher", "avx2", "x86_64", requires=["avx2"], priority=30, min_bytes={"xor": 65})
        self.kernel("hash", "c", priority=0)
        self.kernel("hash", "avx2", "x86_64", requires=["avx2"], priority=20)

    def put(self, name: str, text: str) -> Path:
        """Write the file ``name``."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def change(self, name: str, old: str, new: str) -> Path:
        """Replace the first ``old`` in the file ``name``."""
        path = self.root / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))
        return path

    def kernel(self, algorithm: str, variant: str, arch: str = "any", /, **header: object) -> Path:
        """Write a kernel file; assembly when it is for one architecture. ``header`` adds to or replaces its keys."""
        values: dict[str, object] = {
            "algorithm": algorithm,
            "variant": variant,
            "arch": arch,
            "provides": ["xor"] if algorithm == "cipher" else ["init", "update", "final"],
            "priority": 10,
        }
        if algorithm == "hash":
            values["state"] = {"ctx": {"bytes": 64, "align": 8, "layout": variant}}
        lines = [f"{name} = {_toml(value)}" for name, value in (values | header).items() if value is not None]
        stem = f"{algorithm}_{variant}" + ("" if arch == "any" else f"_{arch}")
        suffix = ".c" if arch == "any" else ".S"
        return self.put(f"kernels/{algorithm}/{stem}{suffix}", "/*toml\n" + "\n".join(lines) + "\n*/\n")

    def load(self) -> Catalog:
        """The catalog of the tree as it is now."""
        return load_catalog(self.root)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A small repository of this test alone."""
    return Tree(tmp_path)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """The catalog of an undamaged small repository."""
    return Tree(tmp_path_factory.mktemp("small")).load()


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    """The repository's own catalog."""
    return load_catalog(data_root())


MakeElf = Callable[[bytes, dict[str, tuple[int, int]]], bytes]
"""(code, {symbol: (offset in the code with bit 0 as in the symbol, bytes)}) to an executable loaded at CODE_AT."""
CODE_AT = 0x10000


def _make_elf(code: bytes, functions: dict[str, tuple[int, int]]) -> bytes:
    names = b"\0" + b"".join(name.encode() + b"\0" for name in functions)
    symbols = bytes(24)
    for name, (offset, size) in functions.items():
        symbols += struct.pack(
            "<IBBHQQ", names.index(b"\0" + name.encode() + b"\0") + 1, 0x12, 0, 1, CODE_AT + offset, size
        )
    section_names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    parts = [code, symbols, names, section_names]
    at = [64 + 56]
    for part in parts:
        at.append(at[-1] + len(part))
    rows = [
        (".text", 1, 6, CODE_AT, 0, 0, 0),
        (".symtab", 2, 0, 0, 3, 1, 24),
        (".strtab", 3, 0, 0, 0, 0, 0),
        (".shstrtab", 3, 0, 0, 0, 0, 0),
    ]
    sections = bytes(64)
    for (name, kind, flags, address, link, info, entry), offset, part in zip(rows, at, parts, strict=False):
        where = section_names.index(name.encode())
        sections += struct.pack("<IIQQQQIIQQ", where, kind, flags, address, offset, len(part), link, info, 1, entry)
    header = b"\x7fELF\2\1\1" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, CODE_AT, 64, at[-1], 0, 64, 56, 1, 64, 5, 4)
    program = struct.pack("<IIQQQQQQ", 1, 5, at[0], CODE_AT, CODE_AT, len(code), len(code), 1)
    return header + program + b"".join(parts) + sections


@pytest.fixture(scope="session")
def make_elf() -> MakeElf:
    """Makes small executables with symbols, without a compiler."""
    return _make_elf
