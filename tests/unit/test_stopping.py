"""The first signal stops a run, the next one does not disturb its end."""

import os
import signal
from collections.abc import Iterator

import pytest

from matrix.stopping import SIGNALS, Stopping


@pytest.fixture
def stopping() -> Iterator[Stopping]:
    one = Stopping()
    one.install()
    yield one
    one.remove()


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_stops_the_second_waits_the_third_ends(stopping: Stopping, number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)
    os.kill(os.getpid(), number)
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)
    assert stopping.signal == number.name


def test_none_disturbs_the_ledger(stopping: Stopping) -> None:
    stopping.end_begins()
    os.kill(os.getpid(), signal.SIGTERM)
    assert stopping.signal == "SIGTERM"


def test_what_is_ignored_stays_ignored_and_handlers_come_back() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        one = Stopping()
        one.install()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        one.remove()
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)
