"""Tables that nobody meant well: whatever stands in one, reading it ends in one error that names the file."""

import copy
import datetime
import json
import os
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import matrix
from matrix.checks import every_cell
from matrix.errors import HeaderError, MatrixError, TableError
from matrix.run.expectation import FILE, checked_expectation
from tests.unit.test_expectation import RIGHT

if TYPE_CHECKING:
    from tests.unit.conftest import Tree

TABLES = [
    ("kernels/capabilities.toml", TableError),
    ("kernels/instructions.toml", TableError),
    ("images/targets.toml", TableError),
    ("kernels/cipher/cipher.toml", TableError),
    ("kernels/hash/hash.toml", TableError),
    ("kernels/hash/hash_avx2_x86_64.S", HeaderError),
    (str(FILE), TableError),
]


def _load(tree: "Tree") -> None:
    """Everything that ``list`` and the start of a run make of the tables."""
    loaded = tree.load()
    every_cell(loaded, None)
    checked_expectation(loaded)


@pytest.fixture
def full(tree: "Tree") -> "Tree":
    """The small repository with the table of what the dispatcher must take."""
    tree.put(str(FILE), RIGHT)
    return tree


def test_the_undamaged_tables_are_taken(full: "Tree") -> None:
    """What is refused below is refused for its damage."""
    _load(full)


def _in_place(path: Path, toml: str) -> None:
    """Put ``toml`` where ``path`` has its TOML, the header of a kernel file or the whole."""
    path.write_text(f"/*toml\n{toml}*/\n" if path.suffix == ".S" else toml, encoding="utf-8")


HOSTILE = {
    "deep array": ("x = " + "[" * 2000 + "]" * 2000, "nested too deep (at line 2)"),
    "deep table": ("x = " + "{a=" * 2000 + "1" + "}" * 2000, "nested too deep (at line 2)"),
    "deep over lines": ("x = [\n" + "[\n" * 2000 + "]\n" * 2001, "nested too deep (at line "),
    "long number": ("x = " + "9" * 5000, "too many digits (at line 2)"),
    "wide number": ("x = 99999999999999999999", "more than 64 bits"),
    "long key": (".".join("a" * 100_000) + " = 1", "more than 32 parts (at line 2)"),
    "long table": ("[" + ".".join("a" * 100_000) + "]", "more than 32 parts (at line 2)"),
    "nul": ("x = 1\0", "at line 2"),
    "lone return": ("x = 1\ry = 2", "at line 2"),
}


@pytest.mark.parametrize(("name", "error"), TABLES)
@pytest.mark.parametrize("kind", HOSTILE)
def test_what_tomllib_cannot_bear_is_one_error_with_its_line(
    full: "Tree", name: str, error: type[MatrixError], kind: str
) -> None:
    path = full.root / name
    text, words = HOSTILE[kind]
    before = 1 if path.suffix == ".S" else 0  # the line that opens the header
    _in_place(path, f"# a comment\n{text}\n")
    if before:
        words = words.replace("line 2", "line 3")
    with pytest.raises(error) as caught:
        _load(full)
    assert str(path) in caught.value.where
    assert words in caught.value.why
    assert len(str(caught.value)) < 2000


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


NO_TEXT: dict[str, tuple[Callable[[Path], object], str]] = {
    "fifo": (_fifo, "no regular file"),
    "folder": (_folder, "regular file"),
    "dangling link": (_dangling, ""),
    "huge": (lambda path: os.truncate(path, 1 << 30), "more than"),
    "not UTF-8": (lambda path: path.write_bytes(b"a = 1\nb = '\xe9'\n"), "0xe9 in line 2 is not UTF-8"),
    "byte order mark": (lambda path: path.write_bytes(b"\xef\xbb\xbfa = 1"), "byte order mark"),
    "UTF-16": (lambda path: path.write_text("a = 1", encoding="utf-16"), "not UTF-8"),
}


