"""The tables of what people did: readings, declared comparisons, marks on images."""

from typing import Final

# Declared before they are looked at, and the first looks: what was declared after a
# look stays known as such.
_COMPARISONS: Final = """
CREATE TABLE family (
    id INTEGER PRIMARY KEY,
    dataset_sha256 TEXT NOT NULL,
    study TEXT NOT NULL,
    findings TEXT NOT NULL,
    pairs TEXT NOT NULL,
    metric TEXT NOT NULL,
    test TEXT NOT NULL,
    alpha REAL NOT NULL CHECK (alpha > 0 AND alpha < 1),
    declared_at TEXT NOT NULL
) STRICT;
CREATE INDEX family_of_dataset ON family (dataset_sha256, study, id);
CREATE TABLE comparison_look (
    id INTEGER PRIMARY KEY,
    first_run INTEGER NOT NULL REFERENCES run (id),
    first_model TEXT NOT NULL,
    second_run INTEGER NOT NULL REFERENCES run (id),
    second_model TEXT NOT NULL,
    looked_at TEXT NOT NULL,
    UNIQUE (first_run, first_model, second_run, second_model)
) STRICT;
"""

# Answers of readers are append-only until their reader withdraws; a row of the audit
# holds the hash of each and stays.
_READINGS: Final = """
CREATE TABLE reading_session (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('error_review', 'reader_study', 'adjudication')),
    reader TEXT NOT NULL CHECK (reader <> ''),
    salt TEXT NOT NULL,
    run_id INTEGER REFERENCES run (id),
    dataset_id INTEGER NOT NULL REFERENCES dataset (id),
    work TEXT NOT NULL,
    form TEXT NOT NULL,
    spec TEXT NOT NULL,
    sealed INTEGER NOT NULL CHECK (sealed IN (0, 1)),
    opened_at TEXT NOT NULL
) STRICT;
CREATE INDEX reading_session_of_work ON reading_session (work, id);
CREATE TABLE reading_task (
    session_id INTEGER NOT NULL REFERENCES reading_session (id),
    position INTEGER NOT NULL CHECK (position >= 0),
    item TEXT NOT NULL,
    image TEXT NOT NULL,
    view TEXT NOT NULL,
    finding TEXT NOT NULL,
    trial_id INTEGER REFERENCES trial (id),
    PRIMARY KEY (session_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX reading_task_of_trial ON reading_task (trial_id, session_id);
CREATE TABLE reading (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    act TEXT NOT NULL
        CHECK (act IN ('saved', 'locked', 'undone', 'revealed', 'resolved')),
    stage INTEGER NOT NULL,
    answers TEXT NOT NULL,
    comment TEXT NOT NULL,
    active_ms INTEGER NOT NULL CHECK (active_ms >= 0),
    salt TEXT NOT NULL,
    at TEXT NOT NULL,
    FOREIGN KEY (session_id, position) REFERENCES reading_task (session_id, position)
) STRICT;
CREATE INDEX reading_of_task ON reading (session_id, position, id);
CREATE TABLE reading_withdrawal (
    session_id INTEGER PRIMARY KEY REFERENCES reading_session (id),
    reason TEXT NOT NULL,
    at TEXT NOT NULL
) STRICT;
CREATE TABLE reading_audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    event TEXT NOT NULL,
    previous TEXT NOT NULL CHECK (length(previous) = 64),
    sha256 TEXT NOT NULL UNIQUE CHECK (length(sha256) = 64)
) STRICT;
CREATE TRIGGER reading_session_stays BEFORE DELETE ON reading_session
BEGIN SELECT RAISE (ABORT, 'sessions of readers are kept'); END;
CREATE TRIGGER reading_session_keeps BEFORE UPDATE OF
    id, kind, run_id, dataset_id, work, form, spec, opened_at ON reading_session
BEGIN SELECT RAISE (ABORT, 'what a session asks cannot change'); END;
CREATE TRIGGER reading_session_seal BEFORE UPDATE OF sealed ON reading_session
WHEN OLD.sealed = 1 AND NEW.sealed = 0
BEGIN SELECT RAISE (ABORT, 'a sealed session stays sealed'); END;
CREATE TRIGGER reading_session_reader BEFORE UPDATE OF reader, salt ON reading_session
WHEN NOT EXISTS (SELECT 1 FROM reading_withdrawal w WHERE w.session_id = OLD.id)
BEGIN SELECT RAISE (ABORT, 'who reads in a session cannot change'); END;
CREATE TRIGGER reading_task_sealed BEFORE INSERT ON reading_task
WHEN (SELECT sealed FROM reading_session WHERE id = NEW.session_id) = 1
BEGIN SELECT RAISE (ABORT, 'the cases of a session cannot grow'); END;
CREATE TRIGGER reading_task_keeps BEFORE UPDATE ON reading_task
BEGIN SELECT RAISE (ABORT, 'the cases of a session cannot change'); END;
CREATE TRIGGER reading_task_stays BEFORE DELETE ON reading_task
BEGIN SELECT RAISE (ABORT, 'the cases of a session are kept'); END;
CREATE TRIGGER reading_keeps BEFORE UPDATE ON reading
BEGIN SELECT RAISE (ABORT, 'reading rows are append-only'); END;
CREATE TRIGGER reading_stays BEFORE DELETE ON reading
WHEN NOT EXISTS (SELECT 1 FROM reading_withdrawal w WHERE w.session_id = OLD.session_id)
BEGIN SELECT RAISE (ABORT, 'only a reader who withdraws takes answers along'); END;
CREATE TRIGGER reading_ends BEFORE INSERT ON reading
WHEN EXISTS (SELECT 1 FROM reading_withdrawal w WHERE w.session_id = NEW.session_id)
BEGIN SELECT RAISE (ABORT, 'this reader has withdrawn'); END;
"""

