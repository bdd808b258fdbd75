"""A kernel is made of its folder, of shared headers, and of the compiler's and libc's headers; each that reads more
fails alone, in the same words in both sandboxes. So does one whose build has no end."""

import re
import shutil
from pathlib import Path

import pytest

from matrix.build.worker import Built, build_worker
from matrix.model.catalog import OURS, every_profile, load_catalog
from matrix.sandbox.choose import choose_sandbox
from matrix.sandbox.docker import DockerSandbox
from tests.engines import require_engine
from tests.planted.plants import copy_sources

TARGET = "arm32-noneon"
HEADER = """/*toml
algorithm = "chacha20"
variant   = "{name}"
arch      = "arm32"
provides  = ["xor"]
priority  = {priority}
*/
"""
ASSEMBLY = """        .text
        .globl  chacha20_xor_{name}
        .type   chacha20_xor_{name}, %function
chacha20_xor_{name}:
        bx      lr
        .size   chacha20_xor_{name}, . - chacha20_xor_{name}
        {more}
        .section .note.GNU-stack,"",%progbits
"""
C = """{more}
void chacha20_xor_{name}(uint8_t *out, const uint8_t *data, size_t len, const uint8_t *key, const uint8_t *nonce,
                         uint32_t counter)
{{
    (void)out; (void)data; (void)len; (void)key; (void)nonce; (void)counter;
}}
"""
FOREIGN = {
    "absolute.c": ('#include "/dev/null"', "/dev/null"),
    "above.c": ('#include "../aes/aes_bitsliced.h"', "../aes/aes_bitsliced.h"),
    "hidden.c": ('#include "here.h"', "/dev/null"),
    "beside.c": ('#include "aes/aes_bitsliced.h"', "aes/aes_bitsliced.h"),
    "besidebymacro.c": ('#define OTHER "aes/aes_bitsliced.h"\n#include OTHER', "aes/aes_bitsliced.h"),
    "roundabout.c": ('#include "../shared/worded.h"', "../shared/worded.h"),
    "sharedhides.c": ('#include "shared/foreign.h"', "/dev/null"),
    "sharedabsent.c": ('#include "shared/absent.h"', "shared/absent.h"),
    "sharedincluded.S": ('.include "shared/worded.h"', "shared/worded.h"),
    "bymacro.c": ('#define NULL_FILE "/dev/null"\n#include NULL_FILE', "/dev/null"),
    "notlibc.c": ("#include <sys/epoll.h>", "sys/epoll.h"),
    "absent.c": ("#include <no_such_library.h>", "no_such_library.h"),
    "bytes.S": ('.incbin "/etc/shadow"', "/etc/shadow"),
    "joined.c": ('__asm__(".inc" "bin \\"/etc/shadow\\"");', "/etc/shadow"),
    "inline.c": ('__asm__(".incbin \\"/etc/shadow\\"");', "/etc/shadow"),
    "spelt.S": ('.macro m d\n.\\d "/etc/passwd"\n.endm\nm incbin', "/etc/passwd"),
    "included.S": ('.include "/etc/shadow"', "/etc/shadow"),
}
ASKED = {
    "asked.c": '#if __has_include("/etc/passwd")\n#endif',
    "askedbymacro.c": '#define SWITCH "/etc/passwd"\n#if __has_include(SWITCH)\n#endif',
    "askedinalibrary.c": "#if __has_include(<openssl/evp.h>)\n#endif",
    "askedbehindacomment.c": 'static char a[] = "/*";\n#if __has_\\\ninclude("/x")\n#endif\nstatic char b[] = "*/";',
    "pasted.c": '#define P(a, b) a##b\n#if P(__has_, include)("/etc/passwd")\n#endif',
}
ENDLESS = {
    "filled.S": (".data\n.fill 0x7fffffff, 4, 1", "writes a file of more than 64 MiB"),
    "nested.S": ('#include "nested.h"', "error: #include nested depth"),
}
SHARED = {
    "sharedword.c": '#include "shared/worded.h"\n_Static_assert(WORDED == 16, "");',
    "sharedhead.S": '#include "shared/worded.h"',
}
"""These are sound."""
WRONG = {"sharedwrong.c": '#include "shared/wrong.h"'}
LINKS = {"linked.c": "error: #error chacha20_linked.c is a link", "throughalink.c": "error: #error away.h is a link"}


