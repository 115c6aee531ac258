"""The most that a run may cost; the last one set holds."""

from typing import Final

VERSION: Final = 5


def statements() -> str:
    """Return the SQL that takes version 4 to this version."""
    return """
CREATE TABLE run_ceiling (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run (id),
    ceiling_microusd INTEGER NOT NULL CHECK (ceiling_microusd > 0),
    set_at TEXT NOT NULL
) STRICT;
CREATE INDEX run_ceiling_of_run ON run_ceiling (run_id, id);
CREATE TRIGGER run_ceiling_keeps BEFORE UPDATE ON run_ceiling
BEGIN SELECT RAISE (ABORT, 'ceilings of runs are append-only'); END;
CREATE TRIGGER run_ceiling_stays BEFORE DELETE ON run_ceiling
BEGIN SELECT RAISE (ABORT, 'ceilings of runs are append-only'); END;
"""
