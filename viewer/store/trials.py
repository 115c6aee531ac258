"""The ledger: what was asked, what came back, and the verdicts."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any, Final

from viewer.domain.answer import Status
from viewer.domain.answer_json import PLACED_START
from viewer.domain.exchange import RawReply, ReplyKind
from viewer.domain.result import Outcome, Score
from viewer.domain.run import ANSWER_STEP, Step, Trial
from viewer.store.database import Row, Store, utc_now
from viewer.store.reply_rows import NAMES, PLACES, ReplyRecord, reply_row
from viewer.store.runs import condition_of
from viewer.store.trial_columns import Columns, trial_columns

_NO_NUMBERS: Final = "[]"
_STATUSES: Final = {one.value: one for one in Status}
_OUTCOMES: Final[Mapping[str, Outcome | None]] = {
    "": None,
    **{one.value: one for one in Outcome},
}


@dataclass(frozen=True)
class RequestRecord:
    """A request as stored in the ledger.

    ``document`` is what was hashed into ``sha256``, with the messages' text and the
    hashes of the images; ``images`` maps those hashes to the exact bytes sent.
    """

    sha256: str
    document: Mapping[str, object]
    prompt_sha256: str
    prompts: Mapping[str, tuple[str, str]]
    images: Mapping[str, bytes]


@dataclass(frozen=True)
class TrialReply:
    """A raw reply to one question of a trial, and the step it answers.

    ``id`` is its row's and ``request_sha256`` its request's, 0 and "" for a reply that
    is not in a store. ``reused`` is True if it existed before this trial.
    """

    raw: RawReply
    step: Step = ANSWER_STEP
    id: int = 0
    request_sha256: str = ""
    reused: bool = False


@dataclass(frozen=True)
class Verdict:
    """A trial's new score, and the replies behind it, oldest first.

    ``parsed`` is the answer as JSON. ``unanswered`` is the request of a trial without a
    reply, None if none was sent.
    """

    score: Score
    scorer_version: str
    parsed: str = ""
    parser_version: str = ""
    replies: tuple[TrialReply, ...] = ()
    unanswered: str | None = None

    @property
    def reply(self) -> TrialReply | None:
        """The last reply of the model under test, else the last reply."""
        replies = [one for one in self.replies if not one.step.role]
        return next(iter((replies or self.replies)[-1:]), None)

    @property
    def request_sha256(self) -> str | None:
        """The request by which the trial is found."""
        return self.unanswered if self.reply is None else self.reply.request_sha256


@dataclass(frozen=True, slots=True)
class ScoredTrial:
    """A trial with its current verdict; ``reply_id`` None without a reply.

    ``parsed`` is the answer as JSON, "" without a reply.
    """

    id: int
    trial: Trial
    score: Score
    request_sha256: str
    reply_id: int | None
    parsed: str = ""

    @property
    def placed(self) -> bool:
        """Whether its answer is a location in native pixels, not a cell."""
        return self.parsed.startswith(PLACED_START)


def keep_requests(store: Store, requests: Sequence[RequestRecord]) -> None:
    """Insert requests, their images and prompts; existing ones are unchanged."""
    store.execute_many(
        "INSERT OR IGNORE INTO blob (sha256, bytes) VALUES (?, ?)",
        [pair for request in requests for pair in request.images.items()],
    )
    store.execute_many(
        "INSERT OR IGNORE INTO prompt (sha256, name, body) VALUES (?, ?, ?)",
        [
            (sha256, name, body)
            for request in requests
            for sha256, (name, body) in request.prompts.items()
        ],
    )
    store.execute_many(
        "INSERT OR IGNORE INTO request (sha256, document, prompt_sha256)"
        " VALUES (?, ?, ?)",
        [
            (r.sha256, zlib.compress(_canonical(r.document), 1), r.prompt_sha256)
            for r in requests
        ],
    )


def _canonical(document: Mapping[str, object]) -> bytes:
    return json.dumps(document, sort_keys=True, ensure_ascii=False).encode()


def begin_attempt(
    store: Store, trial_id: int, request_sha256: str, coordinator: int | None = None
) -> int:
    """Insert the intent to ask, before anything is sent; return the attempt's id.

    Until it ends, a ``coordinator``'s attempt claims its question (`claims`).
    """
    return store.execute(
        "INSERT INTO attempt (trial_id, request_sha256, number, started_at,"
        " coordinator_id) SELECT ?, ?, 1 + count(*), ?, ? FROM attempt"
        " WHERE trial_id = ?",
        (trial_id, request_sha256, utc_now(), coordinator, trial_id),
    )


def keep_reply(
    store: Store, attempt_id: int, request_sha256: str, record: ReplyRecord
) -> int:
    """Insert a reply and close its attempt; return the reply's id."""
    _close(store, attempt_id, "reply", record.raw.http_status, "", "", utc_now())
    return store.execute(
        f"INSERT INTO reply (attempt_id, {NAMES}) VALUES (?, {PLACES})",  # noqa: S608 - our own names
        (attempt_id, *reply_row(request_sha256, record)),
    )


