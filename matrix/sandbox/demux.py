"""The engine's stream format: stdout and stderr of one command in chunks with an 8-byte header each."""

import struct

_HEAD = struct.Struct(">BxxxI")
"""Stream number (1 stdout, 2 stderr, 3 the engine's own words), three zero bytes, length of what follows."""
_STDOUT = 1


class Demultiplexer:
    """Takes the bytes of the connection as they come, cut anywhere, and tells the two streams apart."""

    def __init__(self) -> None:
        self._head = b""
        self._stdout = False
        self._left = 0

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """The (stdout, stderr) bytes in ``data``; what belongs to an unfinished header is kept for the next call."""
        out: list[memoryview] = []
        err: list[memoryview] = []
        view = memoryview(data)
        at = 0
        while at < len(view):
            if self._left:
                piece = view[at : at + self._left]
                (out if self._stdout else err).append(piece)
                self._left -= len(piece)
                at += len(piece)
                continue
            piece = view[at : at + _HEAD.size - len(self._head)]
            self._head += piece
            at += len(piece)
            if len(self._head) == _HEAD.size:
                stream, self._left = _HEAD.unpack(self._head)
                self._stdout = stream == _STDOUT
                self._head = b""
        return b"".join(out), b"".join(err)
