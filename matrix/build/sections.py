"""Which sections the object of a kernel may have: whatever else one holds would act on the link or the whole worker."""

import re
from collections.abc import Iterable, Iterator

from elftools.elf.sections import Section

_WRITE, _ALLOC, _EXECUTE, _THREAD = 1, 2, 4, 0x400
"""Section flags SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR and SHF_TLS (ELF gABI, chapter 4)."""
MAX_BYTES = 16 << 20
"""Bytes of code and data that one object may bring."""
STACK = ".note.GNU-stack"
STACK_LINE = f'.section {STACK},"",%progbits'
"""What an assembly file says for it; ``%`` is understood on every architecture, ``@`` is a comment on ARM."""
_BEFORE_MAIN = (".init", ".fini", ".ctors", ".dtors", ".init_array", ".fini_array", ".preinit_array")
MAX_ALIGN = 4096
_LOADED = re.compile(r"\.(?:text|rodata|data|bss|eh_frame|ARM\.exidx|ARM\.extab)(?:\..*)?|\.note\.gnu\.property")
_ASIDE = re.compile(
    r"\.(?:debug_.*|comment|ARM\.attributes|llvm_addrsig|note\.GNU-stack|group|symtab|strtab|shstrtab|symtab_shndx)"
    r"|\.rela?\..*"
    r"|"
)
"""What gcc, clang and gas make unasked: what is loaded, and what is not; every object has one without a name."""


def section_problems(sections: Iterable[Section]) -> Iterator[str]:
    """What is wrong with an object's sections, one line each."""
    names = set()
    size = 0
    for section in sections:
        names.add(section.name)
        flags = section["sh_flags"]
        size += section["sh_size"] if flags & _ALLOC else 0
        if section.name == STACK and flags & _EXECUTE:
            yield f"error: section {STACK} asks for an executable stack; the file needs `{STACK_LINE}`"
        if flags & _EXECUTE and flags & _WRITE:
            yield f"error: section {section.name} is writable code"
        if section.name.startswith(_BEFORE_MAIN):
            if section["sh_size"]:
                yield (
                    f"error: section {section.name} runs code that nobody called, on whatever CPU the worker is started"
                )
        elif flags & _THREAD:
            yield f"error: section {section.name} is thread-local storage, which no kernel has"
        elif not (_LOADED if flags & _ALLOC else _ASIDE).fullmatch(section.name):
            yield (
                f"error: section {section.name} is none that a kernel has: it would act on the link or on the whole "
                "worker; code belongs into .text, constants into .rodata"
            )
        elif section["sh_addralign"] > MAX_ALIGN:
            align = section["sh_addralign"]
            yield f"error: section {section.name} is aligned to {align:,} bytes, more than {MAX_ALIGN:,}"
    if size > MAX_BYTES:
        yield f"error: code and data are {size:,} bytes, more than {MAX_BYTES:,}"
    if STACK not in names:
        yield f"error: no {STACK} section: whatever links this gets an executable stack; add the line `{STACK_LINE}`"
