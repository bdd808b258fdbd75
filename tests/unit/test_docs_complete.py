"""The pages on formats name every key, operation and status that the code knows."""

import re
from enum import IntEnum
from pathlib import Path

import pytest

from matrix.checks import all_checks
from matrix.model import interface, kernel
from matrix.plan.cell import Enforcement
from matrix.worker.protocol import PROTOCOL, Op, Place, Role, Status

DOCS = Path(__file__).parents[2] / "docs"


def _text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def _first_cells(text: str) -> set[str]:
    """What stands in the first column of the tables, without marks of code."""
    return {match[1].strip("`") for match in re.finditer(r"^\| (`?[\w.|]+`?) \|", text, re.MULTILINE)}


def test_every_key_of_a_kernel_header_is_explained() -> None:
    keys = set(kernel._Header.__struct_fields__)
    assert keys <= _first_cells(_text("kernel-header.md"))
    assert all(f"{field} = " in _text("kernel-header.md") for field in kernel.State.__struct_fields__)


@pytest.mark.parametrize("table", [interface._CallTable, interface._OpTable])
def test_every_key_of_an_interface_is_explained(table: type) -> None:
    keys = {"in" if key == "inputs" else "out" if key == "outputs" else key for key in table.__struct_fields__}  # type: ignore[attr-defined]
    assert keys <= _first_cells(_text("interface-format.md"))


def test_the_example_of_an_interface_is_chacha20s() -> None:
    example = _text("interface-format.md").partition("## An example")[2]
    own = (DOCS.parent / "kernels" / "chacha20" / "chacha20.toml").read_text(encoding="utf-8")
    assert [line.strip() for line in example.splitlines() if line.strip()] == [
        line.strip() for line in own.splitlines() if line.strip() and not line.startswith("#")
    ]


@pytest.mark.parametrize("words", [Op, Status, Role, Place])
def test_every_number_of_the_protocol_is_explained(words: type[IntEnum]) -> None:
    rows = re.findall(r"^\| (\w+) \| (\w+) \|", _text("wire-protocol.md"), re.MULTILINE)
    pairs = {frozenset(row) for row in rows}
    assert {frozenset((str(word.value), word.name)) for word in words} <= pairs
    assert f"Version {PROTOCOL}." in _text("wire-protocol.md")


def test_every_check_and_enforcement_is_a_word() -> None:
    glossary = _text("glossary.md")
    assert all(f"`{word}`" in glossary for word in (*(check.name for check in all_checks()), *Enforcement))


def test_every_room_is_described() -> None:
    folders = {path.name for path in (DOCS.parent / "matrix").iterdir() if (path / "__init__.py").is_file()}
    text = _text("architecture.md")
    assert [name for name in sorted(folders) if f"`{name}/`" not in text] == []


def test_every_file_that_a_page_names_exists() -> None:
    for page in sorted(DOCS.glob("*.md")):
        for name in re.findall(r"`((?:matrix|kernels|images|tests|vectors|docs)/[\w./-]+\.\w+)`", page.read_text()):
            assert (DOCS.parent / name).exists(), f"{page.name}: {name}"
        for name in re.findall(r"\]\(([\w./-]+\.md)\)", page.read_text()):
            assert (page.parent / name).exists(), f"{page.name}: {name}"
