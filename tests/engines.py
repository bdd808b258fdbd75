"""What tests need that use a container engine, whichever folder they are in."""

import os
from typing import NoReturn

import pytest

from matrix.errors import EngineError
from matrix.sandbox.engine import Engine


def lacking(reason: str) -> NoReturn:
    """Skip, or fail where the tests with an engine must not be skipped."""
    if os.environ.get("CAPMATRIX_REQUIRE_DOCKER") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def require_engine() -> None:
    """Skip, or fail, when no engine answers."""
    why = ""
    try:
        Engine().close()
    except EngineError as problem:
        why = problem.why
    if why:
        lacking(f"no container engine answers: {why}")
