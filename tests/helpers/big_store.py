"""A store with as many predictions as wanted, of 20 models, written in bulk."""

import json
import zlib
from dataclasses import replace
from pathlib import Path

from tests.helpers.small_store import a_dataset, a_mask, a_spec
from viewer.domain.case import Dataset
from viewer.domain.exchange import ModelProfile
from viewer.domain.plain import plain
from viewer.store import cases
from viewer.store.database import open_store

MODELS = 20
FINDINGS = (
    *("Airspace Opacity", "Atelectasis", "Cardiomegaly", "Consolidation", "Edema"),
    *("Enlarged Cardiomediastinum", "Lung Lesion", "Pleural Effusion", "Pneumothorax"),
)
GRIDS = ("grid=8", "grid=16")
PROFILES = tuple(
    ModelProfile(f"model{i:02d}", "scripted", {"answer": "D4"}) for i in range(MODELS)
)
SPEC = replace(a_spec(), models=PROFILES)

_TRIALS = """
WITH RECURSIVE number (i) AS
 (SELECT 0 UNION ALL SELECT i + 1 FROM number WHERE i + 1 < :n),
part AS (SELECT i, i / :arms AS question, i % :arms AS arm FROM number)
INSERT INTO trial (run_id, item, patient, image, view, finding, condition,
 condition_params, repeat, model)
SELECT :run, printf('image%06d|', question / 9) || f.value,
 printf('patient%05d', question / 45), printf('image%06d', question / 9),
 iif(question / 9 % 2, 'lateral', 'frontal'), f.value,
 iif(arm % 2, 'grid=16', 'grid=8'), iif(arm % 2, '[["rows", 16], ["columns", 16]]',
 '[["rows", 8], ["columns", 8]]'), 0, printf('model%02d', arm / 2)
FROM part JOIN json_each(:findings) f ON f.key = question % 9
"""
_SCORES = """
INSERT INTO score (trial_id, scorer_version, status, reason, answer, coverage, outcome,
 created_at)
SELECT id, '1', CASE WHEN h < 45 THEN 'scored_correct' WHEN h < 90 THEN 'scored_wrong'
 WHEN h < 94 THEN 'unparsed' WHEN h < 97 THEN 'refused'
 WHEN h < 98 THEN 'provider_error'
 ELSE 'excluded' END, '', iif(h < 90, 'D4', ''),
 CASE WHEN h < 45 THEN 0.5 + h / 90.0 WHEN h < 60 THEN 0.2 WHEN h < 90 THEN 0.0 END,
 CASE WHEN h < 45 THEN 'full' WHEN h < 60 THEN 'partial' WHEN h < 90 THEN 'miss' END,
 'then' FROM (SELECT id, (id * 2654435761 >> 7) % 100 AS h FROM trial WHERE run_id = ?)
"""
_SETTLED = """
UPDATE trial SET status = s.status, score_id = s.id FROM score s
WHERE s.trial_id = trial.id AND trial.run_id = ?
"""


def big_store(path: Path, n: int, data: Dataset | None = None) -> None:
    """Write one finished run of ``n`` predictions on a data set, or on a small one."""
    with open_store(path) as store:
        dataset = cases.add_dataset(store, data or a_dataset())
        with store.transaction():
            run = store.execute(
                "INSERT INTO run (study, study_version, dataset_id, plan_sha256, spec,"
                " adhoc, sealed, created_at) VALUES ('grid_localization', '1', ?, '',"
                " ?, 0, 0, 'then')",
                (dataset, json.dumps(plain(SPEC))),
            )
            arms = MODELS * len(GRIDS)
            sql = _TRIALS.replace(":n", str(n)).replace(":arms", str(arms))
            sql = sql.replace(":run", str(run))
            store.execute(sql.replace(":findings", "?"), (json.dumps(FINDINGS),))
            store.execute(_SCORES, (run,))
            store.execute(_SETTLED, (run,))
            store.execute("UPDATE run SET sealed = 1 WHERE id = ?", (run,))


_LEDGER = """
INSERT INTO prompt VALUES ('p', 'prompt', 'Where is it?');
INSERT INTO request (sha256, prompt_sha256, document)
 SELECT printf('%064x', id), 'p', randomblob(600) FROM trial;
INSERT INTO attempt (id, trial_id, request_sha256, number, started_at)
 SELECT id, id, printf('%064x', id), 1, 'then' FROM trial;
INSERT INTO reply (id, attempt_id, request_sha256, kind, body, headers, latency_ms,
 tokens_in, tokens_out, cost_microusd, model_returned, reusable, received_at)
 SELECT id, id, printf('%064x', id), 'plain', x':body', '{}', 1500, 800, 12, 90,
 '', 1, 'then' FROM trial;
INSERT INTO parse (id, trial_id, reply_id, parser_version, answer, created_at)
 SELECT id, id, id, '1', '{"cell": "D4", "tier": "exact"}', 'then' FROM trial;
INSERT INTO score (trial_id, parse_id, scorer_version, status, reason, answer, coverage,
 outcome, created_at) SELECT trial_id, trial_id, '1', status, reason, answer, coverage,
 outcome, 'then' FROM score;
UPDATE trial SET request_sha256 = printf('%064x', id),
 score_id = (SELECT max(id) FROM score s WHERE s.trial_id = trial.id);
"""


def answered_store(path: Path, n: int) -> None:
    """Write :func:`big_store`'s run on images with masks, with replies and requests."""
    arms = MODELS * len(GRIDS)
    masks = {finding: a_mask(slice(3, 9), slice(4, 20)) for finding in FINDINGS}
    (image, *_) = a_dataset().images
    images = tuple(
        replace(image, key=f"image{i:06d}", patient=f"patient{i // 5:05d}", masks=masks)
        for i in range(n // arms // len(FINDINGS) + 1)
    )
    big_store(path, n, replace(a_dataset(), images=images))
    with open_store(path) as store, store.transaction():
        body = zlib.compress(b"The cell is D4.").hex()
        for statement in _LEDGER.replace(":body", body).strip().split(";\n"):
            store.execute(statement)