def close_with_error(
    store: Store, attempt_id: int, *, reason: str, message: str, http_status: int | None
) -> None:
    """Close an attempt that got no reply."""
    _close(store, attempt_id, "error", http_status, reason, message, utc_now())


def close_orphan(store: Store, attempt_id: int) -> None:
    """Close an attempt left open by a kill; its reply, if any, never arrived.

    Another run with the same request may have closed it meanwhile.
    """
    if not store.rows("SELECT 1 FROM attempt_end WHERE attempt_id = ?", (attempt_id,)):
        _close(store, attempt_id, "orphan", None, "orphan", "", utc_now())


def _close(
    store: Store,
    attempt_id: int,
    outcome: str,
    http_status: int | None,
    reason: str,
    message: str,
    now: str,
) -> None:
    store.execute(
        "INSERT INTO attempt_end (attempt_id, outcome, http_status, reason, message,"
        " ended_at) VALUES (?, ?, ?, ?, ?, ?)",
        (attempt_id, outcome, http_status, reason, message, now),
    )


def orphans(store: Store, run: int) -> tuple[tuple[int, int, str], ...]:
    """Return (attempt id, trial id, model) of a run's attempts left open.

    Those of a provider's batch are not: it goes on, whoever waits for it.
    """
    rows = store.rows(
        "SELECT a.id, a.trial_id, t.model FROM attempt a JOIN trial t"
        " ON t.id = a.trial_id LEFT JOIN attempt_end e ON e.attempt_id = a.id"
        " LEFT JOIN batch_job_question q ON q.attempt_id = a.id"
        " WHERE t.run_id = ? AND e.attempt_id IS NULL AND q.attempt_id IS NULL"
        " ORDER BY a.id",
        (run,),
    )
    return tuple((row[0], row[1], row[2]) for row in rows)


def kept_reply(store: Store, request_sha256: str, trial_id: int) -> TrialReply | None:
    """Return a stored reply to exactly this request that can be reused.

    A reply that may not be reused elsewhere (refused, truncated) still answers the
    trial that bought it. For a fresh run it must be newer than the plan.
    """
    rows = store.rows(
        "SELECT r.* FROM reply r JOIN attempt a ON a.id = r.attempt_id"
        " WHERE r.request_sha256 = ? AND (r.reusable = 1 OR a.trial_id = ?)"
        " AND r.id > ifnull((SELECT run.replies_after FROM trial JOIN run"
        # The oldest one, so that all trials that reuse a reply take the same.
        " ON run.id = trial.run_id WHERE trial.id = ?), 0) ORDER BY r.id LIMIT 1",
        (request_sha256, trial_id, trial_id),
    )
    return reply_of_row(rows[0]) if rows else None


