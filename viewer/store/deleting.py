"""Deletion of data sets, cases, runs and replies with every row kept of them.

All rows go in one transaction. The triggers that keep questions and answers from being
changed are lifted inside it and stand again when it ends, so that no other program
sees the store without them.
"""
# ruff: noqa: S608 - no word of these statements comes from outside

import contextlib
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from viewer.store import reading_audit
from viewer.store.database import Store
from viewer.store.deletion_scope import DeletionScope


@dataclass(frozen=True)
class Removed:
    """How many rows of each table went.

    ``shared`` replies stay because other runs show them.
    """

    counts: Mapping[str, int]
    shared: int = 0


# Everything below the ids that were named, worked out from the store itself.
_FOLLOWING: Final = {
    "trial": "SELECT id FROM trial WHERE run_id IN (SELECT id FROM temp.gone_run)",
    "batch_job": (
        "SELECT id FROM batch_job WHERE run_id IN (SELECT id FROM temp.gone_run)"
    ),
    # A reply that a trial of another run shows stays, with its attempt.
    "kept_attempt": (
        "SELECT a.id FROM attempt a JOIN reply r ON r.attempt_id = a.id"
        " WHERE a.trial_id IN (SELECT id FROM temp.gone_trial) AND r.id IN"
        " (SELECT reply_id FROM parse WHERE trial_id NOT IN"
        "   (SELECT id FROM temp.gone_trial)"
        "  UNION SELECT s.reply_id FROM parse_step s JOIN parse p ON p.id = s.parse_id"
        "   WHERE p.trial_id NOT IN (SELECT id FROM temp.gone_trial))"
    ),
    "attempt": (
        "SELECT id FROM attempt WHERE id NOT IN (SELECT id FROM temp.gone_kept_attempt)"
        " AND (trial_id IN (SELECT id FROM temp.gone_trial)"
        "  OR trial_id IN (SELECT id FROM temp.gone_asked_trial) OR id IN"
        "  (SELECT r.attempt_id FROM reply r WHERE r.id IN"
        "    (SELECT reply_id FROM parse WHERE trial_id IN"
        "      (SELECT id FROM temp.gone_asked_trial)"
        "     UNION SELECT s.reply_id FROM parse_step s JOIN parse p"
        "      ON p.id = s.parse_id WHERE p.trial_id IN"
        "      (SELECT id FROM temp.gone_asked_trial))))"
    ),
    "reply": (
        "SELECT id FROM reply WHERE attempt_id IN (SELECT id FROM temp.gone_attempt)"
    ),
    "parse": (
        "SELECT id FROM parse WHERE trial_id IN (SELECT id FROM temp.gone_trial)"
        " OR reply_id IN (SELECT id FROM temp.gone_reply) OR id IN"
        " (SELECT parse_id FROM parse_step WHERE reply_id IN"
        "  (SELECT id FROM temp.gone_reply))"
    ),
    # Those whose answer goes although they stay: they are to be asked again.
    "pending_trial": (
        "SELECT id FROM temp.gone_asked_trial UNION SELECT trial_id FROM parse"
        " WHERE id IN (SELECT id FROM temp.gone_parse)"
        " AND trial_id NOT IN (SELECT id FROM temp.gone_trial)"
    ),
}
_WITHIN: Final = "IN (SELECT value FROM json_each(?))"
_GIVEN: Final = (
    *("dataset", "shrinking", "image", "item", "run", "session", "asked_trial"),
    *("model", "path", "place"),
)
# In this order: what is looked up goes after what looks it up.
_ROWS: Final = (
    ("parse_step", "parse_id {parse}"),
    ("score", "trial_id {trial} OR trial_id {pending_trial}"),
    ("parse", "id {parse}"),
    ("reply", "id {reply}"),
    ("attempt_end", "attempt_id {attempt}"),
    ("batch_job_question", "attempt_id {attempt} OR batch_job_id {batch_job}"),
    ("batch_job_event", "batch_job_id {batch_job}"),
    ("batch_job", "id {batch_job}"),
    ("attempt", "id {attempt}"),
    ("prediction", "trial_id {trial}"),
    (
        "prediction_count",
        "stratum_id IN (SELECT id FROM prediction_stratum WHERE run_id {run})",
    ),
    ("prediction_stratum", "run_id {run}"),
    *((table, "run_id {run}") for table in ("run_mark", "run_note", "run_ceiling")),
    ("coordinator", "run_id {run}"),
    ("comparison_look", "first_run {run} OR second_run {run}"),
    *(
        (table, "session_id {session}")
        for table in ("reading", "reading_look", "reading_task", "reading_withdrawal")
    ),
    ("reading_session", "id {session}"),
    ("trial", "run_id {run}"),
    ("run", "id {run}"),
    ("model_check", "model {model}"),
    *(
        (table, "image_id {image}")
        for table in ("label", "mask", "defect", "reference_box", "image_reader")
    ),
    (
        "pixel_review",
        (
            "image_sha256 IN (SELECT sha256 FROM image WHERE id {image})"
            " AND image_sha256 NOT IN (SELECT sha256 FROM image WHERE id NOT {image})"
        ),
    ),
    ("image", "id {image}"),
    ("item", "id {item}"),
    ("notice", "dataset_id {dataset}"),
    ("opened_folder", "dataset_id {dataset}"),
    *(
        (
            f"prediction_{one}",
            (
                f"(dataset_id {{dataset}} OR dataset_id {{shrinking}}) AND id NOT IN"
                f" (SELECT {one}_id FROM prediction)"
            ),
        )
        for one in ("patient", "item")
    ),
    *(
        (table, "path {path}")
        for table in ("image_mark", "mark_edit", "corrected_view", "committed_reading")
    ),
    (
        "reading_state",
        (
            "EXISTS (SELECT 1 FROM temp.gone_path g"
            "  WHERE substr(place, -length(g.id)) = g.id)"
            " OR EXISTS (SELECT 1 FROM temp.gone_place g"
            "  WHERE substr(place || '/', 1, length(g.id) + 1) = g.id || '/')"
        ),
    ),
    (
        "family",
        (
            "dataset_sha256 IN (SELECT root_sha256 FROM dataset WHERE id {dataset})"
            " AND dataset_sha256 NOT IN"
            " (SELECT root_sha256 FROM dataset WHERE id NOT {dataset})"
        ),
    ),
)


