"""The first schema: data sets, runs, trials and the ledger of what was asked."""

from typing import Final

VERSION: Final = 1

_DATA_SETS = """
CREATE TABLE dataset (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    format TEXT NOT NULL,
    root TEXT NOT NULL,
    root_sha256 TEXT NOT NULL,
    adhoc INTEGER NOT NULL CHECK (adhoc IN (0, 1)),
    imported_at TEXT NOT NULL
) STRICT;
CREATE TABLE image (
    id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL REFERENCES dataset (id),
    position INTEGER NOT NULL,
    key TEXT NOT NULL,
    patient TEXT NOT NULL,
    study TEXT NOT NULL,
    view TEXT NOT NULL,
    path TEXT NOT NULL,
    frame INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    columns INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    UNIQUE (dataset_id, key)
) STRICT;
CREATE INDEX image_by_path ON image (path, frame);
CREATE TABLE label (
    image_id INTEGER NOT NULL REFERENCES image (id),
    finding TEXT NOT NULL,
    positive INTEGER NOT NULL CHECK (positive IN (0, 1)),
    PRIMARY KEY (image_id, finding)
) STRICT, WITHOUT ROWID;
CREATE TABLE mask (
    image_id INTEGER NOT NULL REFERENCES image (id),
    kind TEXT NOT NULL CHECK (kind IN ('finding', 'zero', 'anatomy')),
    name TEXT NOT NULL,
    rows INTEGER NOT NULL,
    columns INTEGER NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY (image_id, kind, name)
) STRICT;
CREATE TABLE defect (
    image_id INTEGER NOT NULL REFERENCES image (id),
    finding TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (image_id, finding)
) STRICT, WITHOUT ROWID;
CREATE TABLE notice (
    id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL REFERENCES dataset (id),
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX notice_of_dataset ON notice (dataset_id);
"""

_STATUSES = (
    "'pending', 'scored_correct', 'scored_wrong', 'unparsed', 'ambiguous', "
    "'out_of_range', 'refused', 'denied_finding', 'truncated', 'provider_error', "
    "'excluded'"
)

_RUNS = f"""
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    study TEXT NOT NULL,
    study_version TEXT NOT NULL,
    dataset_id INTEGER NOT NULL REFERENCES dataset (id),
    plan_sha256 TEXT NOT NULL,
    spec TEXT NOT NULL,
    adhoc INTEGER NOT NULL CHECK (adhoc IN (0, 1)),
    sealed INTEGER NOT NULL CHECK (sealed IN (0, 1)),
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX run_by_plan ON run (plan_sha256);
CREATE TABLE trial (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run (id),
    item TEXT NOT NULL,
    patient TEXT NOT NULL,
    image TEXT NOT NULL,
    view TEXT NOT NULL,
    finding TEXT NOT NULL,
    condition TEXT NOT NULL,
    condition_params TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    model TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ({_STATUSES})),
    request_sha256 TEXT,
    score_id INTEGER REFERENCES score (id),
    UNIQUE (run_id, item, condition, repeat, model)
) STRICT;
CREATE INDEX trial_by_status ON trial (run_id, status, model);
CREATE VIEW run_status_count AS
    SELECT run_id, status, count(*) AS n FROM trial GROUP BY run_id, status;
"""  # noqa: S608 - the status words are this file's own

_LEDGER = f"""
CREATE TABLE prompt (
    sha256 TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE blob (
    sha256 TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;
CREATE TABLE request (
    sha256 TEXT PRIMARY KEY,
    prompt_sha256 TEXT NOT NULL,
    document BLOB NOT NULL
) STRICT;
CREATE TABLE attempt (
    id INTEGER PRIMARY KEY,
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    request_sha256 TEXT NOT NULL REFERENCES request (sha256),
    number INTEGER NOT NULL,
    started_at TEXT NOT NULL
) STRICT;
CREATE INDEX attempt_of_trial ON attempt (trial_id);
CREATE TABLE attempt_end (
    attempt_id INTEGER PRIMARY KEY REFERENCES attempt (id),
    outcome TEXT NOT NULL CHECK (outcome IN ('reply', 'error', 'orphan')),
    http_status INTEGER,
    reason TEXT NOT NULL,
    message TEXT NOT NULL,
    ended_at TEXT NOT NULL
) STRICT;
CREATE TABLE reply (
    id INTEGER PRIMARY KEY,
    attempt_id INTEGER NOT NULL UNIQUE REFERENCES attempt (id),
    request_sha256 TEXT NOT NULL REFERENCES request (sha256),
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
    received_at TEXT NOT NULL
) STRICT;
CREATE INDEX reply_by_request ON reply (request_sha256);
CREATE TABLE parse (
    id INTEGER PRIMARY KEY,
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    reply_id INTEGER NOT NULL REFERENCES reply (id),
    parser_version TEXT NOT NULL,
    answer TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
CREATE TABLE score (
    id INTEGER PRIMARY KEY,
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    parse_id INTEGER REFERENCES parse (id),
    scorer_version TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ({_STATUSES}) AND status <> 'pending'),
    reason TEXT NOT NULL,
    answer TEXT NOT NULL,
    coverage REAL,
    outcome TEXT CHECK (outcome IN ('full', 'full_fallback', 'partial', 'miss')),
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX score_of_trial ON score (trial_id);
"""

_SEALS = """
CREATE TRIGGER trial_starts_pending BEFORE INSERT ON trial
WHEN NEW.status <> 'pending' OR NEW.score_id IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a planned trial starts pending'); END;
CREATE TRIGGER trial_plan_is_sealed BEFORE INSERT ON trial
WHEN (SELECT sealed FROM run WHERE id = NEW.run_id) = 1
BEGIN SELECT RAISE(ABORT, 'the plan of a run cannot grow'); END;
CREATE TRIGGER trial_is_kept BEFORE DELETE ON trial
BEGIN SELECT RAISE(ABORT, 'a planned trial cannot be removed'); END;
CREATE TRIGGER trial_identity_is_fixed BEFORE UPDATE OF
    run_id, item, patient, image, view, finding, condition, condition_params,
    repeat, model ON trial
BEGIN SELECT RAISE(ABORT, 'what a trial asks cannot change'); END;
CREATE TRIGGER trial_status_has_its_score BEFORE UPDATE OF status ON trial
WHEN NEW.status <> 'pending' AND NEW.status IS NOT
    (SELECT status FROM score WHERE id = NEW.score_id AND trial_id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'a status is the copy of a score'); END;
CREATE TRIGGER run_stays_sealed BEFORE UPDATE OF sealed ON run
WHEN OLD.sealed = 1 AND NEW.sealed = 0
BEGIN SELECT RAISE(ABORT, 'a sealed plan stays sealed'); END;
"""

APPEND_ONLY: Final = (
    "attempt",
    "attempt_end",
    "reply",
    "parse",
    "score",
    "request",
    "blob",
    "prompt",
)


def _append_only(table: str) -> str:
    return "".join(
        f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} rows are append-only'); END;\n"
        for verb in ("UPDATE", "DELETE")
    )


def statements() -> str:
    """Return the SQL that takes an empty file to this version."""
    return (
        _DATA_SETS + _RUNS + _LEDGER + _SEALS + "".join(map(_append_only, APPEND_ONLY))
    )