def reply_with_id(store: Store, reply_id: int) -> TrialReply:
    """Return a kept reply; an unknown id raises IndexError."""
    return reply_of_row(store.rows("SELECT * FROM reply WHERE id = ?", (reply_id,))[0])


def replies_of(store: Store, run: int) -> Iterator[TrialReply]:
    """Yield the replies that the verdicts of a run name, each once."""
    rows = store.rows(
        "SELECT * FROM reply WHERE id IN (SELECT p.reply_id FROM trial t"
        " JOIN score s ON s.id = t.score_id JOIN parse p ON p.id = s.parse_id"
        " WHERE t.run_id = ?)",
        (run,),
    )
    return map(reply_of_row, rows)


def reply_of_row(row: Row, step: Step = ANSWER_STEP) -> TrialReply:
    """Return the reply that a row of table reply holds, as that to a step."""
    return TrialReply(raw_of_row(row), step, row["id"], row["request_sha256"])


def raw_of_row(row: Row) -> RawReply:
    """Return the raw reply that a row with the columns of table reply holds."""
    return RawReply(
        kind=ReplyKind(row["kind"]),
        body=zlib.decompress(row["body"]),
        http_status=row["http_status"],
        headers=json.loads(row["headers"]),
        latency_ms=row["latency_ms"],
    )


def settle(store: Store, verdicts: Iterable[tuple[int, Verdict]]) -> None:
    """Append the verdicts on trials and copy each one's status to its trial."""
    now = utc_now()
    for trial_id, verdict in verdicts:
        parse_id = _add_parse(store, trial_id, verdict, now)
        _add_score(store, trial_id, verdict, parse_id, now)


def score_again(store: Store, trial_id: int, score: Score, version: str) -> None:
    """Append another score for the answer of a trial's latest score."""
    (row,) = store.rows(
        "SELECT s.parse_id FROM trial t JOIN score s ON s.id = t.score_id"
        " WHERE t.id = ?",
        (trial_id,),
    )
    _add_score(store, trial_id, Verdict(score, version), row[0], utc_now())


def _add_score(
    store: Store, trial_id: int, verdict: Verdict, parse_id: int | None, now: str
) -> None:
    score = verdict.score
    score_id = store.execute(
        "INSERT INTO score (trial_id, parse_id, scorer_version, status, reason,"
        " answer, coverage, outcome, numbers, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            trial_id,
            parse_id,
            verdict.scorer_version,
            score.status.value,
            score.reason,
            score.answer,
            score.coverage,
            score.outcome.value if score.outcome else None,
            # NaN is no JSON: SQLite's own JSON functions would fail on the row.
            json.dumps(score.numbers, allow_nan=False),
            now,
        ),
    )
    store.execute(
        "UPDATE trial SET status = ?, score_id = ?,"
        " request_sha256 = coalesce(?, request_sha256) WHERE id = ?",
        (score.status.value, score_id, verdict.request_sha256, trial_id),
    )


def _add_parse(store: Store, trial_id: int, verdict: Verdict, now: str) -> int | None:
    if verdict.reply is None:
        return None
    parse_id = store.execute(
        "INSERT INTO parse (trial_id, reply_id, parser_version, answer, created_at)"
        " VALUES (?, ?, ?, ?, ?)",
        (trial_id, verdict.reply.id, verdict.parser_version, verdict.parsed, now),
    )
    # Most trials have one step: a row for each would repeat the parse.
    if [one.step for one in verdict.replies] != [ANSWER_STEP]:
        store.execute_many(
            "INSERT INTO parse_step (parse_id, position, step, role, again, reply_id)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            [
                (parse_id, n, one.step.name, one.step.role, one.step.again, one.id)
                for n, one in enumerate(verdict.replies)
            ],
        )
    return parse_id


def reopen_failed(store: Store, run: int) -> int:
    """Reset every trial that ended as provider_error to pending; return the number."""
    with store.transaction():
        failed = store.rows(
            "SELECT count(*) FROM trial WHERE run_id = ? AND status = 'provider_error'",
            (run,),
        )
        store.execute(
            # Only the copy is reset; the score that failed stays as a row.
            "UPDATE trial SET status = 'pending', score_id = NULL"
            " WHERE run_id = ? AND status = 'provider_error'",
            (run,),
        )
    return int(failed[0][0])


