"""The tables of a store, and the migrations that later versions add to them.

Questions and answers are append-only: triggers refuse to change or delete a row,
whoever writes.
"""

from typing import Final

from viewer.store.schema import cases, folders, people, predictions, runs

# ``generation`` counts the transactions of a store; a copy of it counts on from the
# same number.
_MARK: Final = """
CREATE TABLE store_mark (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL,
    generation INTEGER NOT NULL
) STRICT;
INSERT INTO store_mark VALUES (1, lower(hex(randomblob(16))), 0);
"""

APPEND_ONLY: Final = {
    "ledger": (
        *("attempt", "attempt_end", "reply", "parse", "score"),
        *("request", "blob", "prompt"),
    ),
    "steps": ("parse_step",),
    "runs": ("run_mark", "run_note", "run_ceiling", "coordinator"),
    "outgoing": ("consent", "departure", "pixel_review"),
    "comparisons": ("family", "comparison_look"),
    "readings": ("reading_withdrawal", "reading_audit", "committed_reading"),
}
"""The tables whose rows neither change nor go, by what they are about."""


def _append_only(table: str) -> str:
    return "".join(
        f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} rows are append-only'); END;\n"
        for verb in ("UPDATE", "DELETE")
    )


def _first() -> str:
    tables = (_MARK, cases.TABLES, runs.TABLES, predictions.TABLES, people.TABLES)
    append_only = (table for group in APPEND_ONLY.values() for table in group)
    return "".join((*tables, *map(_append_only, append_only)))


def _second() -> str:
    return folders.TABLES


def _third() -> str:
    return people.MARK_EDITS


def _fourth() -> str:
    return folders.READING_STATES


def _fifth() -> str:
    return people.REPAINTED


def _sixth() -> str:
    return folders.LEFTOVERS


def _seventh() -> str:
    return people.MATERIAL


def _eighth() -> str:
    return people.SIGNING_KEY + _append_only("signing_key")


def _ninth() -> str:
    return people.LOOKS


def _tenth() -> str:
    return runs.MODEL_CHECK + _append_only("model_check")


def _eleventh() -> str:
    tables = ("batch_job", "batch_job_question", "batch_job_event")
    return "".join((runs.BATCH_JOBS, *map(_append_only, tables)))


MIGRATIONS: Final = {
    1: _first,
    2: _second,
    3: _third,
    4: _fourth,
    5: _fifth,
    6: _sixth,
    7: _seventh,
    8: _eighth,
    9: _ninth,
    10: _tenth,
    11: _eleventh,
}
"""Schema version → the SQL that reaches it from the version before."""

LATEST: Final = max(MIGRATIONS)
