"""A reader withdraws: name, answers and record go for good, and leave no trace."""

import contextlib
from collections.abc import Iterator

from viewer.store import looks, reading_audit
from viewer.store.database import Store, utc_now
from viewer.store.readings import session_row


def withdraw(store: Store, session: int, reason: str) -> int:
    """Purge a reader's name, answers and record; return the number of answers.

    That they existed, and when, stays in the audit. Purged data are overwritten in the
    file, even in unused pages.
    """
    session_row(store, session)
    with purging(store):
        store.execute(
            # First: triggers let the rows below go only if this one is there.
            "INSERT INTO reading_withdrawal (session_id, reason, at) VALUES (?, ?, ?)",
            (session, reason, utc_now()),
        )
        counted = store.rows(
            "SELECT count(*) FROM reading WHERE session_id = ?", (session,)
        )
        store.execute("DELETE FROM reading WHERE session_id = ?", (session,))
        looks.delete_looks(store, session)
        store.execute(
            "UPDATE reading_session SET reader = ?, salt = '' WHERE id = ?",
            (f"withdrawn {session}", session),
        )
        gone = int(counted[0][0])
        reading_audit.note_withdrawal(store, session, gone)
    return gone


@contextlib.contextmanager
def purging(store: Store) -> Iterator[None]:
    """Commit everything inside, and leave in the file nothing of what it deletes."""
    # Else deleted text stays in the file's free pages until they are used again.
    store.rows("PRAGMA secure_delete = ON")
    with store.transaction():
        yield
    # The log still has the purged pages until it is emptied.
    store.rows("PRAGMA wal_checkpoint(TRUNCATE)")
