"""A kernel file that would break the link, the generated sources or the worker fails alone: the others are built."""

import re

import pytest

from matrix.build.worker import Built, build_worker
from matrix.model.catalog import OURS, load_catalog
from matrix.sandbox.choose import choose_sandbox
from tests.planted.plants import copy_sources

HEADER = """/*toml
algorithm = "chacha20"
variant   = "{name}"
arch      = ["arm32", "x86_64"]
provides  = ["xor"]
priority  = {priority}
writable  = "other rules are tried here"
{more}
*/
"""
FUNCTION = """        .text
        .globl  {symbol}
        .type   {symbol}, %function
{symbol}:
        {body}
        .size   {symbol}, . - {symbol}
{end}
        .section .note.GNU-stack,"",%progbits
"""
RETURN = """
#if defined(__arm__)
        bx      lr
#else
        ret
#endif
"""
CALL = """
#if defined(__arm__)
        b       {0}
#else
        jmp     {0}
#endif
"""
C = """{declared}
void chacha20_xor_{name}(uint8_t *out, const uint8_t *data, size_t len, const uint8_t *key,
                         const uint8_t *nonce, uint32_t counter)
{{
    (void)out; (void)data; (void)len; (void)key; (void)counter; (void)nonce;
    {body}
}}
"""


def _asm(body: str = RETURN, end: str = "", symbol: str = "") -> tuple[str, str, str]:
    """(suffix, header's more, text) of an assembly kernel, whose function may have another ``symbol``."""
    more = f'symbols   = {{ xor = "{symbol}" }}' if symbol else ""
    return ".S", more, FUNCTION.replace("{body}", body).replace("{end}", end).replace("{symbol}", symbol or "{symbol}")


def _c(body: str, declared: str = "", more: str = "") -> tuple[str, str, str]:
    return ".c", more, C.replace("{body}", body).replace("{declared}", declared)


def _section(name: str, flags: str = "") -> tuple[str, str, str]:
    return _asm(end=f'        .section {name},"{flags}",%progbits\n        .4byte 0, 0, 0, 0')


def _hidden(name: str, kind: str = "globl") -> tuple[str, str, str]:
    lines = f".{kind} {name}\n.hidden {name}\n.type {name}, %function\n{name}: .4byte 0\n.size {name}, 4"
    return _asm(end=lines)


def _undefined(source: tuple[str, str, str]) -> tuple[str, str, str]:
    """A name that the kernel's own file may have, and the file of all thunks not."""
    return source[0], source[1], f"#undef unix\n{source[2]}"


