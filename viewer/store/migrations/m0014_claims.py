"""Who began each attempt: one that has not ended claims its question."""

from typing import Final

VERSION: Final = 14


def statements() -> str:
    """Return the SQL that takes version 13 to this version.

    Nobody is known to have begun the attempts before it, so they claim nothing.
    """
    return """
CREATE TABLE coordinator (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run (id),
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started_at TEXT NOT NULL
) STRICT;
CREATE INDEX coordinator_of_run ON coordinator (run_id, id);
CREATE TRIGGER coordinator_no_update BEFORE UPDATE ON coordinator
BEGIN SELECT RAISE(ABORT, 'coordinator rows are append-only'); END;
CREATE TRIGGER coordinator_no_delete BEFORE DELETE ON coordinator
BEGIN SELECT RAISE(ABORT, 'coordinator rows are append-only'); END;
ALTER TABLE attempt ADD COLUMN coordinator_id INTEGER REFERENCES coordinator (id);
CREATE INDEX attempt_of_request ON attempt (request_sha256);
"""