def scored_trials(store: Store, run: int) -> tuple[ScoredTrial, ...]:
    """Return every trial of a run with its current verdict, in the order planned."""
    return trials_in(trial_columns(store, run, SCORED))


def trials_in(columns: Columns) -> tuple[ScoredTrial, ...]:
    """Return the trials whose columns ``SCORED`` these are."""
    values = (columns[name] for name in SCORED)
    return tuple(starmap(_scored_trial, zip(*values, strict=True)))


SCORED: Final = (
    *("id", "item", "patient", "image", "view", "finding", "condition"),
    *("condition_params", "repeat", "model", "status", "reason", "answer", "coverage"),
    *("outcome", "numbers", "request_sha256", "reply_id", "parsed"),
)


def _scored_trial(number: int, *values: Any) -> ScoredTrial:  # noqa: ANN401 - of a row
    """Convert a row with the columns above, by index for speed."""
    item, patient, image, view, finding, name, params, repeat, model, *rest = values
    status, reason, answer, coverage, outcome, numbers, request, reply, parsed = rest
    return ScoredTrial(
        number,
        Trial(
            *(item, patient, image, view, finding),
            *(condition_of(name, params), repeat, model),
        ),
        Score(
            *(_STATUSES[status], reason, answer, coverage, _OUTCOMES[outcome]),
            numbers_of(numbers),
        ),
        request,
        reply,
        parsed,
    )


def parsed_answer(store: Store, trial_id: int) -> str:
    """Return the answer, as JSON, behind a trial's current verdict."""
    rows = store.rows(
        "SELECT p.answer FROM trial t JOIN score s ON s.id = t.score_id"
        " JOIN parse p ON p.id = s.parse_id WHERE t.id = ?",
        (trial_id,),
    )
    return str(rows[0][0])


def score_of_row(row: Row) -> Score:
    """Return the verdict that a trial's row joined with its score holds."""
    return Score(
        status=Status(row["status"]),
        reason=row["reason"] or "",
        answer=row["answer"] or "",
        coverage=row["coverage"],
        outcome=Outcome(row["outcome"]) if row["outcome"] else None,
        numbers=numbers_of(row["numbers"]),
    )


def numbers_of(text: str | None) -> tuple[tuple[str, float], ...]:
    """Return the named numbers of a score's row; most have none."""
    if text is None or text == _NO_NUMBERS:
        return ()
    return tuple((str(name), float(value)) for name, value in json.loads(text))


def has_request(store: Store, request_sha256: str) -> bool:
    """Tell whether a request of this key was ever sent."""
    return bool(store.rows("SELECT 1 FROM request WHERE sha256 = ?", (request_sha256,)))


def sent_request(store: Store, request_sha256: str) -> RequestRecord:
    """Return a request as it was sent, images included."""
    row = store.rows("SELECT * FROM request WHERE sha256 = ?", (request_sha256,))[0]
    document = json.loads(zlib.decompress(row["document"]))
    images = {
        part["image_sha256"]: bytes(
            store.rows(
                "SELECT bytes FROM blob WHERE sha256 = ?", (part["image_sha256"],)
            )[0][0]
        )
        for message in document["messages"]
        for part in message["parts"]
        if "image_sha256" in part
    }
    return RequestRecord(request_sha256, document, row["prompt_sha256"], {}, images)


def verdict_stamp(store: Store, run: int) -> tuple[int, int]:
    """Return a stamp that changes when a verdict of a run is added or removed."""
    rows = store.rows(
        "SELECT coalesce(max(score_id), 0), count(score_id) FROM trial"
        " WHERE run_id = ?",
        (run,),
    )
    return int(rows[0][0]), int(rows[0][1])
