"""What an object's property note claims of control flow (CET on x86, BTI on AArch64), and whether that is true."""

import io
from itertools import pairwise

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection

from matrix.build.code import Code, Function

_NOTE = "NT_GNU_PROPERTY_TYPE_0"
_FEATURES = {
    "x86": ("GNU_PROPERTY_X86_FEATURE_1_AND", {1: "IBT", 2: "SHSTK"}),
    "x86_64": ("GNU_PROPERTY_X86_FEATURE_1_AND", {1: "IBT", 2: "SHSTK"}),
    "aarch64": ("GNU_PROPERTY_AARCH64_FEATURE_1_AND", {1: "BTI", 2: "PAC"}),
}
"""The property that a program has only when all its objects have it, and its bits (System V ABI for AMD64 and i386,
Linux extensions; ELF for the Arm 64-bit Architecture)."""
_PADS = {
    "x86": frozenset({"endbr32"}),
    "x86_64": frozenset({"endbr64"}),
    "aarch64": frozenset({"bti c", "bti jc", "paciasp", "pacibsp"}),
    "arm32": frozenset[str](),
}
"""Instructions where an indirect call may arrive."""
_SIGNING = ("pacia", "pacib", "retaa", "retab")


def claims(elf: bytes, arch: str) -> frozenset[str]:
    """What the object's note claims: IBT, SHSTK, BTI, PAC. Raises ELFError, ValueError."""
    wanted, bits = _FEATURES.get(arch, ("", {}))
    found: set[str] = set()
    for section in ELFFile(io.BytesIO(elf)).iter_sections():
        if not isinstance(section, NoteSection):
            continue
        for note in section.iter_notes():
            if note["n_type"] == _NOTE:
                for row in note["n_desc"]:
                    if row["pr_type"] == wanted:
                        found |= {name for bit, name in bits.items() if row["pr_data"] & bit}
    return frozenset(found)


def pad(code: Code, function: Function) -> str:
    """The landing pad at the start of ``function``, or an empty text."""
    first = code.at(function.section, function.start)
    return str(first) if first and str(first) in _PADS[code.arch] else ""


def landing_problems(elf: bytes, code: Code) -> list[str]:
    """Claims of the object that are not true, one line each. Raises ELFError, ValueError."""
    claimed = claims(elf, code.arch)
    lines = []
    for feature in sorted(claimed & {"IBT", "BTI"}):
        wanted = " or ".join(sorted(_PADS[code.arch]))
        for function in code.functions:
            if function.exported and function.section >= 0 and not pad(code, function):
                first = code.at(function.section, function.start)
                lines.append(
                    f"error: the object claims {feature}, and {function.name} begins with {first}: an indirect call of "
                    f"it dies on a CPU that enforces {feature}; begin it with {wanted}, or leave the note out"
                )
    if "SHSTK" in claimed:
        for one, following in pairwise(code.instructions):
            if one.mnemonic == "push" and following.mnemonic == "ret" and one.section == following.section:
                lines.append(
                    f"error: the object claims SHSTK, and {code.place(following.section, following.offset)} returns to "
                    "an address that it pushed: a CPU with a shadow stack refuses it; jump, or leave the note out"
                )
    if "PAC" in claimed and not any(one.mnemonic.startswith(_SIGNING) for one in code.instructions):
        lines += [
            f"error: the object claims PAC, and {function.name} saves the return address unsigned: begin it with "
            "paciasp, or leave the note out"
            for function in _saving(code)
        ]
    return lines


def _saving(code: Code) -> list[Function]:
    """Exported functions that store x30 somewhere."""
    found = []
    for function in code.functions:
        inside = (
            one
            for one in code.instructions
            if one.section == function.section and 0 <= one.offset - function.start < function.size
        )
        if function.exported and any(one.mnemonic in ("stp", "str") and "x30" in one.operands for one in inside):
            found.append(function)
    return found
