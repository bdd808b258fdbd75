"""What an object may call and do: the list of names, and system calls found in real code of each architecture."""

import shutil
import subprocess
from pathlib import Path

import pytest

from matrix.build.roles import KERNEL
from matrix.build.system_calls import system_calls

DATA = ".byte 0x0f, 0x05, 0xcd, 0x80"
FORM = '.text\n.globl f\n.type f, %function\nf:\n{}\n.size f, . - f\n.section .note.GNU-stack,"",%progbits\n'
X86 = "x86_64-linux-gnu-gcc"
ARM = "arm-linux-gnueabihf-gcc"
A64 = "aarch64-linux-gnu-gcc"


@pytest.mark.parametrize(
    "name",
    [
        "memcpy",
        "memcmp",
        "bcmp",
        "__memcpy_chk",
        "__aeabi_uldivmod",
        "__aeabi_memclr4",
        "__aeabi_unwind_cpp_pr0",
        "__udivdi3",
        "__umoddi3",
        "__udivmodti4",
        "__divti3",
        "__ashldi3",
        "__popcountdi2",
        "__bswapsi2",
        "__muldi3",
        "__floatundidf",
        "__fixunsdfdi",
        "__adddf3",
        "__ledf2",
        "__extendsfdf2",
        "__stack_chk_fail",
        "__aarch64_ldadd4_acq_rel",
    ],
)
def test_what_compilers_call_unasked_is_allowed(name: str) -> None:
    assert KERNEL.may_call(name)


@pytest.mark.parametrize(
    "name",
    [
        "system",
        "malloc",
        "printf",
        "fork",
        "mprotect",
        "getauxval",
        "__printf",
        "__vfprintf",
        "__libc_start_main",
        "__aeabi_atexit",
        "__aeabi_read_tp",
        "__tls_get_addr",
        "__cpu_model",
        "__errno_location",
        "memcpyx",
        "xmemcpy",
    ],
)
def test_what_they_do_not_is_refused(name: str) -> None:
    assert not KERNEL.may_call(name)


@pytest.mark.parametrize(
    ("compiler", "code", "found"),
    [
        (X86, "syscall\nret", ["syscall"]),
        (X86, "int $0x80\nret", ["int"]),
        (X86, "testl %eax, %eax\njz 1f\nret\n" + DATA + "\n1: sysenter\nret", ["sysenter"]),
        (X86, "call g\nret\n" + DATA + "\n.type g, %function\ng: movl $0x050f, %eax\nret", []),
        (X86, "jmp 1f\n" + DATA + "\n1: ret", []),
        (X86, "nop\n" * 2000 + "syscall\nret", ["syscall"]),
        (X86, "call memcpy\nret\n" + DATA, []),
        (ARM, ".arm\nsvc 0\nbx lr", ["svc"]),
        (ARM, ".arm\nsvceq 0x900001\nbx lr", ["svc"]),
        (ARM, ".syntax unified\n.thumb\nadd.w r0, r0, r1\nsvc 0\nbx lr", ["svc"]),
        (ARM, ".thumb\nbl f\nmovw r0, #0x1df\nbx lr\n.word 0xdf00df00, 0xef000000", []),
        (ARM, ".arm\nbx lr\n.word 0xef000000\nvcge.s8 d0, d1, d2", []),
        (A64, "svc #0\nret", ["svc"]),
        (A64, "ret\n.word 0xd4000001\nbrk #1", []),
    ],
)
def test_system_calls_are_found_in_code_and_not_in_data(
    tmp_path: Path, compiler: str, code: str, found: list[str]
) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"compiler-missing: {compiler}")
    flags = ["-mfpu=neon"] if compiler == ARM else []
    (tmp_path / "x.S").write_text(FORM.format(code))
    subprocess.run([compiler, *flags, "-c", tmp_path / "x.S", "-o", tmp_path / "x.o"], check=True)
    told = list(system_calls((tmp_path / "x.o").read_bytes()))
    assert [line.split()[0] for line in told] == found
    assert all(" in f, at offset " in line for line in told)
