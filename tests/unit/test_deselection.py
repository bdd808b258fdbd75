"""Cells are left out by the command line alone, and by an expression that pytest can read."""

import pytest

from matrix.commands.deselection import require_expression, require_no_hidden_deselection
from matrix.errors import SelectionError
from matrix.plan.selection import Selection


@pytest.mark.parametrize("keyword", ["and and", "a b", "x(", "\x1b["])
def test_what_is_no_expression_is_refused(keyword: str) -> None:
    with pytest.raises(SelectionError, match="-k is no expression"):
        require_expression(keyword, Selection())


@pytest.mark.parametrize(
    "keyword", ["", "chacha20", "CONFORMANCE", "chacha20 and not (avx2 or trap)", "test_cells.py", "test_cell"]
)
def test_an_expression_is_taken(keyword: str) -> None:
    require_expression(keyword, Selection(("arm32-noneon",)))


@pytest.mark.parametrize(
    ("keyword", "wanted", "why"),
    [
        ("chacha20-amrv7", Selection(("arm32-noneon",)), "did you mean chacha20-armv7?"),
        ("avx2", Selection(("arm32-noneon",)), "the expression is true of none"),
        ("trap and mask", Selection(("x86_64",)), "the expression is true of none"),
        ("chacha20-c", Selection(("arm32-noneon",), algorithms=("poly1305",)), "the expression is true of none"),
        ("chacha20-c", Selection(("arm32-noneon@Os",), enforcements=("soft",)), "did you mean chacha20?"),
    ],
)
def test_what_matches_no_cell_is_refused(keyword: str, wanted: Selection, why: str) -> None:
    with pytest.raises(SelectionError, match="-k matches no cell") as caught:
        require_expression(keyword, wanted)
    assert caught.value.why == why


@pytest.mark.parametrize(
    "options",
    [
        *("-k dispatch", "-kdispatch", "-qk x", "-v --deselect=a", "--ignore-glob '*'", "-m x", "--lf"),
        *("@/tmp/arguments", "-o addopts=-ka15", "-oaddopts=-ka15", "--override-ini=addopts=-ka15"),
    ],
)
def test_the_environment_leaves_no_cell_out(monkeypatch: pytest.MonkeyPatch, options: str) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", options)
    with pytest.raises(SelectionError, match="PYTEST_ADDOPTS leaves cells out"):
        require_no_hidden_deselection()


@pytest.mark.parametrize("options", ["", "-q -x", "-p no:randomly", "--maxfail=1", "--color=yes", "'"])
def test_other_options_of_the_environment_are_pytests(monkeypatch: pytest.MonkeyPatch, options: str) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", options)
    require_no_hidden_deselection()
