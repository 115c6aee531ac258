"""Random access to gzip and zlib data.

Inflating begins at the start of a file, so the last slice of a volume would take as
long as all of it. The inflater's state is kept every few megabytes, and the next slice
begins at the nearest state before it.
"""

import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import IO, Final

_PIECE: Final = 1 << 16
# Each kept state costs the 32 KiB window of deflate.
_APART: Final = 8 << 20
_EITHER: Final = 32 + zlib.MAX_WBITS
"""Takes the headers of gzip (RFC 1952) and zlib (RFC 1950)."""
_MOST_FILES: Final = 2


@dataclass(frozen=True, slots=True)
class _State:
    """An inflater's state at positions in the compressed and the inflated data."""

    read: int
    given: int
    inflater: "zlib._Decompress"

    @classmethod
    def new(cls, read: int, given: int) -> "_State":
        """Return the state before a member of a file."""
        return cls(read, given, zlib.decompressobj(_EITHER))

    def copy(self) -> "_State":
        """Return an independent copy of the state."""
        return _State(self.read, self.given, self.inflater.copy())

    def inflate(self, stream: IO[bytes]) -> tuple[bytes, "_State"]:
        """Return the next bytes and the following state; this one is used up."""
        stream.seek(self.read)
        piece = stream.read(_PIECE)
        if not piece:
            raise EOFError("the compressed data end early")
        found = self.inflater.decompress(piece)
        given = self.given + len(found)
        read = self.read + len(piece) - len(self.inflater.unused_data)
        if self.inflater.eof:  # members that follow one another are one file
            return found, _State.new(read, given)
        return found, _State(read, given, self.inflater)


class _States:
    """The states kept for one file."""

    def __init__(self, start: int) -> None:
        self._lock = Lock()
        self._states = [_State.new(start, 0)]

    def before(self, first: int) -> _State:
        """Return the last state before a byte."""
        with self._lock:
            return next(s for s in reversed(self._states) if s.given <= first).copy()

    def keep(self, state: _State) -> None:
        """Keep a state if it is far enough behind the last one."""
        with self._lock:
            if state.given >= self._states[-1].given + _APART:
                self._states.append(state.copy())


def inflated(path: Path, start: int, first: int, length: int) -> bytes:
    """Return ``length`` inflated bytes of a file from offset ``first`` on.

    ``start`` is the offset of the compressed data in the file. Thread-safe.

    Raises
    ------
    EOFError, zlib.error
        If the data end early or are damaged.
    """
    found = path.stat()
    states = _states(path, start, found.st_mtime_ns, found.st_size)
    state = states.before(first)
    output = bytearray()
    with path.open("rb") as stream:
        while len(output) < length:
            skipped = max(0, first - state.given)
            piece, state = state.inflate(stream)
            output += piece[skipped:]
            states.keep(state)
    return bytes(output[:length])


@lru_cache(maxsize=_MOST_FILES)
# Time and size are in the key so that a file that was rewritten starts anew.
def _states(_path: Path, start: int, _changed: int, _size: int) -> _States:
    return _States(start)
