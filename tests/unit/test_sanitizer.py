"""What is taken from a sanitizer's report."""

from matrix.run.sanitizer import reported

ADDRESS = """=================================================================
==7==ERROR: AddressSanitizer: stack-buffer-overflow on address 0x7fe4 at pc 0x4a sp 0x7f
READ of size 4 at 0x7fe4 thread T0
    #0 0x4a in chacha20_xor_c kernels/chacha20/chacha20_c.c:137
SUMMARY: AddressSanitizer: stack-buffer-overflow kernels/chacha20/chacha20_c.c:137 in chacha20_xor_c
"""
UNDEFINED = "sources/1f2e3d/sha1_c.c:32:106: runtime error: left shift of 165 by 24 places cannot be represented\n"


def test_the_kind_and_the_line_are_taken() -> None:
    assert reported(ADDRESS) == "stack-buffer-overflow at kernels/chacha20/chacha20_c.c:137 in chacha20_xor_c"
    assert reported(ADDRESS[-110:]) == reported(ADDRESS)  # only the end of a long report is kept


def test_the_copy_that_was_compiled_is_called_by_its_own_name() -> None:
    assert reported(UNDEFINED) == "left shift of 165 by 24 places cannot be represented at sha1_c.c:32:106"


def test_what_no_sanitizer_wrote_is_no_report() -> None:
    assert reported("") == ""
    assert reported("worker: stack for kernels: Cannot allocate memory\n") == ""
