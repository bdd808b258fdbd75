"""Compiler flags of each file: the target's baseline plus only what the file requires."""

from functools import cache

from matrix.errors import ToolError
from matrix.model.capability import CapabilityTable
from matrix.model.kernel import Variant
from matrix.model.target import Target
from matrix.sandbox.base import Sandbox

COMMON = ("-O2", "-g", "-std=gnu11", "-Wall", "-Wextra", "-Werror=implicit-function-declaration", "-fno-pie")
OWN_LOOPS = ("-fno-builtin", "-fno-tree-loop-distribute-patterns")
"""Or gcc makes calls of memcpy and memset from loops, which a kernel might have replaced."""
LINK = ("-static", "-no-pie", "-Wl,-z,noexecstack")
FAULTY_C = ("array-bounds", "uninitialized", "return-type", "shift-count-overflow", "int-conversion")
FAULTY_C_OF_GCC = (
    *("stringop-overflow", "stringop-overread", "maybe-uninitialized", "aggressive-loop-optimizations"),
    *("dangling-pointer", "incompatible-pointer-types"),
)
"""Warnings that tell of a fault in a kernel's C and not of its style: they fail its build."""


def worker_flags(target: Target) -> list[str]:
    """Flags of the worker's own and generated sources."""
    return [*COMMON, *target.flags, *OWN_LOOPS]


def kernel_flags(target: Target, table: CapabilityTable, variant: Variant) -> list[str]:
    """Flags of one kernel file. On x86 the assembler gets its own list, because gcc's does not restrict assembly."""
    closed = table.closure(variant.requires)
    flags = [*COMMON, *target.flags]
    march = ""
    for name in table.names:
        row = table.by_name[name]
        if name in closed:
            flags += row.flags
            march += row.march if row.march not in march else ""
        elif not variant.assembly:
            flags += row.without
    if march:
        flags = [flag + march if flag.startswith("-march=") else flag for flag in flags]
    if not variant.assembly:
        flags += _c_flags(target)
    if target.c_compiler and not variant.assembly:
        return [*flags, *target.c_flags]  # its assembler is its own and knows no -Wa,-march
    if target.gas:
        flags.append("-Wa,-march=" + target.gas + "".join(table.by_name[name].gas for name in table.sorted(closed)))
    return flags


def _c_flags(target: Target) -> list[str]:
    """Flags of kernels' C: what is an error, or what is looked at while it runs.

    The source is not shown below a message: 20,000 warnings cost gcc 22 s with it and 3 s without.
    """
    brief = "-fno-caret-diagnostics" if target.c_compiler else "-fno-diagnostics-show-caret"
    if target.sanitize:  # gcc takes what it has added itself for uninitialized
        return [brief, f"-fsanitize={','.join(target.sanitize)}", "-fno-sanitize-recover=all"]
    return [brief, *(f"-Werror={name}" for name in (*FAULTY_C, *(() if target.c_compiler else FAULTY_C_OF_GCC)))]


def link_flags(target: Target) -> list[str]:
    """Flags of a worker's link. With sanitizers libc must be shared, and their runtimes must be one program's: each
    shared one would end the process in its own way."""
    if target.sanitize:
        own = (f"-fsanitize={','.join(target.sanitize)}", "-static-libasan", "-static-libubsan")
        return [*(flag for flag in LINK if flag != "-static"), *own]
    return target.link or list(LINK)


@cache
def compiler_version(sandbox: Sandbox, compiler: str) -> str:
    """First line of ``compiler --version``. Raises ToolError."""
    done = sandbox.run([compiler, "--version"], seconds=60)
    if done.status or not done.stdout.strip():
        raise ToolError(f"{compiler} does not run", why=done.stderr.strip() or "it says no version")
    return done.stdout.splitlines()[0]


@cache
def qemu_version(sandbox: Sandbox, qemu: str) -> str:
    """First line of ``qemu --version``. Raises ToolError."""
    done = sandbox.run([qemu, "--version"], seconds=60)
    if done.status or not done.stdout.strip():
        raise ToolError(f"{qemu} does not run", why=done.stderr.strip() or "it says no version")
    return done.stdout.splitlines()[0]
