"""A build depends on sources and tools alone: not on the user's environment, and on every header that may be read."""

import shutil
from pathlib import Path

import pytest

from matrix.build.ninja import Edge, make
from matrix.build.reads import asks_for_files, checked, foreign_names, toolchain
from matrix.sandbox.host import HostSandbox

COMPILER = shutil.which("gcc") or ""
FOREIGN = (
    "CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH GCC_EXEC_PREFIX COMPILER_PATH SOURCE_DATE_EPOCH "
    "DEPENDENCIES_OUTPUT SUNPRO_DEPENDENCIES GCC_COLORS LD_LIBRARY_PATH NINJA_STATUS QEMU_CPU QEMU_LD_PREFIX LANG"
)


@pytest.fixture
def sandbox(tmp_path: Path) -> HostSandbox:
    return HostSandbox(tmp_path / "sandbox")


def test_the_environment_of_tools_is_the_same_for_every_user(
    sandbox: HostSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in FOREIGN.split():
        monkeypatch.setenv(name, "/nowhere/at-all")
    monkeypatch.setenv("PATH", "relative::/usr/bin:/bin")
    monkeypatch.setenv("TMPDIR", "/tmp")
    lines = dict(line.split("=", 1) for line in sandbox.run(["env"]).stdout.splitlines())
    assert {name: value for name, value in lines.items() if name != "PATH"} == {"LC_ALL": "C", "TMPDIR": "/tmp"}
    assert lines["PATH"].endswith(":/usr/bin:/bin")
    assert "relative" not in lines["PATH"]


@pytest.mark.skipif(not COMPILER, reason="compiler-missing: gcc")
def test_a_header_that_changes_or_is_found_earlier_makes_another_key(sandbox: HostSandbox, tmp_path: Path) -> None:
    earlier, later = tmp_path / "a", tmp_path / "b"
    earlier.mkdir()
    later.mkdir()

    def digest() -> str:
        toolchain.cache_clear()
        return toolchain(sandbox, (COMPILER, "-isystem", str(earlier), "-isystem", str(later))).digest

    seen = [digest()]
    assert digest() == seen[0]
    for path, text in ((later, "int one;"), (later, "int two;"), (earlier, "int two;")):
        (path / "string.h").write_text(text)
        seen.append(digest())
    (earlier / "unrelated_library.h").write_text("")
    assert digest() == seen[-1], "no kernel may include it"
    assert len(set(seen)) == len(seen)
    toolchain.cache_clear()


@pytest.mark.skipif(not COMPILER, reason="compiler-missing: gcc")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('#include "own.h"\n#include <string.h>\n#include <stddef.h>', ""),
        ('#define A "/dev/null"\n#include A', "error: /dev/null is read, and is no file of kernels/x"),
        ("#include <sys/epoll.h>", "error: sys/epoll.h is read, and is no file of kernels/x"),
        ('__asm__(".incb" "in \\"/etc/passwd\\"");', "error: /etc/passwd is read, and is no file of kernels/x"),
    ],
)
def test_the_compilers_own_list_is_looked_at(sandbox: HostSandbox, text: str, told: str) -> None:
    sandbox.write({"s/k.c": text.encode(), "s/own.h": b""})
    command = f"{COMPILER} -MD -MF k.d -Wa,--MD,k.as.d -Is -c s/k.c -o {{out}}"
    command = checked(command, ["k.d", "k.as.d"], "s/k.c", "kernels/x", toolchain(sandbox, (COMPILER,)))
    logs = make(sandbox, "build", [Edge("k.o", command)])
    assert logs.get("k.o", "").startswith(told)
    assert bool(logs) == bool(told)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("#if __has_include(</etc/passwd>)", True),
        ("#if __has_include_next(<x.h>)", True),
        ("#if __has_\\\ninclude(SWITCH)", True),
        ("P(__has_, include)", True),
        ("P(_, _has_embed)", True),
        ("#if __has_builtin(__builtin_bswap32) && __has_attribute(x)", False),
    ],
)
def test_asking_whether_a_file_is_there_is_found(text: str, asks: bool) -> None:
    assert bool(list(asks_for_files("k.c", {"k.c": b"", "a.h": text.encode()}))) == asks


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('#include "a.h"', ["/x"]),
        ('# include "/etc/passwd"', ["/etc/passwd"]),
        ('/* #include "/etc/passwd" */ // .incbin "y"', []),
        ("#include <../x.h>", ["../x.h"]),
        ('.incbin "own.bin"', ["own.bin"]),
        ('__asm__(".include \\"z\\"");', ["z"]),
        ('__asm__(".inc" "bin \\"z\\"");', ["z"]),
        ("#include <arm_neon.h>", []),
    ],
)
def test_names_written_out_are_found_before_anything_is_compiled(text: str, found: list[str]) -> None:
    texts = {
        "k.c": text.encode(),
        "a.h": b'#include "b.h"\n#include "a.h"',
        "b.h": b'#include "/x"',
        "c.h": b'.incbin "no"',
    }
    assert list(foreign_names("k.c", texts)) == found


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("head -c 70000000 /dev/zero > {out}", "writes a file of more than 64 MiB"),
        ("yes > /dev/stderr", "writes a file of more than 64 MiB"),
        ("echo 'virtual memory exhausted: Cannot allocate memory'; false", "needs more than 4 GiB"),
    ],
)
def test_a_command_has_limits_and_its_log_too(sandbox: HostSandbox, command: str, told: str) -> None:
    log = make(sandbox, "build", [Edge("x.o", f"{command}")])["x.o"]
    assert log.startswith(f"error: the build {told}")
    assert len(log) < 25_000
