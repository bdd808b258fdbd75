"""Errors: one exit code each, a message with what, where, why and next, and no loss on the way between processes."""

import pickle
import re

import pytest

from matrix import errors
from matrix.errors import MatrixError
from matrix.resources import data_root

KINDS: list[type[MatrixError]] = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, MatrixError) and kind is not MatrixError
]


def test_there_are_errors() -> None:
    assert len(KINDS) >= 11


def test_exit_codes_are_distinct_and_not_pytests_or_the_shells() -> None:
    codes = [MatrixError.exit_code, *(kind.exit_code for kind in KINDS)]
    assert len(set(codes)) == len(codes)
    assert all(10 <= code < 125 for code in codes)


def test_the_readme_names_the_range_of_exit_codes() -> None:
    match = re.search(r"^\| (\d+)-(\d+) \|", (data_root() / "README.md").read_text(), re.MULTILINE)
    assert match
    codes = [MatrixError.exit_code, *(kind.exit_code for kind in KINDS)]
    assert [int(number) for number in match.groups()] == [min(codes), max(codes)]


def test_the_readme_explains_every_exit_code_of_pytest() -> None:
    rows = re.findall(r"^\| ([\d /-]+) \|", (data_root() / "README.md").read_text(), re.MULTILINE)
    named = {int(code) for row in rows for code in row.split(" / ") if "-" not in code}
    assert {int(code) for code in pytest.ExitCode} <= named
    assert {125, 254} <= named


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_has_a_next_step_and_says_what_it_is(kind: type[MatrixError]) -> None:
    assert kind.step
    assert kind.__doc__
    assert kind("x").step == kind.step


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_has_what_where_why_and_next(kind: type[MatrixError]) -> None:
    problem = kind("the table is wrong", where="a.toml, key b", why="3 is no text", step="write a text")
    assert str(problem).splitlines() == [
        "the table is wrong",
        "  where: a.toml, key b",
        "  why: 3 is no text",
        "  next: write a text",
    ]
    assert str(kind("short")).splitlines() == ["short", f"  next: {kind.step}"]


@pytest.mark.parametrize("kind", [MatrixError, *KINDS])
def test_an_error_survives_pickling(kind: type[MatrixError]) -> None:
    problem = kind("what", where="where", why="why", step="step")
    copy = pickle.loads(pickle.dumps(problem))
    assert type(copy) is kind
    assert (copy.what, copy.where, copy.why, copy.step) == ("what", "where", "why", "step")
    assert str(copy) == str(problem)
    assert copy.args == problem.args
