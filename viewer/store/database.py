"""The store's file: opening, migrating, transactions, and error messages."""

import contextlib
import itertools
import logging
import math
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from viewer.domain.errors import StoreBusyError, StoreError
from viewer.private_files import tighten
from viewer.store.generation import Mark, OutsideNotes
from viewer.store.lean_import import without
from viewer.store.reply_rows import utc_now
from viewer.store.saved_replies import (
    SavedFile,
    abandoned_reply_files,
    has_abandoned_reply_files,
)
from viewer.store.schema import LATEST, MIGRATIONS
from viewer.store.store_errors import (
    lost_error,
    older_store_error,
    sentences,
    store_error,
)
from viewer.store.store_file import StoreFile, connect, make_room
from viewer.store.taking_in import take_in

if TYPE_CHECKING:
    import sqlite_utils

APPLICATION_ID: Final = 0x4F764552
"""Marks a SQLite file as ours: the letters OvER."""
BUSY_TIMEOUT_MS: Final = 5000
_MIGRATION_TIMEOUT_MS: Final = 600_000
"""How long to wait for another process that brings the same store up to date."""

_LOG: Final = logging.getLogger(__name__)
_BUSY_POLL_S: Final = 0.005
HOLD_S: Final = 0.06
"""How long work in several transactions holds the write lock before others may."""
_GAP_S: Final = 0.012
"""How long it then leaves the lock alone; whoever waits looks more often than that."""

Row = sqlite3.Row
OnWait = Callable[[float], None]
"""Called repeatedly with the seconds a writer has waited; may raise to stop it."""

__all__ = ["Row", "Store", "open_store", "utc_now"]


def sqlite_version() -> str:
    """Return the version of the SQLite library in use."""
    return sqlite3.sqlite_version


