"""Headers of many files at a time, in whatever process asks for them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from viewer.domain.errors import UnreadableInputError
from viewer.domain.file_header import FileHeader


@dataclass(frozen=True, slots=True)
class Refused:
    """A file is not a readable image: what is wrong, and how to fix it."""

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

    Such a chunk raises UnreadableInputError; its files are then read one by one, so
    that each of them costs its process once more and no more. Where nobody waits for
    it any more (``stopped``) the rest is refused unread.
    """
    try:
        return read(paths)
    except UnreadableInputError as error:
        if len(paths) == 1 or stopped():
            return (Refused(error.what, error.how),) * len(paths)
        return tuple(r for p in paths for r in read_carefully((p,), read, stopped))


def _read(path: Path) -> FileHeader | Refused:
    from viewer.readers.headers import read_file_header

    try:
        return read_file_header(path)
    except UnreadableInputError as error:
        return Refused(error.what, error.how)
