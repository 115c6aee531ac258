"""The file of a store: making and opening it, and whether it is still there."""

import contextlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from viewer.domain.errors import StoreError
from viewer.private_files import PRIVATE_FILE, is_made_here, make_private_folder

if TYPE_CHECKING:
    import sqlite3

_FileId = tuple[int, int]
"""Device and inode."""


class StoreFile:
    """The file of an open store, by its identity in the folder."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._own = f"{self.path.name}."
        self._id = _file_id(self.path)
        self._journal = {path: _file_id(path) for path in self._journal_paths()}

    def _journal_paths(self) -> tuple[Path, ...]:
        name = self.path.name
        return tuple(self.path.with_name(name + end) for end in ("-wal", "-shm"))

    def is_there(self) -> bool:
        """Tell whether the path still leads to the file."""
        # Chained: the same file as at the start, and one that exists.
        return self._id == _file_id(self.path) is not None

    def remove_left(self, path: Path) -> None:
        """Remove a file or folder of the program's own that a deletion left.

        Any other stays: a store from elsewhere may name any file.
        """
        beside = path.parent == self.path.parent
        if not (is_made_here(path) or (beside and path.name.startswith(self._own))):
            return
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                path.unlink()

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


def make_room(path: Path) -> bool:
    """Make the folder of a new store; return whether the store can be written to."""
    if path.is_dir():
        raise StoreError(
            f"The store '{path.name}' is a folder.",
            "Name a file with --store, such as overread.sqlite.",
        )
    if not path.exists():
        try:
            make_private_folder(path.parent)
        except OSError as error:
            raise StoreError(
                f"The store's folder cannot be created ({error.strerror}).",
                "Choose a folder you may write to with --store.",
            ) from error
    folder_ok = os.access(path.parent, os.W_OK)
    return folder_ok and (not path.exists() or os.access(path, os.W_OK))


def connect(path: Path, timeout_s: float, *, writable: bool) -> "sqlite3.Connection":
    """Open the file of a store, which is made private if it is new."""
    import sqlite3  # not with the window, whose first image comes before any store

    if writable:
        with contextlib.suppress(FileExistsError):  # SQLite's files beside it follow it
            path.touch(PRIVATE_FILE, exist_ok=False)
        return sqlite3.connect(path, timeout=timeout_s)
    if not path.exists():
        raise StoreError(
            "The store cannot be created: its folder is read-only.",
            "Choose a folder you may write to with --store.",
        )
    # SQLite reads a WAL store through a -shm file, which it cannot create in a
    # read-only folder; "immutable" does without, but would not see a log.
    has_journal = path.with_name(path.name + "-wal").exists()
    mode = "mode=ro" if has_journal else "mode=ro&immutable=1"
    return sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True)
