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


def _rows() -> dict[int, str]:
    """{code: meaning} of the table of exit codes in docs/running.md; a row may name several."""
    text = (
        (data_root() / "docs" / "running.md").read_text().partition("| exit code | meaning |")[2].partition("\n\n")[0]
    )
    found = re.findall(r"^\| ([0-9][0-9 /]*) \| (.+) \|$", text, re.MULTILINE)
    codes = [int(code) for row, _ in found for code in row.split(" / ")]
    assert len(set(codes)) == len(codes), "a code stands in two rows"
    return {int(code): meaning for row, meaning in found for code in row.split(" / ")}


def test_the_readme_has_a_row_for_every_error_and_none_for_what_there_is_not() -> None:
    rows = _rows()
    codes = {MatrixError.exit_code, *(kind.exit_code for kind in KINDS)}
    assert {code for code in rows if 10 <= code < 125} == codes
    assert len({rows[code] for code in codes}) == len(codes)


WORDS = [
    *("table", "header", "mask", "vector", "failure", "program", "engine"),
    *("built", "guest", "oracle", "filter", "written"),
]


@pytest.mark.parametrize(("code", "word"), list(enumerate(WORDS, 11)))
def test_a_row_is_about_its_error(code: int, word: str) -> None:
    (kind,) = [kind for kind in KINDS if kind.exit_code == code]
    assert word in _rows()[code]
    assert kind.__doc__


def test_the_readme_explains_every_exit_code_of_pytest() -> None:
    named = set(_rows())
    assert {int(code) for code in pytest.ExitCode} <= named
    assert {125, 254} <= named


@pytest.mark.parametrize("kind", [MatrixError, *KINDS])
def test_a_name_of_a_million_characters_does_not_fill_the_screen(kind: type[MatrixError]) -> None:
    long = "begin" + "x" * 1_000_000 + "end"
    text = str(kind(long, where=long, why=f"first\n{long}\nlast", step=long))
    assert len(text) < 10_000
    assert text.count("begin") == text.count("end") == 4
    assert "characters ...]" in text
    assert "first" in text
    assert "last" in text


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
