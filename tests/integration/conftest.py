"""What every integration test starts from."""

from ..signals import heed


def pytest_configure() -> None:
    """Runs that the tests start can be stopped."""
    heed()
