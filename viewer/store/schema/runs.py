"""The tables of runs, of every question and reply, and of everything sent."""

from typing import Final

_STATUSES: Final = (
    "'pending', 'scored_correct', 'scored_wrong', 'unparsed', 'ambiguous', "
    "'out_of_range', 'refused', 'denied_finding', 'truncated', 'provider_error', "
    "'excluded'"
)

# ``replies_after`` is the last reply that was there before a run that asks again; NULL
# for one that takes any reply to the very same question. An attempt that has not ended
# claims its question for its coordinator.
_RUNS: Final = f"""
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    study TEXT NOT NULL,
    study_version TEXT NOT NULL,
    dataset_id INTEGER NOT NULL REFERENCES dataset (id),
    plan_sha256 TEXT NOT NULL,
    spec TEXT NOT NULL,
    adhoc INTEGER NOT NULL CHECK (adhoc IN (0, 1)),
    sealed INTEGER NOT NULL CHECK (sealed IN (0, 1)),
    created_at TEXT NOT NULL,
    replies_after INTEGER
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
CREATE INDEX trial_of_image ON trial (image, run_id);
CREATE VIEW run_status_count AS
    SELECT run_id, status, count(*) AS n FROM trial GROUP BY run_id, status;
CREATE TABLE run_mark (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run (id),
    mark TEXT NOT NULL CHECK (mark IN ('paused', 'cancelled', 'resumed')),
    marked_at TEXT NOT NULL
) STRICT;
CREATE INDEX run_mark_of_run ON run_mark (run_id, id);
CREATE TABLE run_note (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run (id),
    model TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    at TEXT NOT NULL
) STRICT;
CREATE INDEX run_note_of_run ON run_note (run_id, id);
CREATE TABLE run_ceiling (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run (id),
    ceiling_microusd INTEGER NOT NULL CHECK (ceiling_microusd > 0),
    set_at TEXT NOT NULL
) STRICT;
CREATE INDEX run_ceiling_of_run ON run_ceiling (run_id, id);
CREATE TABLE coordinator (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run (id),
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started_at TEXT NOT NULL
) STRICT;
CREATE INDEX coordinator_of_run ON coordinator (run_id, id);
"""  # noqa: S608 - the status words are this file's own

_REPLY: Final = """kind TEXT NOT NULL,
    body BLOB NOT NULL,
    http_status INTEGER,
    headers TEXT NOT NULL,
    latency_ms INTEGER NOT NULL,
    tokens_in INTEGER,
    tokens_out INTEGER,
    cost_microusd INTEGER,
    model_returned TEXT NOT NULL,
    reusable INTEGER NOT NULL CHECK (reusable IN (0, 1)),
    received_at TEXT NOT NULL"""

# ``rescued_reply`` holds replies of a lost store, whose attempts this store does not
# know: the next trial that asks exactly the same takes them instead of buying another.
_LEDGER: Final = f"""
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
    started_at TEXT NOT NULL,
    coordinator_id INTEGER REFERENCES coordinator (id)
) STRICT;
CREATE INDEX attempt_of_trial ON attempt (trial_id);
CREATE INDEX attempt_of_request ON attempt (request_sha256);
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
    {_REPLY}
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
    created_at TEXT NOT NULL,
    numbers TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX score_of_trial ON score (trial_id);
CREATE TABLE parse_step (
    parse_id INTEGER NOT NULL REFERENCES parse (id),
    position INTEGER NOT NULL,
    step TEXT NOT NULL,
    role TEXT NOT NULL,
    again INTEGER NOT NULL,
    reply_id INTEGER NOT NULL REFERENCES reply (id),
    PRIMARY KEY (parse_id, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE rescued_reply (
    id INTEGER PRIMARY KEY,
    request_sha256 TEXT NOT NULL,
    {_REPLY},
    UNIQUE (request_sha256, received_at)
) STRICT;
"""

_OUTGOING: Final = """
CREATE TABLE consent (
    id INTEGER PRIMARY KEY,
    endpoint TEXT NOT NULL CHECK (endpoint <> ''),
    dataset_id INTEGER REFERENCES dataset (id),
    purpose TEXT NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('granted', 'withdrawn')),
    given_at TEXT NOT NULL,
    given_by TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX consent_of_endpoint ON consent (endpoint, dataset_id, id);
CREATE TABLE departure (
    id INTEGER PRIMARY KEY,
    attempt_id INTEGER UNIQUE REFERENCES attempt (id),
    endpoint TEXT NOT NULL,
    body_sha256 TEXT NOT NULL CHECK (length(body_sha256) = 64),
    consent_id INTEGER NOT NULL REFERENCES consent (id),
    sent_at TEXT NOT NULL,
    deidentified TEXT NOT NULL DEFAULT ''
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

_SEALS: Final = """
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

TABLES: Final = _RUNS + _LEDGER + _OUTGOING + _SEALS

# What a model did when it was checked, as JSON. ``settings_sha256`` is the hash of the
# adapter and settings that it was checked with.
MODEL_CHECK: Final = """
CREATE TABLE model_check (
    id INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    settings_sha256 TEXT NOT NULL,
    at TEXT NOT NULL,
    found TEXT NOT NULL
) STRICT;
CREATE INDEX model_check_of_model ON model_check (model, settings_sha256, at);
"""

# Questions that go to a provider's batch endpoint in one file. ``key`` names it there;
# ``steps`` of a question are those of its trial up to it, with the replies that they
# have, and ``noted`` is what its reply will be read with. Its attempt is open until the
# results say how it ended.
BATCH_JOBS: Final = """
CREATE TABLE batch_job (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run (id),
    model TEXT NOT NULL,
    key TEXT NOT NULL UNIQUE,
    begun_at TEXT NOT NULL
) STRICT;
CREATE INDEX batch_job_of_run ON batch_job (run_id);
CREATE TABLE batch_job_question (
    attempt_id INTEGER PRIMARY KEY REFERENCES attempt (id),
    batch_job_id INTEGER NOT NULL REFERENCES batch_job (id),
    steps TEXT NOT NULL,
    noted TEXT NOT NULL
) STRICT;
CREATE INDEX batch_job_question_of_job ON batch_job_question (batch_job_id);
CREATE TABLE batch_job_event (
    id INTEGER PRIMARY KEY,
    batch_job_id INTEGER NOT NULL REFERENCES batch_job (id),
    what TEXT NOT NULL CHECK (
        what IN ('uploaded', 'submitting', 'submitted', 'dropped', 'ended')
    ),
    name TEXT NOT NULL,
    due TEXT NOT NULL,
    at TEXT NOT NULL
) STRICT;
CREATE INDEX batch_job_event_of_job ON batch_job_event (batch_job_id, id);
"""
