"""Detecting whether anybody has written to a store."""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from viewer.store.store_file import StoreFile

if TYPE_CHECKING:
    import sqlite3


class StoreWatch:
    """Watches a store's data version, which changes when another connection commits.

    It holds one connection without a transaction, which blocks no writer, and is used
    only by the thread of the first call.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._file: StoreFile | None = None
        self._version: int | None = None

    def has_changed(self) -> bool:
        """Tell whether the store was written to, or replaced, since the last call.

        The first call reports a change if there is a store. An unreadable one reports
        none: whatever else reads it gives the error.
        """
        if self._file is not None and not self._file.is_there():
            self.close()
        before, self._version = self._version, self._data_version()
        return self._version not in {None, before}

    def close(self) -> None:
        """Close the connection; the next look opens another."""
        if self._connection is not None:
            self._connection.close()
        self._connection = self._file = self._version = None

    def _data_version(self) -> int | None:
        import sqlite3  # with the first look, a while after the window's first image

        try:
            if self._connection is None:
                self._open()
            assert self._connection is not None  # noqa: S101 - opened just now
            # It counts commits of other connections only, so this one never writes.
            row = self._connection.execute("PRAGMA data_version").fetchone()
        except sqlite3.Error:
            with contextlib.suppress(sqlite3.Error):
                self.close()
            return None
        return int(row[0])

    def _open(self) -> None:
        """Open the store, without creating it."""
        # "rw" creates no store, and "ro" could not create the -shm file of a WAL store.
        address = f"{self._path.absolute().as_uri()}?mode=rw"
        self._file = StoreFile(self._path)
        import sqlite3

        self._connection = sqlite3.connect(address, timeout=0, uri=True)
