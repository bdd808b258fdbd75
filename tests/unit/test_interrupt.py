"""Ctrl-C at an instruction that belongs to no line."""

import pytest

from matrix.plugin import pytest_keyboard_interrupt


def interrupted() -> None:
    raise KeyboardInterrupt


def without_lines() -> pytest.ExceptionInfo[KeyboardInterrupt]:
    """An interrupt in a function whose instructions have no line, as happens to single ones of any function."""
    code = interrupted.__code__
    units = len(code.co_code) // 2
    # CPython's Objects/locations.md: a byte 0xf8 | (n - 1) stands for n code units, 8 at most, without a location.
    table = bytes(0xF8 | (min(8, units - at) - 1) for at in range(0, units, 8))
    with pytest.raises(KeyboardInterrupt) as excinfo:
        exec(code.replace(co_linetable=table))
    return excinfo


def test_pytest_reports_an_interrupt_that_has_no_line() -> None:
    with pytest.raises(TypeError):
        without_lines().getrepr(funcargs=True)  # once pytest copes by itself, the plugin's hook can go
    excinfo = without_lines()
    pytest_keyboard_interrupt(excinfo)
    assert "KeyboardInterrupt" in str(excinfo.getrepr(funcargs=True))
