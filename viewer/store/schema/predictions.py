"""Every planned trial as one row of numbers, with counts by kind.

They repeat trials, scores and runs, so that a page can summarise a million of them at
once. Triggers keep them consistent in the transaction that seals a plan or settles a
trial.
"""

from typing import Final

_PREDICTIONS: Final = """
CREATE TABLE prediction_stratum (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run (id),
    finding TEXT NOT NULL,
    view TEXT NOT NULL,
    condition TEXT NOT NULL,
    model TEXT NOT NULL,
    UNIQUE (run_id, finding, view, condition, model)
) STRICT;
CREATE TABLE prediction_patient (
    id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL REFERENCES dataset (id),
    name TEXT NOT NULL,
    UNIQUE (dataset_id, name)
) STRICT;
CREATE TABLE prediction_item (
    id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL REFERENCES dataset (id),
    name TEXT NOT NULL,
    UNIQUE (dataset_id, name)
) STRICT;
CREATE TABLE prediction_verdict (
    id INTEGER PRIMARY KEY,
    status TEXT NOT NULL,
    outcome TEXT NOT NULL,
    UNIQUE (status, outcome)
) STRICT;
CREATE TABLE prediction (
    trial_id INTEGER PRIMARY KEY REFERENCES trial (id),
    stratum_id INTEGER NOT NULL REFERENCES prediction_stratum (id),
    patient_id INTEGER NOT NULL REFERENCES prediction_patient (id),
    item_id INTEGER NOT NULL REFERENCES prediction_item (id),
    verdict_id INTEGER NOT NULL REFERENCES prediction_verdict (id),
    coverage REAL
) STRICT;
CREATE INDEX prediction_by_stratum
    ON prediction (stratum_id, verdict_id, coverage, patient_id);
CREATE INDEX prediction_by_patient
    ON prediction (patient_id, stratum_id, verdict_id, coverage);
CREATE TABLE prediction_count (
    stratum_id INTEGER NOT NULL REFERENCES prediction_stratum (id),
    verdict_id INTEGER NOT NULL REFERENCES prediction_verdict (id),
    n INTEGER NOT NULL CHECK (n >= 0),
    PRIMARY KEY (stratum_id, verdict_id)
) STRICT, WITHOUT ROWID;
"""


def fill(which: str) -> str:
    """Return the SQL that adds the trials ``t`` of runs ``r`` that meet a condition.

    None of them may be present already. A missing outcome is "".
    """
    source = f"FROM trial t JOIN run r ON r.id = t.run_id WHERE {which}"
    return f"""
INSERT INTO prediction_stratum (run_id, finding, view, condition, model)
    SELECT t.run_id, t.finding, t.view, t.condition, t.model {source}
    GROUP BY 1, 2, 3, 4, 5 ORDER BY min(t.id);
INSERT INTO prediction_patient (dataset_id, name)
    SELECT DISTINCT r.dataset_id, t.patient {source} AND NOT EXISTS
    (SELECT 1 FROM prediction_patient p
     WHERE p.dataset_id = r.dataset_id AND p.name = t.patient);
INSERT INTO prediction_item (dataset_id, name)
    SELECT DISTINCT r.dataset_id, t.item {source} AND NOT EXISTS
    (SELECT 1 FROM prediction_item i
     WHERE i.dataset_id = r.dataset_id AND i.name = t.item);
INSERT INTO prediction_verdict (status, outcome)
    SELECT DISTINCT t.status, coalesce(s.outcome, '')
    FROM trial t JOIN run r ON r.id = t.run_id LEFT JOIN score s ON s.id = t.score_id
    WHERE {which} AND NOT EXISTS
    (SELECT 1 FROM prediction_verdict v
     WHERE v.status = t.status AND v.outcome = coalesce(s.outcome, ''));
INSERT INTO prediction
    (trial_id, stratum_id, patient_id, item_id, verdict_id, coverage)
    SELECT t.id, g.id, p.id, i.id, v.id, s.coverage
    FROM trial t JOIN run r ON r.id = t.run_id LEFT JOIN score s ON s.id = t.score_id
    JOIN prediction_stratum g ON g.run_id = t.run_id AND g.finding = t.finding
     AND g.view = t.view AND g.condition = t.condition AND g.model = t.model
    JOIN prediction_patient p ON p.dataset_id = r.dataset_id AND p.name = t.patient
    JOIN prediction_item i ON i.dataset_id = r.dataset_id AND i.name = t.item
    JOIN prediction_verdict v ON v.status = t.status
     AND v.outcome = coalesce(s.outcome, '')
    WHERE {which} ORDER BY t.id;
INSERT INTO prediction_count (stratum_id, verdict_id, n)
    SELECT g.id, f.verdict_id, count(*) FROM run r
    JOIN prediction_stratum g ON g.run_id = r.id
    JOIN prediction f ON f.stratum_id = g.id WHERE {which} GROUP BY 1, 2;
"""  # noqa: S608 - the condition is this package's own


_OUTCOME = "coalesce((SELECT outcome FROM score WHERE id = NEW.score_id), '')"
_TRIGGERS = f"""
CREATE TRIGGER prediction_of_sealed_plan AFTER UPDATE OF sealed ON run
WHEN OLD.sealed = 0 AND NEW.sealed = 1
BEGIN {fill("r.id = NEW.id")} END;
CREATE TRIGGER prediction_follows_trial AFTER UPDATE OF status, score_id ON trial
WHEN EXISTS (SELECT 1 FROM prediction WHERE trial_id = NEW.id)
BEGIN
    INSERT INTO prediction_verdict (status, outcome)
        SELECT NEW.status, {_OUTCOME} WHERE NOT EXISTS
        (SELECT 1 FROM prediction_verdict
         WHERE status = NEW.status AND outcome = {_OUTCOME});
    UPDATE prediction_count SET n = n - 1 WHERE (stratum_id, verdict_id) =
        (SELECT stratum_id, verdict_id FROM prediction WHERE trial_id = NEW.id);
    UPDATE prediction SET
        verdict_id = (SELECT id FROM prediction_verdict
                      WHERE status = NEW.status AND outcome = {_OUTCOME}),
        coverage = (SELECT coverage FROM score WHERE id = NEW.score_id)
        WHERE trial_id = NEW.id;
    INSERT INTO prediction_count (stratum_id, verdict_id, n)
        SELECT stratum_id, verdict_id, 1 FROM prediction WHERE trial_id = NEW.id
        ON CONFLICT (stratum_id, verdict_id) DO UPDATE SET n = n + 1;
END;
"""  # noqa: S608 - no word of it comes from outside

TABLES: Final = _PREDICTIONS + _TRIGGERS
