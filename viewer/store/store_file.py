"""Whether a store's path still leads to the file that was opened there."""

import contextlib
import os
from pathlib import Path

_FileId = tuple[int, int]
"""Device and inode."""


class StoreFile:
    """The file of an open store, by its identity in the folder."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._id = _file_id(self.path)
        self._journal = {path: _file_id(path) for path in self._journal_paths()}

    def _journal_paths(self) -> tuple[Path, ...]:
        name = self.path.name
        return tuple(self.path.with_name(name + end) for end in ("-wal", "-shm"))

    def is_there(self) -> bool:
        """Tell whether the path still leads to the file."""
        # Chained: the same file as at the start, and one that exists.
        return self._id == _file_id(self.path) is not None

    def set_journal_aside(self) -> None:
        """Remove the journal's names once the file has gone from its path.

        Whoever opens another file there would take the journal for that file's own.
        Processes that have it open can still read it.
        """
        for path, ours in self._journal.items():
            if ours is not None and _file_id(path) == ours:
                with contextlib.suppress(OSError):
                    path.unlink()


def _file_id(path: Path) -> _FileId | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - the fastest, and asked very often
    except OSError:
        return None
    return status.st_dev, status.st_ino