UNIQUE = '.globl memcmp\n.type memcmp, "gnu_unique_object"\nmemcmp: .4byte 0'
SECTION = "is none that a kernel has"
BAD = {
    "unique": (_asm(end=UNIQUE), "memcmp has a binding that a static link does not know"),
    "uniqueworker": (_asm(end=UNIQUE.replace("memcmp", "worker_mask")), "is a name of the worker's own"),
    "interp": (_section(".interp", "a"), f".interp {SECTION}"),
    "dynamic": (_section(".dynamic", "aw"), f".dynamic {SECTION}"),
    "buildid": (_section(".note.gnu.build-id", "a"), f".note.gnu.build-id {SECTION}"),
    "warning": (_section(".gnu.warning.memcpy"), f".gnu.warning.memcpy {SECTION}"),
    "atexit": (_section("__libc_atexit", "aw"), f"__libc_atexit {SECTION}"),
    "thread": (_asm(end='.section .tdata,"awT",%progbits\n.4byte 1'), "thread-local storage"),
    "retained": (_section(".drectve"), f".drectve {SECTION}"),
    "versioned": (_asm(end=".globl other\nother: .symver other, memcmp@@OLD"), "has a version"),
    "common": (_asm(end=".comm counter, 64, 16"), "counter is exported"),
    "absolute": (_asm(end=".globl memset\nmemset = 0x1234"), "memset is exported"),
    "thunk": (_hidden("worker_thunk_0"), "is a name of the worker's own"),
    "table": (_hidden("worker_functions"), "is a name of the worker's own"),
    "weakmain": (_hidden("main", "weak"), "is a name of the worker's own"),
    "startup": (_hidden("__init_array_start"), "belong to the compiler and libc"),
    "helper": (_hidden("chacha20_xor_c"), "another variant defines it too"),
    "group": (_asm(end='.section .text.g,"axG",%progbits,g,comdat\n.hidden run\n.globl run\nrun: .4byte 0'), "worker"),
    "vast": (_asm(end=".bss\n.space 0x7000000"), "more than 16,777,216"),
    "aligned": (_asm(end=".data\n.balign 0x100000\n.4byte 1"), "is aligned to 1,048,576 bytes"),
    "keyword": (_c("", more='symbols = { xor = "int" }'), "error: "),
    "macro": (_asm(symbol="linux"), "Error: "),
    "macrolater": (_undefined(_asm(symbol="unix")), "unix cannot be a function's name here"),
    "taken": (_asm(symbol="chacha20_xor_armv7"), "another variant defines it too"),
    "shell": (_c('system("true");', "#include <stdlib.h>"), "system is called, and a kernel may call memcmp, memcpy"),
    "heap": (_c("void *volatile p = malloc(len); free(p);", "#include <stdlib.h>"), "malloc is called"),
    "weakly": (_c("if (fork) fork();", "extern int fork(void) __attribute__((weak));"), "fork is called"),
    "raw": (
        _asm("\n#if defined(__arm__)\n svc 0\n bx lr\n#else\n jz 1f\n1: syscall\n ret\n#endif\n"),
        "calls no system",
    ),
    "stackless": (
        (".S", "", FUNCTION.replace("{body}", RETURN).split("{end}")[0]),
        '.section .note.GNU-stack,"",%progbits',
    ),
    "untyped": (
        tuple(p.replace("        .type   {symbol}, %function\n", "") for p in _asm()),
        ".type chacha20_xor_untyped, %func",
    ),
    "unsized": (
        tuple(p.replace("        .size   {symbol}, . - {symbol}\n", "") for p in _asm()),
        ".size chacha20_xor_unsized, . -",
    ),
}
SEVERAL = {
    "mistakes": (
        _asm(CALL.format("system") + CALL.format("socket"), ".globl one\none: .4byte one"),
        ("holds an absolute address", "one is exported", "system is called", "socket is called"),
    ),
    "sections": (
        _asm(CALL.format("system"), '.globl two\ntwo: .4byte 0\n.section .init_array,"aw"\n.4byte 0'),
        ("section .init_array runs code", "two is exported", "system is called"),
    ),
}
"""Several mistakes in one file, found by different looks at its object."""
SOUND = {
    "asks": _c("void *volatile p = malloc(len); free(p);", "#include <stdlib.h>", 'calls = ["malloc", "free"]'),
    "copies": _c("memcpy(out, data, len); memset(out, 0, len); memmove(out, data, len);", "#include <string.h>"),
    "divides": _c("volatile uint64_t n = len; n = n / (n | 1) + n % 7; (void)(double)n;"),
    "dataincode": _asm(RETURN, ".4byte 0xdf00df00, 0xef000000\n.byte 0x0f, 0x05, 0xcd, 0x80"),
    "keywordasm": _asm(symbol="signed"),
}


@pytest.fixture(scope="module", params=["arm32-noneon", "x86_64"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    root = tmp_path_factory.mktemp("bad")
    copy_sources(root)
    every = {name: source for name, (source, _) in (BAD | SEVERAL).items()} | SOUND
    for number, (name, (suffix, more, text)) in enumerate(every.items()):
        header = HEADER.format(name=name, priority=-10 - number, more=more)
        text = text.replace("{symbol}", f"chacha20_xor_{name}")
        text = text.format(name=name) if suffix == ".c" else text
        (root / "kernels" / "chacha20" / f"chacha20_{name}{suffix}").write_text(header + text)
    catalog = load_catalog(root)
    target = catalog.targets.get(request.param)
    return build_worker(choose_sandbox("host"), catalog, target, catalog.provider(OURS))


def test_the_bad_ones_fail_alone(built: Built) -> None:
    expected = {f"chacha20-{name}" for name in BAD | SEVERAL}
    if built.target.arch != "arm32":
        expected -= {"chacha20-taken"}  # no variant of that name there
    assert built.failed.keys() == expected, {k: v for k, v in built.failed.items() if k not in expected}


@pytest.mark.parametrize("name", BAD)
def test_each_says_why(built: Built, name: str) -> None:
    if f"chacha20-{name}" in built.failed:
        assert BAD[name][1] in built.failed[f"chacha20-{name}"]


@pytest.mark.parametrize("name", SEVERAL)
def test_all_mistakes_of_a_file_are_told_at_once(built: Built, name: str) -> None:
    lines = built.failed[f"chacha20-{name}"].splitlines()
    for words in SEVERAL[name][1]:
        (line,) = (line for line in lines if words in line)
        if "is called" in line:
            assert re.search(rf" \(kernels/chacha20/chacha20_{name}\.S:\d+\)$", line), line
    assert len(lines) == len(SEVERAL[name][1]), lines
