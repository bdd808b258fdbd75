"""What makes pytest leave cells out: the expression of ``-k``, and options that come from the environment."""

import os
import re
import shlex

from matrix.errors import SelectionError

_LEAVES_OUT = re.compile(r"-[qvxsl]*[km].*|--(?:deselect|ignore|ignore-glob|lf|last-failed|sw|stepwise)(?:=.*)?")
"""pytest's options that leave tests out, alone or behind short ones without a value."""


def require_expression(keyword: str) -> None:
    """Raises SelectionError when ``keyword`` is no expression of pytest's ``-k``: pytest-xdist would die of it."""
    if not keyword:
        return
    from _pytest.mark.expression import Expression  # slow to load, and rarely needed

    try:
        Expression.compile(keyword)
    except Exception as problem:  # ParseError or SyntaxError, as pytest's version has it
        step = "write names with `and`, `or`, `not` and parentheses"
        raise SelectionError("-k is no expression", where=keyword, why=str(problem), step=step) from None


def require_no_hidden_deselection() -> None:
    """Raises SelectionError when PYTEST_ADDOPTS leaves cells out: they would be missing in the plan without a word."""
    try:
        words = shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
    except ValueError:
        return  # pytest says what is wrong with it
    for word in words:
        if _LEAVES_OUT.fullmatch(word):
            step = "take it away there, and give it on the command line: -k EXPRESSION, or --pytest=OPTION"
            raise SelectionError("PYTEST_ADDOPTS leaves cells out", why=f"it has the option {word}", step=step)
