"""Where a pc lies in an executable, and what stands there."""

from typing import TYPE_CHECKING

import pytest

from matrix.errors import GuestError
from matrix.run.symbols import Symbols, defined_functions

if TYPE_CHECKING:
    from tests.unit.conftest import MakeElf

AT = 0x10000
X86 = b"\x90\x90\x0f\x0b\x90\xc3"
"""nop; nop; ud2; nop; ret"""


def test_a_pc_is_named_by_the_function_around_it(make_elf: "MakeElf") -> None:
    symbols = Symbols(make_elf(X86, {"one": (0, 2), "two": (2, 3)}), "x86_64")
    assert symbols.locate(AT) == ("one", 0)
    assert symbols.locate(AT + 1) == ("one", 1)
    assert symbols.locate(AT + 2) == ("two", 0)
    assert symbols.locate(AT + 4) == ("two", 2)
    assert symbols.locate(AT + 5) is None
    assert symbols.locate(AT - 1) is None


def test_a_function_without_a_size_names_nothing(make_elf: "MakeElf") -> None:
    assert Symbols(make_elf(X86, {"label": (0, 0)}), "x86_64").locate(AT) is None


def test_the_instruction_at_a_pc(make_elf: "MakeElf") -> None:
    symbols = Symbols(make_elf(X86, {"f": (0, 6)}), "x86_64")
    assert symbols.instruction(AT + 2) == "ud2"
    assert symbols.instruction(AT + 5) == "ret"
    assert symbols.instruction(AT + 6) == "outside the program"


def test_what_is_no_instruction_is_shown_as_bytes(make_elf: "MakeElf") -> None:
    assert Symbols(make_elf(b"\x06\x06\x06\x06", {"f": (0, 4)}), "x86_64").instruction(AT) == "bytes 06060606"


@pytest.mark.parametrize(
    ("arch", "code", "text"),
    [
        ("arm32", b"\x1e\xff\x2f\xe1", "bx lr"),
        ("aarch64", b"\xc0\x03\x5f\xd6", "ret"),
        ("x86", b"\x40", "inc eax"),
    ],
)
def test_each_architecture_reads_its_own_code(make_elf: "MakeElf", arch: str, code: bytes, text: str) -> None:
    assert Symbols(make_elf(code, {"f": (0, len(code))}), arch).instruction(AT) == text


def test_thumb_functions_have_bit_0_set_in_their_symbol_only(make_elf: "MakeElf") -> None:
    symbols = Symbols(make_elf(b"\x1e\xff\x2f\xe1\x70\x47", {"arm": (0, 4), "thumb": (5, 2)}), "arm32")
    assert symbols.locate(AT + 4) == ("thumb", 0)
    assert symbols.thumb_start("thumb") == AT + 4
    assert symbols.thumb_start("arm") is None
    assert symbols.thumb_start("nothing") is None
    assert symbols.instruction(AT + 4) == "bx lr"
    assert symbols.instruction(AT) == "bx lr"


def test_the_functions_that_a_file_defines(make_elf: "MakeElf") -> None:
    assert defined_functions(make_elf(X86, {"one": (0, 2), "two": (2, 0)})) == {"one", "two"}


def test_a_stripped_worker_is_an_error(make_elf: "MakeElf") -> None:
    stripped = make_elf(X86, {"f": (0, 2)}).replace(b".symtab", b".comment"[:7])
    with pytest.raises(GuestError, match="no symbols"):
        Symbols(stripped, "x86_64")


AUTIASP = b"\x1f\x20\x03\xd5\xbf\x23\x03\xd5\xc0\x03\x5f\xd6"
"""nop; autiasp; ret"""


def test_a_failed_pointer_authentication_is_named(make_elf: "MakeElf") -> None:
    """Without FPAC the return to the mangled address faults; with it AUTIASP itself does."""
    symbols = Symbols(make_elf(AUTIASP, {"f": (0, 12)}), "aarch64")
    mangled = symbols.authentication(0x0026_0000_0000_0000 | AT + 8, "SIGSEGV")
    assert mangled == "a return to f+0x8 by an address that is still signed, or has failed its authentication"
    assert "pointer authentication has failed" in symbols.authentication(AT + 4, "SIGILL")


@pytest.mark.parametrize(
    ("arch", "pc", "name"),
    [
        ("aarch64", AT, "SIGSEGV"),
        ("aarch64", AT, "SIGILL"),
        ("aarch64", 0x0026_0000_0000_0000 | AT + 0x1000, "SIGSEGV"),
        ("x86_64", 0x0026_0000_0000_0000 | AT + 8, "SIGSEGV"),
    ],
)
def test_other_crashes_are_no_failed_authentication(make_elf: "MakeElf", arch: str, pc: int, name: str) -> None:
    assert Symbols(make_elf(AUTIASP, {"f": (0, 12)}), arch).authentication(pc, name) == ""
