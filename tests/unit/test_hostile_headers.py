"""Kernel files that nobody meant well: only that file is named, in one error with the code of headers."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matrix.__main__ import main
from matrix.errors import HeaderError, SelectionError
from matrix.model.catalog import Catalog
from matrix.model.kernel import Variant, read_variant

if TYPE_CHECKING:
    from tests.unit.conftest import Tree

NAME = "kernels/cipher/cipher_ssse3_x86_64.S"
GOOD = """/*toml
algorithm = "cipher"
variant = "ssse3"
arch = "x86_64"
provides = ["xor"]
requires = ["ssse3"]
priority = 20
*/
"""
BROKEN = {
    "nothing": b"",
    "no header": b"xor eax, eax\n",
    "two headers": (GOOD + GOOD).encode(),
    "no end": GOOD.replace("*/", "").encode(),
    "binary": bytes(range(256)),
    "latin": GOOD.replace("cipher", "ci\xdfher").encode("latin-1"),
    "mark": b"\xef\xbb\xbf" + GOOD.encode(),
    "nul": GOOD.replace("20", "2\0").encode(),
    "deep": GOOD.replace("20", "[" * 2000 + "]" * 2000).encode(),
    "digits": GOOD.replace("20", "9" * 5000).encode(),
    "wide": GOOD.replace("20", "9" * 15).encode(),
    "markup": GOOD.replace('"ssse3"', '"[/x]"').encode(),
    "escape": GOOD.replace('"ssse3"', '"\\u001b[31m"').encode(),
    "long name": GOOD.replace('"ssse3"', '"' + "s" * 500_000 + '"').encode(),
    "min_bytes": GOOD.replace("priority", "min_bytes = {xor = 99999999}\npriority").encode(),
}


@pytest.fixture
def only(tree: "Tree", monkeypatch: pytest.MonkeyPatch) -> "Tree":
    """The small repository in place of the one that the commands read."""
    monkeypatch.setattr("matrix.run.state.data_root", lambda: tree.root)
    monkeypatch.setattr("matrix.command_line.data_root", lambda: tree.root)
    return tree


def _run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, "argv", ["capmatrix", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    return caught.value.code


@pytest.mark.parametrize("arguments", [("list",), ("list", "x64", "--json"), ("explain", "x64/hard/none/cipher-c")])
@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_named_alone_with_the_code_of_headers(
    only: "Tree",
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    kind: str,
    arguments: tuple[str, ...],
) -> None:
    (only.root / NAME).write_bytes(BROKEN[kind])
    assert _run(monkeypatch, *arguments) == HeaderError.exit_code
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("error: ") == 1
    assert str(only.root / NAME) in said
    assert "Traceback" not in said
    assert len(said) < 10_000
    others = {path.name for path in only.root.rglob("*.[cS]")} - {Path(NAME).name}
    assert not [name for name in others if name in said]


@pytest.mark.parametrize(
    "cell_id",
    [
        "",
        "/",
        "///",
        "////",
        "a" * 100_000,
        "/" * 100_000,
        "x64/hard/none/" + "c" * 100_000,
        "x64/hard/no\nne/cipher",
        "x64/hard/none/cipher\x1b[31m",
        "x64/hard/none/cipher\0",
        "x64/hard/none/\udcff",
        "[/x]/[bold]/none/cipher",
        "x64/hard/none/../../etc/passwd",
        "-x64/hard/none/cipher",
        "x64@/hard/none/cipher",
        "X64/hard/none/cipher",
    ],
    ids=lambda text: ascii(text[:20]),
)
def test_a_strange_id_is_one_error(
    only: "Tree", monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cell_id: str
) -> None:
    assert _run(monkeypatch, "explain", "--", cell_id) == SelectionError.exit_code
    said = capsys.readouterr().err
    assert said.startswith("error: there is no cell ")
    assert said.count("\n") == 3
    assert len(said) < 10_000
    assert "\x1b" not in said
    assert "\0" not in said


LINES = GOOD.splitlines()


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(
        st.sampled_from(LINES)
        | st.sampled_from(["*/", "/*toml", "[state.ctx]", "bytes = 1", 'symbols = {xor = "a b"}', "cites = [1]"])
        | st.builds("{} = {}".format, st.sampled_from(["arch", "priority", "min_bytes", "state"]), st.text(max_size=9))
        | st.text(max_size=20),
        max_size=12,
    ),
    junk=st.binary(max_size=4),
)
def test_any_text_is_a_variant_or_a_header_error(tree: "Tree", small: Catalog, lines: list[str], junk: bytes) -> None:
    path = tree.root / NAME
    text = "\n".join([LINES[0], *lines, *LINES[1:]]).encode("utf-8", "surrogatepass")
    path.write_bytes(text + junk)
    problem = None
    try:
        read = read_variant(path, small.provider("kernels").interfaces["cipher"], small.capabilities)
    except HeaderError as caught:
        problem = caught
    else:
        assert isinstance(read, Variant)
    assert problem is None or (str(path) in problem.where and problem.step)
