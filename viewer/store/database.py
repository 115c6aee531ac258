"""The store's file: opening, migrating, transactions, and errors as sentences."""

import contextlib
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from viewer.domain.errors import DiskFullError, StoreError
from viewer.private_files import PRIVATE_FILE, make_private_folder, tighten
from viewer.store.lean_import import without
from viewer.store.migrations import LATEST, MIGRATIONS

if TYPE_CHECKING:
    import sqlite_utils

APPLICATION_ID: Final = 0x4F764552
"""Marks a SQLite file as ours: the letters OvER."""
BUSY_TIMEOUT_MS: Final = 5000
_MIGRATION_TIMEOUT_MS: Final = 600_000
"""How long to wait for another process that brings the same store up to date."""

_LOG: Final = logging.getLogger(__name__)

Row = sqlite3.Row
T = TypeVar("T")


def utc_now() -> str:
    """Return the time now, UTC, ISO 8601 to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def sqlite_version() -> str:
    """Return the version of the SQLite library in use."""
    return sqlite3.sqlite_version


class Store:
    """An open store; one connection, used by the thread that opened it.

    Parameters
    ----------
    path : Path
        The SQLite file.
    database : sqlite_utils.Database
        The open connection.
    writable : bool
        False where the file or its folder refuses writing.
    """

    def __init__(
        self, path: Path, database: "sqlite_utils.Database", *, writable: bool
    ) -> None:
        self.path = path
        self.writable = writable
        self._db = database

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything inside, or nothing; StoreError says why not."""
        with _sentences(self.path):
            self._db.conn.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.conn.execute("COMMIT")
            except BaseException:
                self._db.rollback()
                raise

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let every query inside see the store as it was at the first of them."""
        with _sentences(self.path):
            self._db.conn.execute("BEGIN")
            try:
                yield
            finally:
                self._db.rollback()

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Return every row of a query; columns by name or position."""
        with _sentences(self.path):
            cursor = self._db.conn.execute(sql, tuple(parameters))
            return cursor.fetchall()

    def records(
        self,
        make: Callable[[Iterable[Any]], T],
        sql: str,
        parameters: Sequence[object] = (),
    ) -> list[T]:
        """Return what ``make`` makes of the values of each row, for 100,000 of them."""
        with _sentences(self.path):
            cursor = self._db.conn.cursor()
            cursor.row_factory = lambda _, row: make(row)
            return cursor.execute(sql, tuple(parameters)).fetchall()

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run one statement inside a transaction; return the last row's id."""
        with _sentences(self.path):
            return self._db.conn.execute(sql, tuple(parameters)).lastrowid or 0

    def execute_many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run one statement for many rows inside a transaction."""
        with _sentences(self.path):
            self._db.conn.executemany(sql, rows)


def open_store(path: Path) -> Store:
    """Open the store at ``path``, creating or migrating it where needed.

    Raises
    ------
    StoreError
        For a file that is no store, a store of a newer version, a folder that
        cannot be written to, or a damaged file.
    """
    told = tighten(path)
    if told:
        _LOG.warning(told)
    with _sentences(path):
        writable = _make_room(path)
        connection = _connect(path, writable=writable)
        try:
            version = _checked_version(path, connection)
            database = _configured(connection, writable=writable)
            if version < LATEST:
                _migrate(path, connection, version, writable=writable)
        except BaseException:
            connection.close()
            raise
        return Store(path, database, writable=writable)


def _make_room(path: Path) -> bool:
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
                f"The store's folder cannot be made ({error.strerror}).",
                "Choose a folder you may write to with --store.",
            ) from error
    folder_ok = os.access(path.parent, os.W_OK)
    return folder_ok and (not path.exists() or os.access(path, os.W_OK))


def _connect(path: Path, *, writable: bool) -> sqlite3.Connection:
    if writable:
        with contextlib.suppress(FileExistsError):  # SQLite's files beside it follow it
            path.touch(PRIVATE_FILE, exist_ok=False)
        return sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000)
    if not path.exists():
        raise StoreError(
            "The store cannot be made: its folder is read-only.",
            "Choose a folder you may write to with --store.",
        )
    has_journal = path.with_name(path.name + "-wal").exists()
    mode = "mode=ro" if has_journal else "mode=ro&immutable=1"
    return sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True)


def _checked_version(path: Path, connection: sqlite3.Connection) -> int:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    objects = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if objects and application != APPLICATION_ID:
        raise StoreError(
            f"'{path.name}' is a SQLite file of another program, not a store.",
            "Name another file with --store; this one was left as it is.",
        )
    if version > LATEST:
        raise StoreError(
            f"The store '{path.name}' was made by a newer Overread "
            f"(schema {version}, this one reads up to {LATEST}).",
            "Update Overread, or name another file with --store.",
        )
    return version


def _configured(
    connection: sqlite3.Connection, *, writable: bool
) -> "sqlite_utils.Database":
    with without("pandas"):  # and only here: it is a tenth of the window's start
        import sqlite_utils

    connection.row_factory = sqlite3.Row
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    connection.execute("PRAGMA foreign_keys = ON")
    if writable:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    return sqlite_utils.Database(connection)


def _migrate(
    path: Path, connection: sqlite3.Connection, version: int, *, writable: bool
) -> None:
    if not writable:
        raise StoreError(
            f"The store '{path.name}' is of an older version and read-only.",
            "Make it writable so that it can be brought up to date.",
        )
    connection.execute(f"PRAGMA busy_timeout = {_MIGRATION_TIMEOUT_MS}")
    connection.execute("BEGIN IMMEDIATE")
    version = _checked_version(path, connection)  # another process may have been first
    for number in range(version + 1, LATEST + 1):
        for statement in _statements(MIGRATIONS[number]()):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {number}")
    connection.execute("COMMIT")
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")


def _statements(script: str) -> Iterator[str]:
    """Split a script into statements; a trigger's body is part of its own."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


@contextlib.contextmanager
def _sentences(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into sentences; everything committed stays."""
    try:
        yield
    except sqlite3.Error as error:
        raise _store_error(path, error) from error


_REASONS: Final = (
    (
        "readonly",
        "The store is read-only.",
        "Make the file and its folder writable, or name another with --store.",
    ),
    (
        "locked",
        "The store is busy: another program holds it.",
        "Wait until that program is done, then run the same command again.",
    ),
    (
        "not a database",
        "The file is no store: it is not a SQLite file.",
        "Name another file with --store; this one was left as it is.",
    ),
    (
        "malformed",
        "The store's file is damaged.",
        "Restore it from a backup; the damaged file was left as it is.",
    ),
    (
        "unable to open",
        "The store cannot be opened.",
        "Check that its folder exists and that you may write to it.",
    ),
    (
        "disk i/o error",
        "The disk that holds the store cannot be read or written.",
        "Check the disk, then run the same command again.",
    ),
)


def _store_error(path: Path, error: sqlite3.Error) -> StoreError:
    text = str(error).lower()
    if "disk is full" in text:
        return DiskFullError(
            f"{path.name}: The disk that holds the store is full.",
            "Free some space and run the same command again: it goes on where it was.",
        )
    for needle, what, how in _REASONS:
        if needle in text:
            return StoreError(f"{path.name}: {what}", how)
    return StoreError(f"{path.name}: the store refused a write ({error}).")
