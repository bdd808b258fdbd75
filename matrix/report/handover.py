"""The journal of a run, handed to the parent of its pytest as an open file.

It is the file that this run has written, whatever lies at its path later, and it keeps its lock: no other run takes the
journal before the parent has read the ledger. unix(7), SCM_RIGHTS: a file on its way is open.
"""

import socket
from pathlib import Path

from matrix.report.journal import Journal


class Handover:
    """In the parent: ``descriptor`` is for the child, which gives its journal through it."""

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()
        self._journal = -1

    def __enter__(self) -> "Handover":
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the journal: from now on another run may take it."""
        if self._journal >= 0:
            socket.close(self._journal)
        self._ours.close()
        self._theirs.close()

    @property
    def descriptor(self) -> int:
        """What the child inherits."""
        return self._theirs.fileno()

    def journal(self) -> Path | None:
        """The journal that the child has given, as a path that holds until the end; None when it has given none.

        To be called once the child has ended.
        """
        self._theirs.close()
        try:
            _, files, _, _ = socket.recv_fds(self._ours, 1, 1)
        except OSError:
            return None
        if not files:
            return None
        self._journal = files[0]
        return Path(f"/proc/self/fd/{self._journal}")


def give(journal: Journal, descriptor: int) -> None:
    """In the child: give ``journal`` to the parent, behind whose ``descriptor`` it waits. Raises OSError."""
    with socket.socket(fileno=descriptor) as parent:
        socket.send_fds(parent, [b"j"], [journal.fileno()])
