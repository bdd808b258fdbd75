"""Loads the plugin of the matrix."""

pytest_plugins = ["matrix.plugin"]
