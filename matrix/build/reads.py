"""What a kernel may be made of: files of its own folder, shared and generated headers, and those of compiler and libc.

Anything else would make two builds of the same sources differ: on another machine, in the other sandbox, or after a
change of a file that is no part of the key under which objects are kept.
"""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from matrix.errors import HeaderError, ToolError
from matrix.model.shared import SHARED
from matrix.sandbox.base import Sandbox

_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.+-]*"
_COMPILERS = re.compile(r"/(?:gcc|gcc-cross|clang)/")
"""Folders of headers that come with gcc and clang: all that is in them may be included."""
_LIBC = (
    r"(?:assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|stdalign|stdarg|stdatomic"
    r"|stdbool|stdc-predef|stddef|stdint|stdio|stdlib|stdnoreturn|string|threads|time|uchar|wchar|wctype"
    r"|alloca|byteswap|endian|features|features-time64|strings|unistd"
    rf"|(?:asm|asm-generic|bits|gnu|linux)/(?:{_NAME}/)*{_NAME}"
    r"|sys/(?:auxv|cdefs|mman|platform/x86|procfs|select|time|types|ucontext|user))\.h"
)
"""ISO C's headers and a few of POSIX, by these names in a folder that the compiler searches, and what they include."""
_LITERAL = re.compile(r"""^[ \t]*\#[ \t]*(?:include|include_next|import|embed)[ \t]*["<]([^">\n]+)[">]""", re.MULTILINE)
_ASKS = re.compile(r"\b\w*has_(?:include(?:_next)?|embed)\b|\b__has_(?![a-z])")
"""Asking whether a file is there: the answer is part of no key. The last form is the start of a name that is pasted."""
_ASSEMBLER = re.compile(r"""\.(?:incbin|include)\b[ \t]*\\?["']([^"'\\\n]+)""")
_JOINED = re.compile(r'"\s*"')
"""Two strings beside each other, which C makes one."""
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_NOT_FOUND = re.compile(r"fatal error: '?([^':\n]+)'?(?:: No such file or directory| file not found)")
_LIBRARIES = "libc.a libgcc.a libgcc_eh.a crt1.o crti.o crtn.o crtbeginT.o crtend.o"


@dataclass(frozen=True)
class Toolchain:
    """The folders that a compiler searches for headers, and a digest of all that it may read and link there."""

    folders: tuple[str, ...]
    digest: str

    @property
    def pattern(self) -> str:
        """A regular expression (POSIX extended) for the paths of the headers that a kernel may include."""
        return "|".join(
            rf"{re.escape(folder)}/(?:{rf'({_NAME}/)*{_NAME}' if _COMPILERS.search(folder) else _LIBC})"
            for folder in self.folders
        ).replace("(?:", "(")


_DIGEST = """
pattern=$1
folders=$2
shift 2
for tool in as ld; do "$("$@" -print-prog-name=$tool)" --version | head -n 1; done
for file in $LIBRARIES; do cat "$("$@" -print-file-name=$file)"; done 2>/dev/null | sha256sum
find -L $folders -type f -name '*.h' 2>/dev/null | grep -E "^($pattern)\\$" | LC_ALL=C sort | tr '\\n' '\\0' \
 | xargs -0 -r sha256sum
""".replace("$LIBRARIES", _LIBRARIES)


@cache
def toolchain(sandbox: Sandbox, driver: tuple[str, ...]) -> Toolchain:
    """What ``driver`` (a compiler, and flags that choose its target) reads beside sources. Raises ToolError."""
    done = sandbox.run([*driver, "-E", "-Wp,-v", "-xc", "/dev/null"], seconds=60)
    _, mark, rest = done.stderr.partition("#include <...> search starts here:\n")
    listed = [line.strip() for line in rest.partition("End of search list.")[0].splitlines()]
    if done.status or not mark or not listed:
        why = done.stderr.strip()[-2000:]
        raise ToolError(f"{driver[0]} does not say where its headers are", why=why)
    folders = tuple(dict.fromkeys(path for folder in listed for path in (folder, os.path.normpath(folder))))
    found = Toolchain(folders, "")
    words = " ".join(shlex.quote(folder) for folder in dict.fromkeys(map(os.path.normpath, listed)))
    done = sandbox.run(["sh", "-c", _DIGEST, "sh", found.pattern, words, *driver], seconds=60)
    if done.status:
        raise ToolError(f"the headers of {driver[0]} cannot be read", why=done.stderr.strip()[-2000:])
    return Toolchain(folders, done.stdout)


