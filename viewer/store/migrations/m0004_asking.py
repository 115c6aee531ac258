"""What leaves this machine, with whose consent, and what a run noted of its models."""

from typing import Final

VERSION: Final = 4

_NOTES = """
CREATE TABLE run_note (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run (id),
    model TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    at TEXT NOT NULL
) STRICT;
CREATE INDEX run_note_of_run ON run_note (run_id, id);
"""

_GATE = """
ALTER TABLE dataset ADD COLUMN restricted INTEGER NOT NULL DEFAULT 0
    CHECK (restricted IN (0, 1));
CREATE TABLE consent (
    id INTEGER PRIMARY KEY,
    endpoint TEXT NOT NULL CHECK (endpoint <> ''),
    dataset_id INTEGER REFERENCES dataset (id),
    purpose TEXT NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('granted', 'withdrawn')),
    given_at TEXT NOT NULL
) STRICT;
CREATE INDEX consent_of_endpoint ON consent (endpoint, dataset_id, id);
CREATE TABLE departure (
    id INTEGER PRIMARY KEY,
    attempt_id INTEGER UNIQUE REFERENCES attempt (id),
    endpoint TEXT NOT NULL,
    body_sha256 TEXT NOT NULL CHECK (length(body_sha256) = 64),
    consent_id INTEGER NOT NULL REFERENCES consent (id),
    sent_at TEXT NOT NULL
) STRICT;
CREATE TABLE pixel_review (
    id INTEGER PRIMARY KEY,
    image_sha256 TEXT NOT NULL CHECK (length(image_sha256) = 64),
    boxes TEXT NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('clean', 'blacked_out', 'blocked')),
    reviewed_at TEXT NOT NULL
) STRICT;
CREATE INDEX pixel_review_of_image ON pixel_review (image_sha256, id);
"""

APPEND_ONLY: Final = ("run_note", "consent", "departure", "pixel_review")


def _append_only(table: str) -> str:
    return "".join(
        f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} rows are append-only'); END;\n"
        for verb in ("UPDATE", "DELETE")
    )


def statements() -> str:
    """Return the SQL that takes version 3 to this version."""
    return _NOTES + _GATE + "".join(map(_append_only, APPEND_ONLY))
