"""What makes pytest leave cells out: the expression of ``-k``, and options that come from the environment."""

import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import replace

from matrix.checks import every_cell
from matrix.errors import SelectionError
from matrix.model.catalog import every_profile, load_catalog
from matrix.model.near import near
from matrix.plan.cell import Cell
from matrix.plan.selection import Selection, select
from matrix.resources import CELL_TEST, data_root

_LEAVES_OUT = re.compile(
    r"-[qvxsl]*[km].*|--(?:deselect|ignore|ignore-glob|lf|last-failed|sw|stepwise)(?:=.*)?"
    r"|@.*|(?:-[qvxsl]*o|--override-ini=)?addopts=.*"
)
"""pytest's options that leave tests out, alone or behind short ones without a value, and what may bring such options
along: a file of arguments, and another value for ``addopts``."""


def require_expression(keyword: str, wanted: Selection) -> None:
    """Raises SelectionError when ``keyword`` is no expression of pytest's ``-k``, of which pytest-xdist would die, or
    matches none of the cells that ``wanted`` leaves of the unprobed plan; MaskError for a mask that there is not."""
    if not keyword:
        return
    from _pytest.mark.expression import Expression  # slow to load, and rarely needed

    try:
        expression = Expression.compile(keyword)
    except Exception as problem:  # ParseError or SyntaxError, as pytest's version has it
        step = "write names with `and`, `or`, `not` and parentheses"
        raise SelectionError("-k is no expression", where=keyword, why=str(problem), step=step) from None
    # pytest matches the names of the folders, the file, the test and what pytest_itemcollected adds.
    pairs = {f"tests/conformance/{CELL_TEST}[{cell.id}]:{cell.kind}".lower() for cell in _cells(wanted)}

    def matches(pair: str) -> bool:
        return expression.evaluate(lambda word, /, **_: word.lower() in pair)

    if not any(map(matches, pairs)):
        raise SelectionError("-k matches no cell", where=keyword, why=_near_words(keyword, pairs), step=_LIST)


_LIST = "`capmatrix list TARGET` prints the ids of the cells; -k is matched with them"


def _cells(wanted: Selection) -> tuple[Cell, ...]:
    """The cells of the unprobed plan. Raises SelectionError for a name that there is not."""
    plain = load_catalog(data_root())
    every = every_profile(plain).targets
    chosen = every.only([every.get(name).name for name in wanted.targets]) if wanted.targets else plain.targets
    catalog = replace(plain, targets=chosen)
    return select(every_cell(catalog, None), wanted, catalog, {})


def _near_words(keyword: str, pairs: Iterable[str]) -> str:
    """What words of ``keyword`` that no cell has may have meant."""
    parts = {part for pair in pairs for part in re.split(r"[/\[\]:]", pair)}
    odd = [word for word in re.findall(r"[\w.+@-]+", keyword) if not any(word.lower() in part for part in parts)]
    meant = [name for word in odd if word not in ("and", "or", "not") for name in near(word, sorted(parts), 1)]
    return f"did you mean {' or '.join(meant)}?" if meant else "the expression is true of none"


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
