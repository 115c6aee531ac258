"""Headers of many files per call, in any process."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from viewer.domain.errors import UnreadableInputError
from viewer.domain.file_header import FileHeader


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that is not a readable image: what is wrong, and how to fix it."""

    what: str
    how: str


Headers = tuple[FileHeader | Refused, ...]
ReadChunk = Callable[[tuple[Path, ...]], Headers]
"""Reads some files; as many results as paths, in their order."""


def read_chunk(paths: Sequence[Path]) -> Headers:
    """Return each file's header, or why it has none."""
    return tuple(_read(path) for path in paths)


def read_carefully(
    paths: tuple[Path, ...], read: ReadChunk, stopped: Callable[[], bool]
) -> Headers:
    """Return the result of ``read``, even if one of the files crashes its process.

    A chunk that raises UnreadableInputError is read again one file at a time, so that
    each bad file costs its process at most once more. Once ``stopped``, the rest is
    returned unread.
    """
    try:
        return read(paths)
    except UnreadableInputError as error:
        # One file alone is the culprit; there is nothing to divide any more.
        if len(paths) == 1 or stopped():
            return (Refused(error.what, error.how),) * len(paths)
        return tuple(r for p in paths for r in read_carefully((p,), read, stopped))


def _read(path: Path) -> FileHeader | Refused:
    from viewer.readers.headers import read_file_header

    try:
        return read_file_header(path)
    except UnreadableInputError as error:
        return Refused(error.what, error.how)
