"""Outputs of compilers: made once, made anew when they are damaged, and a full disk is not the sources' fault."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from matrix.build.ninja import Edge, discard_damaged, make
from matrix.errors import StoreError
from matrix.sandbox.host import HostSandbox

ONE, TWO = Edge("objects/one.o", "printf one > {out}"), Edge("objects/two.o", "printf two > {out}")


@pytest.fixture
def sandbox(tmp_path: Path) -> HostSandbox:
    return HostSandbox(tmp_path)


@pytest.fixture
def small_files() -> Iterator[None]:
    """No process of this test can write a file of more than a million bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _make(sandbox: HostSandbox) -> dict[str, str]:
    """As a build does it: what is damaged goes, what is missing is made."""
    edges = {edge.output: edge for edge in (ONE, TWO)}
    discard_damaged(sandbox, edges)
    return make(sandbox, "build", [edges[output] for output in sorted(sandbox.missing(edges))])


def test_what_is_sound_stays_as_it_is(sandbox: HostSandbox) -> None:
    assert _make(sandbox) == {}
    before = (sandbox.root / ONE.output).stat().st_mtime_ns
    assert _make(sandbox) == {}
    assert (sandbox.root / ONE.output).stat().st_mtime_ns == before


@pytest.mark.parametrize("damage", [b"", b"on", b"onE", b"one more"])
def test_what_is_damaged_is_made_anew(sandbox: HostSandbox, damage: bytes) -> None:
    _make(sandbox)
    (sandbox.root / ONE.output).write_bytes(damage)
    discard_damaged(sandbox, [ONE.output, TWO.output])
    assert sandbox.missing([ONE.output, TWO.output]) == {ONE.output}
    assert _make(sandbox) == {}
    assert sandbox.read(ONE.output) == b"one"


@pytest.mark.parametrize("digest", [None, "", "nonsense\n"])
def test_what_has_no_digest_is_made_anew(sandbox: HostSandbox, digest: str | None) -> None:
    _make(sandbox)
    beside = sandbox.root / f"{ONE.output}.sum"
    if digest is None:
        beside.unlink()
    else:
        beside.write_text(digest)
    discard_damaged(sandbox, [ONE.output, TWO.output])
    assert sandbox.missing([ONE.output, TWO.output]) == {ONE.output}


def test_nothing_to_look_at_is_fine(sandbox: HostSandbox) -> None:
    discard_damaged(sandbox, [])
    discard_damaged(sandbox, ["objects/absent.o"])


def test_a_compiler_that_fails_says_so(sandbox: HostSandbox) -> None:
    log = make(sandbox, "build", [Edge("x.o", "echo 'x.c:1: error: no' >&2 && false > {out}")])
    assert log == {"x.o": "x.c:1: error: no"}


@pytest.mark.usefixtures("small_files")
def test_a_disk_without_room_is_not_the_sources_fault(sandbox: HostSandbox) -> None:
    with pytest.raises(StoreError) as caught:
        make(sandbox, "build", [Edge("x.o", "head -c 2000000 /dev/zero > {out}")])
    assert caught.value.where == "x.o"
    assert "CAPMATRIX_CACHE" in caught.value.step


def test_what_a_compiler_says_is_plain_text(sandbox: HostSandbox) -> None:
    logs = make(sandbox, "build", [Edge("objects/bad.o", "printf '\\033[2Jred\\n[/x]'; false")])
    assert logs == {"objects/bad.o": "\\x1b[2Jred\n[/x]"}
