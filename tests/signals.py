"""Signals in the processes that tests start."""

import signal
import threading


def heed() -> None:
    """Take back that SIGINT and SIGHUP are ignored: a background job of a script and what `nohup` starts are told so,
    and all that is started from here would inherit it. No run could then be stopped as the tests want to see it."""
    if threading.current_thread() is threading.main_thread():
        for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
            if signal.getsignal(number) is signal.SIG_IGN:
                signal.signal(number, usual)
