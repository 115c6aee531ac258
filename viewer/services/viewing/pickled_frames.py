"""Objects sent over a pipe between two of our processes, without copying arrays.

A message is a pickle with its arrays' buffers beside it (pickle protocol 5): the reader
receives each array directly into its memory, and unpickling takes microseconds, so that
a window's interpreter lock is never held for long.
"""

import contextlib
import io
import pickle
import struct
from typing import Any, Final

_COUNT: Final = struct.Struct("<I")
_LENGTH: Final = struct.Struct("<Q")
_PIPE_BYTES: Final = 1 << 20
"""The largest pipe that Linux grants anybody, 16 times the usual one."""


class TooLongError(Exception):
    """A message exceeds its reader's limit."""


def widen(pipe: io.FileIO) -> None:
    """Enlarge a pipe's buffer, where the system allows it."""
    try:
        from fcntl import F_SETPIPE_SZ, fcntl
    except ImportError:
        return  # only Linux has it; elsewhere pipes are merely slower
    with contextlib.suppress(OSError):
        fcntl(pipe, F_SETPIPE_SZ, _PIPE_BYTES)


def write_message(pipe: io.FileIO, value: object) -> None:
    """Write one object; OSError if nobody reads."""
    buffers: list[pickle.PickleBuffer] = []
    parts = [memoryview(pickle.dumps(value, 5, buffer_callback=buffers.append))]
    parts += [buffer.raw() for buffer in buffers]
    lengths = b"".join(_LENGTH.pack(part.nbytes) for part in parts)
    for part in (memoryview(_COUNT.pack(len(parts)) + lengths), *parts):
        _write_all(pipe, part)


def read_message(pipe: io.FileIO, limit: int | None = None) -> Any:  # noqa: ANN401 - any object, as json.loads
    """Return the next object; EOFError if the other side is gone.

    Its arrays own their memory. A message of more than ``limit`` bytes raises
    TooLongError before any of it is read.
    """
    (count,) = _COUNT.unpack(_read_exactly(pipe, _COUNT.size))
    # The table is bounded before it is read: its length comes from the other side.
    if limit is not None and count * _LENGTH.size > limit:
        raise TooLongError
    table = _read_exactly(pipe, count * _LENGTH.size)
    sizes = [length for (length,) in _LENGTH.iter_unpack(table)]
    if limit is not None and sum(sizes) > limit:
        raise TooLongError
    head, *buffers = [_read_exactly(pipe, size) for size in sizes]
    return pickle.loads(head, buffers=buffers)  # noqa: S301 - from our own process


def _write_all(pipe: io.FileIO, data: memoryview) -> None:
    while data.nbytes:
        data = data[pipe.write(data) :]


def _read_exactly(pipe: io.FileIO, size: int) -> bytearray:
    # Not bytes: arrays over them would be read-only.
    data = bytearray(size)
    rest = memoryview(data)
    while rest.nbytes:
        got = pipe.readinto(rest)
        if not got:
            raise EOFError
        rest = rest[got:]
    return data