def remove(
    store: Store,
    scope: DeletionScope,
    files: Iterable[str] = (),
    places: Iterable[str] = (),
) -> Removed:
    """Remove rows in one transaction, and note which files are to follow.

    ``places`` are keys of rows of the case list whose reading states go.
    """
    # Else deleted text stays in the file's free pages until they are used again.
    store.rows("PRAGMA secure_delete = ON")
    with store.transaction():
        removed = _removed(store, scope, places)
        store.execute_many(
            "INSERT OR IGNORE INTO leftover VALUES (?)", [("",), *((f,) for f in files)]
        )
    return removed


def preview(store: Store, scope: DeletionScope, places: Iterable[str] = ()) -> Removed:
    """Return what `remove` would remove, by doing it and taking it back."""
    with contextlib.suppress(_TakenBackError), store.transaction():
        removed = _removed(store, scope, places)
        raise _TakenBackError
    return removed


class _TakenBackError(Exception):
    """Takes back a transaction that only was to be looked at."""


def _removed(store: Store, scope: DeletionScope, places: Iterable[str]) -> Removed:
    store.rows("PRAGMA defer_foreign_keys = ON")
    with _lifted_triggers(store):
        _list_ids(store, scope, places)
        requests = _requests_left_behind(store)
        _give_away_shared(store)
        for session in scope.sessions:
            reading_audit.note_deletion(store, session)
        store.execute(
            "UPDATE trial SET status = 'pending', score_id = NULL,"
            f" request_sha256 = NULL WHERE id {_gone('pending_trial')}"
        )
        store.execute(
            "UPDATE departure SET attempt_id = NULL"
            f" WHERE attempt_id {_gone('attempt')}"
        )
        counts = {t: _delete(store, t, where) for t, where in _ROWS}
        counts["request"] = _delete_requests(store, requests, counts)
        counts["dataset"] = _delete_datasets(store, scope)
        store.execute(
            # A fresh run takes replies after this one, and the next may get its number.
            "UPDATE run SET replies_after ="
            " min(replies_after, (SELECT ifnull(max(id), 0) FROM reply))"
        )
    shared = int(store.rows("SELECT count(*) FROM temp.gone_kept_attempt")[0][0])
    return Removed({t: n for t, n in counts.items() if n}, shared)


@contextlib.contextmanager
def _lifted_triggers(store: Store) -> Iterator[None]:
    """Drop the triggers that refuse changes, until the end of the transaction."""
    refusing = store.rows(
        "SELECT name, sql FROM sqlite_master"
        " WHERE type = 'trigger' AND instr(sql, 'RAISE')"
    )
    for row in refusing:
        store.execute(f"DROP TRIGGER {row['name']}")
    yield
    for row in refusing:
        store.execute(row["sql"])


def _gone(what: str) -> str:
    return f"IN (SELECT id FROM temp.gone_{what})"


def _list_ids(store: Store, scope: DeletionScope, places: Iterable[str]) -> None:
    given = {
        "dataset": scope.datasets,
        "shrinking": scope.shrinking,
        "image": scope.images,
        "item": scope.items,
        "run": scope.runs,
        "session": scope.sessions,
        "asked_trial": scope.trials,
        "model": scope.models,
        "place": tuple(places),
    }
    for what in (*given, *_FOLLOWING, "path"):
        store.execute(f"CREATE TEMP TABLE IF NOT EXISTS gone_{what} (id PRIMARY KEY)")
        store.execute(f"DELETE FROM temp.gone_{what}")
    for what, ids in given.items():
        store.execute_many(
            f"INSERT OR IGNORE INTO temp.gone_{what} VALUES (?)",
            [(one,) for one in ids],
        )
    for what, query in _FOLLOWING.items():
        store.execute(f"INSERT OR IGNORE INTO temp.gone_{what} {query}")
    store.execute(
        "INSERT OR IGNORE INTO temp.gone_path SELECT path FROM image"
        f" WHERE id {_gone('image')} AND path NOT IN"
        f" (SELECT path FROM image WHERE id NOT {_gone('image')})"
    )