@pytest.fixture(scope="module", params=["host", "docker"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    if request.param == "docker":
        require_engine()
    root = tmp_path_factory.mktemp("reads") / "root"
    copy_sources(root)
    folder = root / "kernels" / "chacha20"
    (folder / "here.h").write_text('#include "/dev/null"\n')
    (folder / "nested.h").write_text('#include "nested.h"\n' * 2)
    texts = {name: text for name, (text, _) in (FOREIGN | ENDLESS).items()}
    shared = root / "kernels" / "shared"
    shared.mkdir(exist_ok=True)
    (shared / "worded.h").write_text('#include "shared/second.h"\n')
    (shared / "second.h").write_text("#ifndef __ASSEMBLER__\nenum { WORDED = 16 };\n#endif\n")
    (shared / "foreign.h").write_text('#include "/dev/null"\n')
    (shared / "wrong.h").write_text("\n#error not today\n")
    texts |= SHARED | WRONG
    texts |= ASKED | {"linked.c": "", "throughalink.c": '#include "away.h"'}
    for number, (file, more) in enumerate(texts.items()):
        name, _, suffix = file.partition(".")
        form = C if suffix == "c" else ASSEMBLY
        text = HEADER.format(name=name, priority=-10 - number) + form.format(name=name, more=more)
        (folder / f"chacha20_{file}").write_text(text)
    (root.parent / "away.h").touch()
    (folder / "away.h").symlink_to(root.parent / "away.h")
    linked = (folder / "chacha20_linked.c").rename(root.parent / "away.c")
    (folder / "chacha20_linked.c").symlink_to(linked)
    catalog = load_catalog(root)
    sandbox = choose_sandbox(request.param)
    try:
        return build_worker(sandbox, catalog, catalog.targets.get(TARGET), catalog.provider(OURS))
    finally:
        if isinstance(sandbox, DockerSandbox):
            sandbox.close()


def test_the_others_are_built(built: Built) -> None:
    names = {f"chacha20-{file.partition('.')[0]}" for file in FOREIGN | ASKED | ENDLESS | LINKS | WRONG}
    assert built.failed.keys() == names


@pytest.mark.parametrize("file", SHARED)
def test_a_shared_header_is_found(built: Built, file: str) -> None:
    assert f"chacha20-{file.partition('.')[0]}" in built.objects


def test_an_error_in_a_shared_header_names_its_own_path(built: Built) -> None:
    assert "kernels/shared/wrong.h:2:" in built.failed["chacha20-sharedwrong"]


@pytest.mark.parametrize("file", FOREIGN)
def test_what_is_foreign_is_refused_in_the_same_words(built: Built, file: str) -> None:
    first = built.failed[f"chacha20-{file.partition('.')[0]}"].splitlines()[0]
    expected = (
        "and is no file of kernels/chacha20 or kernels/shared and no header of the compiler or of libc: "
        "a kernel is made of those alone"
    )
    assert first == f"error: {FOREIGN[file][1]} is read, {expected}"


@pytest.mark.parametrize("file", ASKED)
def test_a_kernel_does_not_ask_whether_a_file_is_there(built: Built, file: str) -> None:
    first = built.failed[f"chacha20-{file.partition('.')[0]}"].splitlines()[0]
    assert re.match(r"error: __has_(include)? asks whether a file is there, and its answer differs", first), first


@pytest.mark.parametrize("file", ENDLESS)
def test_a_build_without_an_end_is_ended(built: Built, file: str) -> None:
    log = built.failed[f"chacha20-{file.partition('.')[0]}"]
    assert ENDLESS[file][1] in log
    assert len(log) < 30_000


@pytest.mark.parametrize("file", LINKS)
def test_links_out_of_the_repository_are_refused(built: Built, file: str) -> None:
    assert LINKS[file] in built.failed[f"chacha20-{file.partition('.')[0]}"]


def test_clang_lists_what_assembly_in_c_reads(tmp_path: Path) -> None:
    """Names that macros make are seen in the list of the assembler, which clang's own does not write."""
    if shutil.which("clang") is None:
        pytest.skip("compiler-missing: `capmatrix doctor --install --profile clang`")
    root = tmp_path / "root"
    copy_sources(root)
    more = '#define TEXT(a) #a\n__asm__(TEXT(.include "/dev/null"));'
    text = HEADER.format(name="macro", priority=-1) + C.format(name="macro", more=more)
    (root / "kernels" / "chacha20" / "chacha20_macro.c").write_text(text)
    catalog = every_profile(load_catalog(root))
    target = catalog.targets.get(f"{TARGET}@clang")
    failed = build_worker(choose_sandbox("host"), catalog, target, catalog.provider(OURS)).failed
    assert failed["chacha20-macro"].startswith("error: /dev/null is read, and is no file of kernels/chacha20")
    assert len(failed) == 1