@pytest.mark.parametrize(("name", "error"), TABLES)
@pytest.mark.parametrize("kind", NO_TEXT)
def test_what_is_no_text_file_is_one_error(full: "Tree", name: str, error: type[MatrixError], kind: str) -> None:
    path = full.root / name
    damage, words = NO_TEXT[kind]
    damage(path)
    with pytest.raises(error) as caught:
        _load(full)
    assert str(path) in caught.value.where
    assert words in caught.value.why


def test_a_file_that_may_not_be_read_is_one_error(full: "Tree", monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's refusal, which root does not meet, is made by hand."""

    def refused(path: object, *_: object) -> int:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("matrix.model.textfile.os.open", refused)
    with pytest.raises(TableError) as caught:
        full.load()
    assert caught.value.why == "Permission denied"


@pytest.mark.parametrize("name", [name for name, _ in TABLES])
def test_line_ends_of_other_systems_are_read(full: "Tree", name: str) -> None:
    path = full.root / name
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    _load(full)


@pytest.mark.parametrize("name", ["kernels/hash/.#hash_c.c", "kernels/hash/.hash.h", "kernels/.cache"])
def test_an_editors_hidden_files_are_nobodys_kernels(full: "Tree", name: str) -> None:
    (full.root / name).symlink_to("user@machine.1234")
    _load(full)


def test_a_header_that_is_a_fifo_is_refused_before_a_build_hangs(full: "Tree") -> None:
    os.mkfifo(full.root / "kernels/hash/hash.h")
    with pytest.raises(HeaderError, match=r"hash\.h"):
        full.load()


def test_a_lattice_that_would_never_be_walked_to_its_end_is_refused(full: "Tree") -> None:
    row = '\n[[capability]]\nname = "c{0}"\narch = ["x86_64"]\ndetect = {{ word = "1.ecx", bit = 0 }}\nprobe = "nop"\n'
    table = full.root / "kernels/capabilities.toml"
    table.write_text(table.read_text() + "".join(row.format(number) for number in range(40)))
    full.kernel("cipher", "all", "x86_64", requires=[f"c{number}" for number in range(40)], priority=99)
    with pytest.raises(TableError, match="too many masks"):
        _load(full)


def test_all_toml_is_read_in_one_place() -> None:
    """A second reader would not know these limits."""
    users = [path for path in Path(matrix.__file__).parent.rglob("*.py") if "import tomllib" in path.read_text()]
    assert [path.name for path in users] == ["tables.py"]


# Any value anywhere.

SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(1 << 70), 1 << 70),
    st.sampled_from([0, 1, -1, 1 << 31, 1 << 63]),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["", "none", "u32", "0..", "len(data)", "len(len)", "9" * 5000, "1/0", "data/0", "x86_64", "[/x]"]),
    st.dates(),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.just("name"), inner, max_size=3)
    ),
    max_leaves=6,
)


def as_toml(value: Any) -> str:
    """``value`` as TOML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {as_toml(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    if isinstance(value, datetime.date | float):
        return str(value)
    return json.dumps(value)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) below ``value``."""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(inner, dict | list):
            yield from places(inner)


@pytest.mark.parametrize(("name", "error"), TABLES)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_value_anywhere_is_taken_or_refused(
    full: "Tree", name: str, error: type[MatrixError], data: st.DataObject
) -> None:
    path = full.root / name
    before = path.read_text()
    values = copy.deepcopy(tomllib.loads(before.removeprefix("/*toml").replace("*/", "")))
    container, key = data.draw(st.sampled_from(list(places(values))))
    container[key] = data.draw(VALUES)
    problem = None
    try:
        _in_place(path, "".join(f"{json.dumps(key)} = {as_toml(value)}\n" for key, value in values.items()))
        _load(full)
    except MatrixError as caught:
        problem = caught
    finally:
        path.write_text(before)
    if problem:
        assert isinstance(problem, error | TableError | HeaderError)
        assert problem.step
        assert problem.where