def told(name: str, place: str) -> str:
    """What is said of a file ``name`` that a kernel of the folder ``place`` may not read; the same in each sandbox."""
    return (
        f"error: {name} is read, and is no file of {place} or {os.path.dirname(place)}/{SHARED} and no header of the "
        "compiler or of libc: a kernel is made of those alone"
    )


def foreign_names(name: str, texts: Mapping[str, bytes]) -> Iterator[str]:
    """The names of files outside that ``texts[name]`` and what it includes of ``texts`` ask for in so many words.

    Names that macros make are seen when the compiler lists what it has read: see ``checked``.
    """
    todo, seen = [name], {name}
    while todo:
        text = _text(texts[todo.pop()])
        yield from (match[1] for match in _ASSEMBLER.finditer(_JOINED.sub("", text)))
        for match in _LITERAL.finditer(text):
            asked = match[1]
            if asked.startswith("/") or ".." in asked.split("/"):
                yield asked
            elif asked in texts and asked not in seen:
                seen.add(asked)
                todo.append(asked)


def asks_for_files(name: str, texts: Mapping[str, bytes]) -> Iterator[str]:
    """What is said of each way in which ``texts[name]`` or a header beside it asks whether a file is there."""
    for text in (texts[name], *(text for other, text in texts.items() if other != name)):
        # Comments stay: what looks like one may lie between two strings.
        for match in _ASKS.finditer(text.decode("utf-8", "replace").replace("\\\n", "")):
            yield (
                f"error: {match[0]} asks whether a file is there, and its answer differs between machines: "
                "include the file, or leave it"
            )


def has_assembly(texts: Mapping[str, bytes]) -> bool:
    """Whether one of ``texts`` in C may hold assembly."""
    return any(b"asm" in text for text in texts.values())


def _text(source: bytes) -> str:
    return _COMMENT.sub(" ", source.decode("utf-8", "replace").replace("\\\n", ""))


def checked(compile_: str, lists: Iterable[str], source: str, place: str, tools: Toolchain) -> str:
    """A shell command: ``compile_``, and then a failure when what it has read (``lists`` in make's form) is not all in
    the folder of ``source``, which is the copy of ``place`` and of the shared headers, or of ``tools``."""
    folder, _, name = source.rpartition("/")
    # Third is what the compiler hands to the assembler (clang names it after the source), then what .file says; a path
    # with a space is in two pieces, and refused.
    handed = rf"/(cc|{re.escape(name.rpartition('.')[0])}-)[A-Za-z0-9]+\.s$"
    allowed = rf"^\\?$|:$|{handed}|^({re.escape(name)}|{re.escape(folder)}/({SHARED}/)?[^/]+|{tools.pattern})$"
    message = re.sub(r"[\\#&]", r"\\\g<0>", told("@", place)).replace("@", r"\3")
    roots = "|".join(re.escape(root) for root in tools.folders)
    return (
        f"{compile_} && {{ foreign=$(cat {' '.join(lists)} | tr ' ' '\\n' | grep -vE {shlex.quote(allowed)} "
        f"| sort -u | sed -E {shlex.quote(f's#^(({roots})/)?(.*)$#{message}#')}); "
        '[ -z "$foreign" ] || { printf "%s\\n" "$foreign"; exit 1; }; }'
    )


def explained(log: str, place: str) -> str:
    """``log`` of a compiler, begun with what is said of a header that it did not find."""
    missing = _NOT_FOUND.search(log)
    return f"{told(missing[1], place)}\n{log}" if missing else log


def copy_of(path: Path, inside: Iterable[Path]) -> bytes:
    """The bytes of a source; when it is a link that leads out of the folders ``inside``, a text that does not compile
    and says so. Raises HeaderError when it cannot be read."""
    try:
        real = path.resolve(strict=True)
        if any(real.is_relative_to(folder) for folder in inside):
            return real.read_bytes()
    except (OSError, RuntimeError) as problem:  # RuntimeError: links in a circle, before Python 3.13
        why = (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
        raise HeaderError(f"cannot read {path.name}", where=str(path), why=why, step="restore the file") from None
    return f"#error {path.name} is a link that leads out of the repository, to {real}\n".encode()
