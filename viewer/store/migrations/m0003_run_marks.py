"""What a person did with a run: paused it, cancelled it, let it go on."""

from typing import Final

VERSION: Final = 3


def statements() -> str:
    """Return the SQL that takes version 2 to this version."""
    return """
CREATE TABLE run_mark (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run (id),
    mark TEXT NOT NULL CHECK (mark IN ('paused', 'cancelled', 'resumed')),
    marked_at TEXT NOT NULL
) STRICT;
CREATE INDEX run_mark_of_run ON run_mark (run_id, id);
CREATE TRIGGER run_mark_keeps BEFORE UPDATE ON run_mark
BEGIN SELECT RAISE (ABORT, 'run marks are append-only'); END;
CREATE TRIGGER run_mark_stays BEFORE DELETE ON run_mark
BEGIN SELECT RAISE (ABORT, 'run marks are append-only'); END;
"""