class Store:
    """An open store: one connection, used by the thread that opened it.

    Parameters
    ----------
    path : Path
        The SQLite file.
    database : sqlite_utils.Database
        The open connection.
    writable : bool
        False if the file or its folder is read-only.
    """

    patience_s: float = BUSY_TIMEOUT_MS / 1000
    """How long a transaction waits for other writers; see `wait_for_writers`."""
    on_wait: OnWait = staticmethod(lambda _: None)

    def __init__(
        self, path: Path, database: "sqlite_utils.Database", *, writable: bool
    ) -> None:
        self.path = path
        self.writable = writable
        self._db = database
        self._file = StoreFile(path)
        self._notes = OutsideNotes(self._file.path)
        self._noted = 0
        self._mark = self._newest_mark()

    def _newest_mark(self) -> Mark:
        """Return the store's mark; the notes, written later, are read first."""
        name = str(self.rows("SELECT name FROM store_mark")[0][0])
        self._noted = self._notes.newest(name)
        return Mark(name, self._generation())

    def _generation(self) -> int:
        return int(self.rows("SELECT generation FROM store_mark")[0][0])

    @property
    def name(self) -> str:
        """The store's name, the same in every copy of it."""
        return self._mark.name

    @property
    def is_older_copy(self) -> bool:
        """True if the store is older than the state recorded outside it."""
        return self._mark.generation < self._noted

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything inside, or nothing; StoreError on failure.

        Raises
        ------
        StoreBusyError
            If another process writes for longer than this store waits.
        StoreLostError
            If the file was deleted or replaced since it was opened.
        OlderStoreError
            If the file was an older copy when it was opened.
        """
        if self.is_older_copy:
            raise older_store_error(self.path, self._mark.generation, self._noted)
        with self._any_transaction():
            yield
            self._advance()
        # Only after the commit: notes ahead of the store would make it an older copy.
        self._notes.write(self._mark)
        # A commit to a deleted file succeeds, and is gone once the file is closed.
        self.check_file()

    @contextlib.contextmanager
    def _any_transaction(self) -> Iterator[None]:
        with sentences(self.path):
            self._begin()
            try:
                yield
                self._db.conn.execute("COMMIT")
            # Also for an interrupt: the write lock would stay held otherwise.
            except BaseException:
                self._db.rollback()
                raise

    def _begin(self) -> None:
        """Take the write lock by polling, so that waiting can be reported and stopped.

        SQLite's own waiting checks less and less often, and would miss short gaps.
        """
        began = time.monotonic()
        # Not a deferred BEGIN: one that has read fails at its first write, whatever the
        # timeout, if another process committed since (SQLITE_BUSY_SNAPSHOT).
        while not _has_run(self._db.conn, "BEGIN IMMEDIATE"):
            waited = time.monotonic() - began
            self.on_wait(waited)
            if waited > self.patience_s:
                raise store_error(self.path, "locked")
            self.check_file()
            time.sleep(_BUSY_POLL_S)

    def _advance(self) -> None:
        """Count the transaction; a lower count than before means another file."""
        row = self._db.conn.execute(
            "UPDATE store_mark SET generation = generation + 1 RETURNING generation"
        ).fetchone()
        if row[0] <= self._mark.generation:
            raise lost_error(self.path)
        self._mark = Mark(self._mark.name, row[0])

    def check_file(self) -> None:
        """Raise StoreLostError unless the path still leads to the file opened."""
        if not self._file.is_there():
            self._file.set_journal_aside()
            raise lost_error(self.path)

    @contextlib.contextmanager
    def waiting(self, on_wait: OnWait) -> Iterator[None]:
        """Let transactions inside wait for other writers without a limit."""
        before = self.patience_s, self.on_wait
        self.patience_s, self.on_wait = math.inf, on_wait
        try:
            yield
        finally:
            self.patience_s, self.on_wait = before

    def in_short_transactions(self, work: Iterator[object]) -> None:
        """Run ``work`` in several transactions, each ending where it yields.

        Other processes may write in between.
        """
        going = True
        while going:
            with self.transaction():
                going = _until(time.monotonic() + HOLD_S, work)
            if going:
                time.sleep(_GAP_S)

    def store_saved_replies(self) -> None:
        """Store the replies that interrupted runs left beside the store."""
        if self.writable and not self.is_older_copy:
            with abandoned_reply_files(self._file.path) as files:
                for file in files:
                    self.take_in(file)

    def has_saved_replies(self) -> bool:
        """Tell whether interrupted runs left replies beside the store."""
        return has_abandoned_reply_files(self._file.path)

    def take_in(self, file: SavedFile) -> int:
        """Store saved replies that are missing, also in an older copy; count them."""
        older = self.is_older_copy
        with self._any_transaction() if older else self.transaction():
            return take_in(self._db.conn, self.name, file)

    def keep_older_copy(self) -> None:
        """Continue with an older copy of the store, under a new name."""
        if self.is_older_copy:
            with self._any_transaction():
                # The ages noted outside belong to the old name: none is ahead any more.
                self.execute("UPDATE store_mark SET name = lower(hex(randomblob(16)))")
            self._mark = self._newest_mark()

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let every query inside see the store as of the first of them."""
        with sentences(self.path):
            # Deferred: nothing is written, so that other processes may write meanwhile.
            self._db.conn.execute("BEGIN")
            try:
                yield
            finally:
                self._db.rollback()

    def compact(self) -> None:
        """Rewrite the file without free pages, and empty its log.

        Raises
        ------
        StoreBusyError
            If another program writes, or still reads what the log has.
        """
        with sentences(self.path):
            self._db.conn.execute("VACUUM")
        self.empty_log()

    def replace_content(self, source: sqlite3.Connection) -> None:
        """Replace everything in the store by another one's content, all or nothing."""
        with sentences(self.path):
            source.backup(self._db.conn)

    def finish_deleting(self) -> None:
        """Remove the files that deletions left, then what is left in the store's own.

        Doing it again after an interruption changes nothing that is done.

        Raises
        ------
        StoreBusyError
            If another program reads the store; the next one to open it does the rest.
        """
        left = [str(row[0]) for row in self.rows("SELECT path FROM leftover")]
        if not left:
            return
        for path in filter(None, left):
            self._file.remove_left(Path(path))
        self.compact()
        self.rows("PRAGMA secure_delete = ON")
        with self.transaction():
            self.execute("DELETE FROM leftover")
        self.empty_log()

    def empty_log(self) -> None:
        """Move the write-ahead log into the file; StoreBusyError if one reads it."""
        if self.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]:
            raise store_error(self.path, "locked")

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Return every row of a query; columns by name or position."""
        with sentences(self.path):
            cursor = self._db.conn.execute(sql, tuple(parameters))
            return cursor.fetchall()

    def columns(
        self, sql: str, parameters: Sequence[object] = ()
    ) -> dict[str, list[Any]]:
        """Return the result of a query column by column, for 100,000 rows and more."""
        with sentences(self.path):
            cursor = self._db.conn.cursor()
            cursor.row_factory = None
            found = cursor.execute(sql, tuple(parameters))
            names = [column[0] for column in found.description]
            values = list(itertools.chain.from_iterable(found))
        return {name: values[i :: len(names)] for i, name in enumerate(names)}

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run one statement inside a transaction; return the last row's id."""
        with sentences(self.path):
            return self._db.conn.execute(sql, tuple(parameters)).lastrowid or 0

    def execute_many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run one statement for many rows inside a transaction."""
        with sentences(self.path):
            self._db.conn.executemany(sql, rows)


def open_store(path: Path) -> Store:
    """Open the store at ``path``, creating or migrating it where needed.

    Raises
    ------
    StoreError
        For a file that is not a store, a store of a newer version, a folder that
        cannot be written to, or a damaged file.
    """
    problem = tighten(path)
    if problem:
        _LOG.warning(problem)
    with sentences(path):
        writable = make_room(path)
        connection = connect(path, BUSY_TIMEOUT_MS / 1000, writable=writable)
        try:
            # Before any setting: WAL would change another program's file.
            version = _checked_version(path, connection)
            database = _configured(connection, writable=writable)
            if version < LATEST:
                _migrate(path, connection, version, writable=writable)
        except BaseException:
            connection.close()
            raise
        store = Store(path, database, writable=writable)
        with contextlib.suppress(StoreBusyError):  # a run waits for it when it begins
            store.store_saved_replies()
            if store.writable:
                store.finish_deleting()
        return store


def wait_for_writers(on_wait: OnWait) -> None:
    """Let every store of this process wait for other writers, reporting the wait."""
    Store.patience_s = math.inf
    Store.on_wait = staticmethod(on_wait)


def _until(end: float, work: Iterator[object]) -> bool:
    """Continue work until a time or its end; return whether there is more."""
    for _ in work:  # noqa: SIM110 - work is done on the way
        if time.monotonic() >= end:
            return True
    return False


def _checked_version(path: Path, connection: sqlite3.Connection) -> int:
    # Tables first: another process may make the store between these three lines.
    objects = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    # A new file is empty and has no id yet.
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
    # Off by default, and set for each connection anew.
    connection.execute("PRAGMA foreign_keys = ON")
    if writable:
        _use_write_ahead_log(connection)
        # With NORMAL the last commits of a WAL file may be lost when the power fails.
        connection.execute("PRAGMA synchronous = FULL")
    return sqlite_utils.Database(connection)


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to WAL by polling: SQLite waits for no other program opening the file."""
    end = time.monotonic() + _MIGRATION_TIMEOUT_MS / 1000
    while not _has_run(connection, "PRAGMA journal_mode = WAL"):
        if time.monotonic() > end:
            raise sqlite3.OperationalError("database is locked")
        time.sleep(_BUSY_POLL_S)


def _has_run(connection: sqlite3.Connection, statement: str) -> bool:
    """Run a statement unless another program has locked the file; do not wait."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        connection.execute(statement)
    except sqlite3.OperationalError as error:
        # The low byte is the primary code: SQLITE_BUSY_RECOVERY is busy as well.
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    finally:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    return True


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
        # One by one: executescript would commit the transaction first.
        for statement in _statements(MIGRATIONS[number]()):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {number}")
    connection.execute("COMMIT")
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")


def _statements(script: str) -> Iterator[str]:
    """Split a script into statements; a trigger's body belongs to its own."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