def _delete(store: Store, table: str, where: str) -> int:
    lists = {what: _gone(what) for what in (*_FOLLOWING, *_GIVEN)}
    store.execute(f"DELETE FROM {table} WHERE {where.format(**lists)}")
    return int(store.rows("SELECT changes()")[0][0])


def _give_away_shared(store: Store) -> None:
    """Let the replies that other runs show belong to a trial of theirs."""
    store.execute(
        "UPDATE attempt SET coordinator_id = NULL, trial_id = (SELECT p.trial_id"
        " FROM reply r JOIN parse p ON p.reply_id = r.id OR p.id IN"
        "  (SELECT parse_id FROM parse_step WHERE reply_id = r.id)"
        " WHERE r.attempt_id = attempt.id"
        f" AND p.trial_id NOT {_gone('trial')} ORDER BY p.id LIMIT 1)"
        f" WHERE id {_gone('kept_attempt')}"
    )


def _requests_left_behind(store: Store) -> tuple[str, ...]:
    """Return the requests that nothing will refer to afterwards."""
    rows = store.rows(
        "SELECT request_sha256 FROM attempt"
        f" WHERE id {_gone('attempt')} UNION SELECT request_sha256 FROM trial"
        f" WHERE request_sha256 IS NOT NULL AND (id {_gone('trial')}"
        f"  OR id {_gone('pending_trial')})"
        " EXCEPT SELECT request_sha256 FROM attempt"
        f" WHERE id NOT {_gone('attempt')} EXCEPT SELECT request_sha256 FROM trial"
        f" WHERE request_sha256 IS NOT NULL AND id NOT {_gone('trial')}"
        f" AND id NOT {_gone('pending_trial')}"
    )
    return tuple(str(row[0]) for row in rows)


def _delete_requests(
    store: Store, requests: tuple[str, ...], counts: dict[str, int]
) -> int:
    """Delete requests, with the images and prompts that no other one needs."""
    listed = json.dumps(requests)
    gone = store.rows(
        f"SELECT prompt_sha256, document FROM request WHERE sha256 {_WITHIN}",
        (listed,),
    )
    store.execute(f"DELETE FROM request WHERE sha256 {_WITHIN}", (listed,))
    store.execute(
        f"DELETE FROM rescued_reply WHERE request_sha256 {_WITHIN}",
        (listed,),
    )
    images = {one for row in gone for one in _images_of(row["document"])}
    if images:
        for row in store.rows("SELECT document FROM request"):
            images.difference_update(_images_of(row["document"]))
    prompts = {row["prompt_sha256"] for row in gone}
    kept = store.rows("SELECT DISTINCT prompt_sha256 FROM request")
    prompts.difference_update(row[0] for row in kept)
    for table, hashes in (("blob", images), ("prompt", prompts)):
        store.execute(
            f"DELETE FROM {table} WHERE sha256 {_WITHIN}",
            (json.dumps(sorted(hashes)),),
        )
        counts[table] = int(store.rows("SELECT changes()")[0][0])
    return len(gone)


def _images_of(document: bytes) -> Iterator[str]:
    for message in json.loads(zlib.decompress(document))["messages"]:
        for part in message["parts"]:
            if "image_sha256" in part:
                yield part["image_sha256"]


def _delete_datasets(store: Store, scope: DeletionScope) -> int:
    """Delete data sets; one with consents leaves these, under a name of no meaning.

    What was sent, and who allowed it, stays in the audit.
    """
    for dataset in scope.shrinking:
        _forget_cases(store, dataset)
    allowed = "EXISTS (SELECT 1 FROM consent c WHERE c.dataset_id = dataset.id)"
    store.execute(
        "UPDATE dataset SET name = 'deleted ' || id, root = '', root_sha256 = '',"
        " split = '', adhoc = 1, complete = 0"
        f" WHERE id {_gone('dataset')} AND {allowed}"
    )
    renamed = int(store.rows("SELECT changes()")[0][0])
    return renamed + _delete(store, "dataset", f"id {{dataset}} AND NOT {allowed}")


def _forget_cases(store: Store, dataset: int) -> None:
    """Give a data set that lost cases another content hash, and drop notices."""
    left = store.rows(
        "SELECT sha256 FROM image WHERE dataset_id = ?1 UNION ALL"
        " SELECT key || facts FROM item WHERE dataset_id = ?1",
        (dataset,),
    )
    # The same data set with the cases would be another one.
    content = "\n".join(["without deleted cases", *(str(row[0]) for row in left)])
    store.execute(
        "UPDATE dataset SET root_sha256 = ? WHERE id = ?",
        (hashlib.sha256(content.encode()).hexdigest(), dataset),
    )
    # They name files and patients; which of them the deleted case is, nobody knows.
    store.execute("DELETE FROM notice WHERE dataset_id = ?", (dataset,))
