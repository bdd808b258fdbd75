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
    if target.c_compiler and not variant.assembly:
        return [*flags, *target.c_flags]  # its assembler is its own and knows no -Wa,-march
    if target.gas:
        flags.append("-Wa,-march=" + target.gas + "".join(table.by_name[name].gas for name in table.sorted(closed)))
    return flags


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
