"""What a link would refuse, found one object at a time: the fault of one kernel must not take the others along."""

import re
from collections.abc import Iterable

_UNDEFINED = re.compile(r"undefined reference to [`'\"]([^'\"]+)'")


def lone_source(dispatched: Iterable[str]) -> str:
    """A C program that an object of a kernel links with if libc, the compiler's runtime and the dispatch functions
    define all that it needs."""
    lines = [f"void {name}(void) {{}}" for name in sorted(dispatched)]
    return "\n".join([*lines, "int main(void) { return 0; }", ""])


def link_problems(log: str) -> str:
    """What is wrong with an object that does not link alone, from the linker's words."""
    names = dict.fromkeys(_UNDEFINED.findall(log))
    lines = [f"error: {name} is needed, and nothing defines it" for name in names]
    return "\n".join(lines) or f"error: the object does not link: {log}"
