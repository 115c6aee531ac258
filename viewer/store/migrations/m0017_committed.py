"""What a reader saw before answers and reference were unlocked."""

from typing import Final

VERSION: Final = 17
TABLE: Final = "committed_reading"


def statements() -> str:
    """Return the SQL that takes version 16 to this version.

    One row a file, for good. ``marks`` is JSON: for each mark its frame, its kind and
    its points, a list of [x, y] in native pixels.
    """
    append_only = "".join(
        f"CREATE TRIGGER {TABLE}_no_{verb.lower()} BEFORE {verb} ON {TABLE} "
        f"BEGIN SELECT RAISE(ABORT, '{TABLE} rows are append-only'); END;\n"
        for verb in ("UPDATE", "DELETE")
    )
    return f"""
CREATE TABLE {TABLE} (
    path TEXT PRIMARY KEY,
    committed_at TEXT NOT NULL,
    words TEXT NOT NULL,
    marks TEXT NOT NULL
) STRICT, WITHOUT ROWID;
{append_only}"""
