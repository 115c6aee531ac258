"""A store's generation, replies of a lost store, and half-imported data sets."""

from typing import Final

VERSION: Final = 13


def statements() -> str:
    """Return the SQL that takes version 12 to this version.

    ``generation`` counts the transactions of a store; a copy of it counts on from the
    same number. ``rescued_reply`` holds replies whose attempt this store does not know:
    the next trial that asks exactly the same takes them instead of buying another.
    """
    return """
CREATE TABLE store_mark (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL,
    generation INTEGER NOT NULL
) STRICT;
INSERT INTO store_mark VALUES (1, lower(hex(randomblob(16))), 0);
CREATE TABLE rescued_reply (
    id INTEGER PRIMARY KEY,
    request_sha256 TEXT NOT NULL,
    kind TEXT NOT NULL,
    body BLOB NOT NULL,
    http_status INTEGER,
    headers TEXT NOT NULL,
    latency_ms INTEGER NOT NULL,
    tokens_in INTEGER,
    tokens_out INTEGER,
    cost_microusd INTEGER,
    model_returned TEXT NOT NULL,
    reusable INTEGER NOT NULL CHECK (reusable IN (0, 1)),
    received_at TEXT NOT NULL,
    UNIQUE (request_sha256, received_at)
) STRICT;
ALTER TABLE dataset ADD COLUMN complete INTEGER NOT NULL DEFAULT 1
    CHECK (complete IN (0, 1));
"""
