"""Each instruction of a variant's object by what a CPU must have for it, compared with what the variant requires."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from matrix.build.code import Code, Instruction
from matrix.build.source_lines import SourceLines
from matrix.model.instructions import InstructionTable, Needs

_CONDITIONS = ("eq", "ne", "hs", "cs", "lo", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al")
_IN_ADDRESS = re.compile(r"\[[^\]]*\]")
_ARM_VECTOR = re.compile(r"\b([sdq])(\d+)\b")
_ARM_CORE = re.compile(r"\b(r\d+|sp|lr|pc|ip|sl|fp|apsr_nzcv)\b")
_A64_VECTOR = re.compile(r"\b([vqdshb])\d+\b")
_A64_SCALABLE = re.compile(r"\b[zp]\d+\b")
_A64_HALF = re.compile(r"\.\d?h\b|\bh\d+\b")
_X86_VECTOR = re.compile(r"\b([xyz]?mm)(\d+)\b")
_X86_MASK = re.compile(r"\bk[0-7]\b")
_SEGMENTS = bytes([0x26, 0x2E, 0x36, 0x3E, 0x64, 0x65, 0x67])
"""Prefixes of segment and address size, the only ones before an EVEX encoding."""
_EVEX = b"\x62"


@dataclass(frozen=True)
class Use:
    """The first instruction of an object that needs ``needs`` (None: no row of the table names it), its offset in the
    section, and how many there are."""

    needs: Needs | None
    text: str
    offset: int
    place: str
    count: int


@dataclass(frozen=True)
class Uses:
    """What the instructions of an object need, and where it runs into data that might hide others."""

    uses: tuple[Use, ...]
    into_data: tuple[str, ...]

    def needed(self) -> frozenset[str]:
        """Capabilities and extensions that the object uses."""
        return frozenset(name for use in self.uses if use.needs for name in use.needs.names)


def extension_problems(found: Uses, elf: bytes, table: InstructionTable, requires: Iterable[str]) -> list[str]:
    """What is ``found`` in the object ``elf`` and its variant's ``requires`` does not allow, one line for each kind."""
    closed = table.capabilities.closure(requires)
    named = f"requires names {' '.join(table.capabilities.sorted(requires)) or 'nothing'}"
    lines = []
    sources: SourceLines | None = None
    for use in found.uses:
        lacking = [name for name in use.needs.names if not table.granted(name, closed)] if use.needs else []
        if use.needs and not lacking:
            continue
        sources = sources or SourceLines(elf)
        line = sources.find(use.offset)
        where = f"{line}: {use.text} at {use.place}" if line else f"{use.text} at {use.place}"
        more = f" ({use.count - 1} more)" if use.count > 1 else ""
        if use.needs is None:
            lines.append(f"error: {where} is {_unknown(use.text)}{more}")
        for name in lacking:
            silent = "" if use.needs and use.needs.traps else _SILENT
            lines.append(f"error: {where} needs {name}, and {named}{more}: {table.advice(name)}{silent}")
    return lines


def into_data_problems(found: Uses) -> list[str]:
    """Where the code of assembly runs into data, one line each."""
    return [
        f"error: {place} is data, and the code before it runs into it: instructions that hide in data cannot be looked "
        "at; write them with .inst, or branch around the data"
        for place in found.into_data
    ]


_SILENT = "; a CPU without it raises no SIGILL but does something else"


def _unknown(text: str) -> str:
    if text.startswith("bytes "):
        return "no instruction: give data in a code section a symbol of type object with a size, or put it into .rodata"
    return (
        "in no row of kernels/instructions.toml, so that nobody knows what it needs: add it to the row where it belongs"
    )


def uses_of(code: Code, table: InstructionTable) -> Uses:
    """What the instructions of an object need."""
    first: dict[Needs | str, Instruction] = {}
    counts: dict[Needs | str, int] = {}
    for one in code.instructions:
        key = _needs(table, one) or one.mnemonic
        first.setdefault(key, one)
        counts[key] = counts.get(key, 0) + 1
    uses = tuple(
        Use(
            key if isinstance(key, Needs) else None,
            str(one),
            one.offset,
            code.place(one.section, one.offset),
            counts[key],
        )
        for key, one in first.items()
    )
    return Uses(uses, tuple(code.place(*where) for where in code.entered_data))


def _needs(table: InstructionTable, one: Instruction) -> Needs | None:
    if not one.mnemonic:
        return None
    evex = table.arch.startswith("x86") and one.mnemonic != "bound" and one.raw.lstrip(_SEGMENTS)[:1] == _EVEX
    return classify(table, one.mnemonic, one.operands, evex)


def classify(table: InstructionTable, mnemonic: str, operands: str, evex: bool = False) -> Needs | None:
    """What an instruction needs, by its text in capstone's words; None when no row of the table names it.

    ``evex`` is whether an x86 instruction is encoded as those of AVX-512 are.
    """
    form, extra = _FORMS[table.arch](operands)
    needs = _found(table, mnemonic, form, "[" in operands)
    if evex:
        extra = ("avx512",)
    if extra:
        return Needs(tuple(dict.fromkeys([*(needs.names if needs else ()), *extra])))
    return needs


@lru_cache(maxsize=16384)
def _found(table: InstructionTable, mnemonic: str, form: str, memory: bool) -> Needs | None:
    return table.find(_names(table.arch, mnemonic), form, memory)


def _names(arch: str, mnemonic: str) -> Iterator[str]:
    """The names under which the table may have an instruction, the most exact first."""
    if arch != "arm32":
        yield mnemonic.split()[-1]  # behind x86's prefixes
        return
    head, *types = mnemonic.split(".")
    kept = [part for part in types if part not in ("w", "n")]
    yield ".".join([head, *kept])
    if head.endswith(_CONDITIONS):
        yield ".".join([head[:-2], *kept])


def _arm_form(operands: str) -> tuple[str, tuple[str, ...]]:
    outside = _IN_ADDRESS.sub("", operands)
    vectors = {(kind, int(number)) for kind, number in _ARM_VECTOR.findall(outside)}
    if not vectors:
        return "core", ()
    high = any((kind == "d" and number > 15) or (kind == "q" and number > 7) for kind, number in vectors)
    form = "move" if _ARM_CORE.search(outside) else max((kind for kind, _ in vectors), key="sdq".index)
    return form, ("d32",) if high else ()


def _a64_form(operands: str) -> tuple[str, tuple[str, ...]]:
    if _A64_SCALABLE.search(operands):
        return "sve", ("sve",)
    if not _A64_VECTOR.search(operands):
        return "core", ()
    if ".1q" in operands:
        return "1q", ()
    return ("half" if _A64_HALF.search(operands) else "vector"), ()


def _x86_form(operands: str) -> tuple[str, tuple[str, ...]]:
    vectors = {(kind, int(number)) for kind, number in _X86_VECTOR.findall(operands)}
    kinds = {kind for kind, _ in vectors}
    if "zmm" in kinds or _X86_MASK.search(operands) or any(number > 15 for _, number in vectors):
        return "zmm", ("avx512",)
    widest = next((kind for kind in ("ymm", "xmm", "mm") if kind in kinds), "core")
    return ("mmx" if widest == "mm" else widest), ()


_FORMS = {"arm32": _arm_form, "aarch64": _a64_form, "x86": _x86_form, "x86_64": _x86_form}
"""What the operands of an instruction are, and the extensions that their registers need by themselves."""
