"""Marks the top of the source tree for pytest. It loads nothing: tests/conformance/conftest.py loads the plugin."""