# ``points`` is JSON, a list of [x, y] in native pixels, or an object of ``points``, the
# ``text`` beside the mark and what is ``painted`` of a mask: its first column and row,
# its rows and columns, and its compressed run-length code as COCO has it; images are
# known by file and frame, because a person measures on files of no data set too.
# ``marks`` of a committed reading is JSON: for each mark its frame and kind, with
# points, text and what is painted.
_MARKS: Final = """
CREATE TABLE image_mark (
    path TEXT NOT NULL,
    frame INTEGER NOT NULL,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    points TEXT NOT NULL,
    PRIMARY KEY (path, frame, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE committed_reading (
    path TEXT PRIMARY KEY,
    committed_at TEXT NOT NULL,
    words TEXT NOT NULL,
    marks TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""

TABLES: Final = _COMPARISONS + _READINGS + _MARKS

# One row an edit of marks, for Undo after a restart: of the image's marks, those from
# position ``at`` on that were ``removed`` made room for those ``added``, as JSON. Edits
# that were undone wait to be redone, oldest first.
MARK_EDITS: Final = """
CREATE TABLE mark_edit (
    id INTEGER PRIMARY KEY,
    place TEXT NOT NULL,
    path TEXT NOT NULL,
    frame INTEGER NOT NULL,
    words TEXT NOT NULL,
    at INTEGER NOT NULL,
    removed TEXT NOT NULL,
    added TEXT NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0 CHECK (undone IN (0, 1))
) STRICT;
CREATE INDEX mark_edit_place ON mark_edit (place, undone);
"""

# What a case shows, and what it shows only after a lock, both as JSON.
MATERIAL: Final = """
ALTER TABLE reading_task ADD COLUMN material TEXT NOT NULL DEFAULT '{}';
ALTER TABLE reading_task ADD COLUMN withheld TEXT NOT NULL DEFAULT '{}';
"""

# What was on screen in a session whose reader agreed to that, until the reader takes
# the consent back or withdraws. ``row0`` to ``column1`` are the rectangle in sight.
# The index of the audit is for consents, which every answer is checked for.
LOOKS: Final = """
CREATE TABLE reading_look (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    start TEXT NOT NULL,
    duration_ms INTEGER NOT NULL CHECK (duration_ms >= 0),
    viewport INTEGER NOT NULL CHECK (viewport >= 0),
    image INTEGER NOT NULL CHECK (image >= 0),
    slice INTEGER NOT NULL CHECK (slice >= 0),
    row0 REAL NOT NULL,
    column0 REAL NOT NULL,
    row1 REAL NOT NULL,
    column1 REAL NOT NULL,
    zoom REAL NOT NULL CHECK (zoom > 0),
    center REAL,
    width REAL,
    inverted INTEGER NOT NULL CHECK (inverted IN (0, 1)),
    FOREIGN KEY (session_id, position) REFERENCES reading_task (session_id, position)
) STRICT;
CREATE INDEX reading_look_of_task ON reading_look (session_id, position, id);
CREATE INDEX reading_audit_of_session ON reading_audit
    (json_extract(event, '$.session'), json_extract(event, '$.kind'));
CREATE TRIGGER reading_look_keeps BEFORE UPDATE ON reading_look
BEGIN SELECT RAISE (ABORT, 'what was on screen cannot change'); END;
CREATE TRIGGER reading_look_stays BEFORE DELETE ON reading_look
WHEN NOT EXISTS (SELECT 1 FROM reading_withdrawal w WHERE w.session_id = OLD.session_id)
AND NOT EXISTS (
    SELECT 1 FROM (SELECT event FROM reading_audit ORDER BY seq DESC LIMIT 1)
    WHERE json_extract(event, '$.session') = OLD.session_id
    AND json_extract(event, '$.to') = 'telemetry'
    AND json_extract(event, '$.given') = 0
)
BEGIN SELECT RAISE (ABORT, 'only its reader has this record deleted'); END;
CREATE TRIGGER reading_look_ends BEFORE INSERT ON reading_look
WHEN EXISTS (SELECT 1 FROM reading_withdrawal w WHERE w.session_id = NEW.session_id)
BEGIN SELECT RAISE (ABORT, 'this reader has withdrawn'); END;
"""

# Of a mask that was painted on, the pixels that changed, written as ``painted`` is.
REPAINTED: Final = """
ALTER TABLE mark_edit ADD COLUMN repainted TEXT NOT NULL DEFAULT 'null';
"""

# The key that signs what leaves the store and comes back; it never leaves itself.
SIGNING_KEY: Final = """
CREATE TABLE signing_key (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    key TEXT NOT NULL CHECK (length(key) = 64)
) STRICT;
INSERT INTO signing_key VALUES (1, lower(hex(randomblob(32))));
"""
