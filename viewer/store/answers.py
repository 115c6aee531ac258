"""Stored answers with their requests, replies, parses and scores."""

import json
from dataclasses import dataclass
from typing import Final

from viewer.domain.case import ImageRef
from viewer.domain.errors import WrongUseError
from viewer.domain.escapes import path_of, path_text
from viewer.domain.exchange import RawReply
from viewer.domain.finding_names import SYNONYMS
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.plain import made
from viewer.domain.reference import Mask
from viewer.domain.result import Score
from viewer.domain.run import RunSpec, Trial
from viewer.domain.slide import FIRST_REGION
from viewer.store.database import Row, Store
from viewer.store.geometry import geometry_of
from viewer.store.reference_boxes import NO_BOXES, Boxes, boxes_of_image
from viewer.store.runs import trial_of_row
from viewer.store.trials import raw_of_row, score_of_row


@dataclass(frozen=True)
class AnswerRecord:
    """A trial with its run, image, verdict and reply.

    ``mask`` is the image's reference of the trial's finding, ``raw`` the reply the
    verdict was read from; both may be None. ``parsed`` is the answer as JSON, "" if
    none was read. ``asked_at`` is when the request was sent, for a reused reply the
    original time. ``boxes`` are those of a reference drawn as boxes. ``reply_id`` is
    the stored reply, ``origin`` the run and model that requested it, None if this trial
    did.
    """

    id: int
    run: int
    spec: RunSpec
    trial: Trial
    ref: ImageRef
    geometry: ImageGeometry
    mask: Mask | None
    score: Score
    request_sha256: str
    prompt_sha256: str
    raw: RawReply | None
    cost_microusd: int | None
    model_returned: str
    asked_at: str
    parsed: str = ""
    boxes: Boxes = NO_BOXES
    reply_id: int | None = None
    origin: tuple[int, str] | None = None


_OTHERS: Final = " ".join(f"WHEN '{one}' THEN '{two}'" for one, two in SYNONYMS.items())
_SYNONYM: Final = f"CASE t.finding {_OTHERS} END"
"""The other name of a trial's finding in SQL, NULL where it has none."""

_SELECT: Final = (
    "SELECT t.*, s.reason, s.answer, s.coverage, s.outcome, s.numbers, run.spec,"  # noqa: S608
    " run.created_at, i.id AS image_id, i.path, i.frame, i.rows, i.columns,"
    " i.geometry,"
    " m.rows AS mask_rows, m.columns AS mask_columns, m.counts, r.kind, r.body,"
    " r.http_status, r.headers, r.latency_ms, r.cost_microusd, r.model_returned,"
    " q.prompt_sha256, a.started_at, p.answer AS parsed, p.reply_id,"
    " o.run_id AS origin_run, o.model AS origin_model"
    " FROM image i JOIN run ON run.dataset_id = i.dataset_id"
    " JOIN trial t ON t.run_id = run.id AND t.image = i.key"
    # The finding's own name first: a data set may have masks under both names.
    " LEFT JOIN mask m ON m.image_id = i.id AND m.kind = 'finding'"
    "   AND m.name = coalesce((SELECT name FROM mask"
    "     WHERE image_id = i.id AND kind = 'finding' AND name = t.finding),"
    f"    {_SYNONYM})"
    " LEFT JOIN score s ON s.id = t.score_id"
    " LEFT JOIN parse p ON p.id = s.parse_id"
    " LEFT JOIN reply r ON r.id = p.reply_id"
    " LEFT JOIN attempt a ON a.id = r.attempt_id"
    " LEFT JOIN trial o ON o.id = a.trial_id AND o.id <> t.id"
    " LEFT JOIN request q ON q.sha256 = t.request_sha256"
)


def answer_of_trial(store: Store, trial_id: int) -> AnswerRecord:
    """Return one trial with its answer; an unknown one raises WrongUseError."""
    rows = store.rows(f"{_SELECT} WHERE t.id = ?", (trial_id,))
    if not rows:
        raise WrongUseError(
            f"There is no trial {trial_id} in this store.", "Choose one of a run."
        )
    return _record(store, rows[0])


def answers_about(store: Store, ref: ImageRef) -> tuple[AnswerRecord, ...]:
    """Return every asked and settled trial about an image, newest first.

    Those about regions of a whole slide are about its overview too, frame 0.
    """
    rows = store.rows(
        f"{_SELECT} WHERE i.path = ?"
        " AND (i.frame = ?2 OR ?2 = 0 AND i.frame >= ?3)"
        " AND (p.reply_id IS NOT NULL OR t.status = 'provider_error')"
        " ORDER BY t.run_id DESC, t.id DESC",
        (path_text(ref.path), ref.frame, FIRST_REGION),
    )
    return tuple(_record(store, row) for row in rows)


def _record(store: Store, row: Row) -> AnswerRecord:
    return AnswerRecord(
        id=row["id"],
        run=row["run_id"],
        spec=made(RunSpec, json.loads(row["spec"]), where="the stored run"),
        trial=trial_of_row(row),
        ref=ImageRef(path_of(row["path"]), row["frame"]),
        geometry=geometry_of(row),
        mask=_mask(row),
        score=score_of_row(row),
        request_sha256=row["request_sha256"] or "",
        prompt_sha256=row["prompt_sha256"] or "",
        raw=None if row["body"] is None else raw_of_row(row),
        cost_microusd=row["cost_microusd"],
        model_returned=row["model_returned"] or "",
        asked_at=row["started_at"] or row["created_at"],
        parsed=row["parsed"] or "",
        boxes=NO_BOXES if row["counts"] else boxes_of_image(store, row["image_id"]),
        reply_id=row["reply_id"],
        origin=(row["origin_run"], row["origin_model"]) if row["origin_run"] else None,
    )


def _mask(row: Row) -> Mask | None:
    if row["counts"] is None:
        return None
    return Mask(SizePx(row["mask_rows"], row["mask_columns"]), row["counts"])
