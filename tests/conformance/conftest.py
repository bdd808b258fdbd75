"""Loads the plugin of the matrix for a pytest that was asked for these tests, and for no other."""

import pytest

from matrix.options import add_short_names

PLUGIN = "matrix.plugin"


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Load the plugin while its options can still be declared. `capmatrix run` has loaded it before."""
    if pluginmanager.has_plugin(PLUGIN):
        return
    if pluginmanager.has_plugin("session"):
        text = "pytest meets the conformance tests only on its way: name them, as in `pytest tests/conformance`"
        raise pytest.UsageError(text)
    pluginmanager.import_plugin(PLUGIN)
    add_short_names(parser)
