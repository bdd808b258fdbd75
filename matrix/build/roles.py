"""What code may call besides the dispatch functions that its header names: one row per role of an object."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Role:
    """``functions`` of libc and whatever matches ``helpers``; ``name`` is what messages call such an object."""

    name: str
    functions: frozenset[str]
    helpers: re.Pattern[str]

    def may_call(self, name: str) -> bool:
        """Whether an object of this role may use the global ``name`` unasked."""
        return name in self.functions or bool(self.helpers.fullmatch(name))


_COPIES = frozenset({"memcpy", "memmove", "memset", "memcmp"})
"""What gcc and clang need of every libc, also where a file calls none of them (GCC manual, "Standards")."""
_HELPERS = re.compile(
    r"bcmp|__mem(?:cpy|move|set)_chk"  # made of those by clang, and with -D_FORTIFY_SOURCE, which Ubuntu's gcc sets
    r"|__aeabi_(?!atexit|read_tp)\w+"  # Run-time ABI for the Arm Architecture, chapter 5; no exit handlers, no TLS
    # GCC internals manual, "The GCC low-level runtime library": integers, then floating point
    r"|__u?(?:div|mod|divmod|cmp)[sdt]i[234]|__(?:ashl|ashr|lshr|mul|addv|subv|mulv)[sdt]i3"
    r"|__(?:neg|negv|absv|clz|ctz|clrsb|ffs|parity|popcount|bswap)[sdt]i2"
    r"|__(?:add|sub|mul|div)[sdtx]f3|__(?:neg|cmp|unord|eq|ne|lt|le|gt|ge|powi)[sdtx]f2"
    r"|__(?:extend|trunc)[hsdtx]f[hsdtx]f2|__fix(?:uns)?[sdtx]f[sdt]i|__float(?:un)?[sdt]i[sdtx]f"
    r"|__aarch64_(?:cas|swp|ldadd|ldclr|ldeor|ldset)\d+_(?:relax|acq|rel|acq_rel|sync)"
    r"|__stack_chk_(?:fail|fail_local|guard)"
    r"|_GLOBAL_OFFSET_TABLE_"
)
"""The compiler's own: copies, long arithmetic, floating point, atomics, stack protector; and what the linker makes."""

KERNEL = Role("a kernel", _COPIES, _HELPERS)
