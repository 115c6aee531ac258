"""Conversion of the program's own data to that of the API."""

from pathlib import Path
from typing import TYPE_CHECKING

from viewer.api.data import Answer, Box, Dataset, Model, Point, Run
from viewer.domain.answer import Answer as Read
from viewer.domain.answer import (
    BoxesAnswer,
    CellAnswer,
    MaskAnswer,
    PointAnswer,
    Status,
)
from viewer.domain.answer_json import type_of
from viewer.metrics.pointing import cell_box
from viewer.services.asking.ask import Reply, overlay
from viewer.services.configuring.money import DOLLAR
from viewer.services.inspecting.answers import StoredAnswer, answer_of_trial

if TYPE_CHECKING:
    from viewer.domain.geometry import BoxPx
    from viewer.domain.run import RunSummary
    from viewer.services.configuring.model_list import ModelLine
    from viewer.store.cases import DatasetSummary


def run_of(summary: "RunSummary") -> Run:
    """Convert a run summary to the API's ``Run``."""
    return Run(
        id=summary.id,
        study=summary.study,
        dataset=summary.dataset,
        models=summary.models,
        status=summary.status.value,
        created_at=summary.created_at,
        planned=summary.n_planned,
        counts={str(status): n for status, n in summary.counts.items()},
        cost_usd=_dollars(summary.cost_microusd),
        notes=tuple(map(str, summary.notes)),
    )


def dataset_of(summary: "DatasetSummary") -> Dataset:
    """Convert a registered data set to the API's ``Dataset``."""
    return Dataset(
        name=summary.name,
        format=summary.format,
        folder=Path(summary.root),
        images=summary.images,
        patients=summary.patients,
        items=summary.items,
        notices=summary.notices,
        imported_at=summary.imported_at,
    )


def model_of(line: "ModelLine") -> Model:
    """Convert a row of the model list to the API's ``Model``."""
    return Model(
        line.name, line.adapter, line.summary, line.state, line.can_ask, line.host
    )


def answer_of(store: Path, reply: Reply) -> Answer:
    """Convert a new answer to the API's ``Answer``, with its picture."""
    stored = answer_of_trial(store, reply.scored.id)
    score, met = stored.score, stored.measures
    judged = score.status is not Status.EXCLUDED
    return Answer(
        image=stored.ref.path,
        frame=stored.ref.frame,
        finding=stored.finding,
        view=stored.view,
        model=stored.model,
        status=score.status.value,
        reason=score.reason,
        correct=score.status is Status.SCORED_CORRECT if judged else None,
        kind=type_of(stored.answer) if stored.answer else "",
        cell=score.answer,
        boxes=_boxes(stored, stored.answer),
        point=_point(stored.answer),
        reference_cells=stored.reference_cells,
        coverage=score.coverage,
        outcome=score.outcome.value if score.outcome else "",
        iou=met.iou if met else None,
        dice=met.dice if met else None,
        reply=stored.reply_text,
        note=stored.note,
        seconds=stored.latency_ms / 1000,
        cost_usd=_dollars(stored.cost_microusd),
        run=stored.run,
        trial=stored.trial,
        model_returned=stored.model_returned,
        prompt_sha256=stored.prompt_sha256,
        request_sha256=stored.request_sha256,
        mask=stored.answer.mask.array()
        if isinstance(stored.answer, MaskAnswer)
        else None,
        png=overlay(reply),
    )


def _dollars(microusd: int | None) -> float | None:
    return None if microusd is None else microusd / DOLLAR


def _point(answer: Read | None) -> Point | None:
    if not isinstance(answer, PointAnswer):
        return None
    return Point(answer.point.x, answer.point.y)


def _boxes(stored: StoredAnswer, answer: Read | None) -> tuple[Box, ...]:
    """Return the answered cell or boxes, in native pixels."""
    if isinstance(answer, CellAnswer):
        return (_box(cell_box(answer.cell, stored.grid, stored.field)),)
    if not isinstance(answer, BoxesAnswer):
        return ()
    sure = answer.confidences or (None,) * len(answer.boxes)
    return tuple(_box(*one) for one in zip(answer.boxes, sure, strict=True))


def _box(box: "BoxPx", confidence: float | None = None) -> Box:
    return Box(box.x0, box.y0, box.x1, box.y1, confidence)
