"""Export of a run's answers as a table that can be imported again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from viewer.domain.answer import (
    BoxesAnswer,
    CellAnswer,
    MaskAnswer,
    PlacedAnswer,
    PointAnswer,
    Status,
    Unparsed,
)
from viewer.domain.answer_json import answer_as_json, answer_of_json
from viewer.domain.counting import counted
from viewer.domain.prediction import Coordinates
from viewer.readers.predictions.table import FIELDS
from viewer.services.exporting.worded_answers import worded_header, worded_rows
from viewer.services.reporting.records import records
from viewer.services.trials.run_context import RunContext
from viewer.services.trials.stored_run import context_of_run
from viewer.store.database import Store, open_store
from viewer.store.runs import condition_of
from viewer.writers.files import write_atomically
from viewer.writers.tables import csv_bytes

HEADER: Final = tuple(name for name in FIELDS if name not in {"width", "height"})
"""The columns, which can be imported again; boxes are given by their corners."""

_KNOWN: Final = ("image", "patient", "finding", "condition", "repeat", "model")
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ExportedAnswers:
    """How many trials a table contains, and how many are still pending."""

    path: Path
    trials: int
    pending: int

    @property
    def left_out(self) -> str:
        """A sentence about pending questions, "" if there are none."""
        asked = f"{counted(self.pending, 'question')} {_is(self.pending)}"
        return f"{asked} pending and left out" if self.pending else ""


def _is(n: int) -> str:
    return "is" if n == 1 else "are"


def export_answers(
    store: Store, run: int, out: Path, model: str = ""
) -> ExportedAnswers:
    """Write a run's answers as CSV, one row for each location, in native pixels.

    Answers without a location keep their status and reason; excluded and pending
    questions have no row. A study about items has one row for each trial, with its
    answer in words. ``model`` selects one model of the run.

    Raises
    ------
    WrongUseError
        For an unknown run or model.
    """
    context = context_of_run(store, run, model)
    wanted = records(store, run)
    wanted = wanted.where({"model": (model,)}) if model else wanted
    ended = enumerate(wanted.each("reply_id", "status"))
    asked = wanted.take(
        i
        for i, (reply, status) in ended
        if reply is not None or status == Status.PROVIDER_ERROR
    )
    if context.study.words.places:
        rows = (row for one in asked.records() for row in _rows(context, one))
        table = csv_bytes(HEADER, rows)
    else:
        strata = context.study.words.strata
        table = csv_bytes(worded_header(strata), worded_rows(asked, strata))
    write_atomically(out, table)
    pending = list(wanted["status"]).count(Status.PENDING)
    return ExportedAnswers(out, len(asked), pending)


def export_stored_answers(store: Path, run: int, out: Path) -> ExportedAnswers:
    """Write a stored run's answers to a file, for the window."""
    with open_store(store) as opened:
        return export_answers(opened, run, out)


def _rows(context: RunContext, one: Record) -> Iterator[tuple[object, ...]]:
    for place in _places(context, one):
        cells = {**{name: one[name] for name in _KNOWN}, **place}
        yield tuple(cells.get(name) for name in HEADER)


def _places(context: RunContext, one: Record) -> list[Record]:
    answer = answer_of_json(one["parsed"]) if one["parsed"] else None
    if answer is None:
        return [{"status": Status.PROVIDER_ERROR.value, "reason": one["reason"]}]
    if isinstance(answer, Unparsed):
        judged = one["status"] != answer.status.value
        why = answer.status.value if judged else answer.reason
        return [{"status": one["status"], "reason": why}]
    if isinstance(answer, CellAnswer):
        grid = context.places.grid(
            condition_of(one["condition"], one["condition_params"])
        )
        return [{"status": one["status"], "cell": grid.label(answer.cell)}]
    shared = {"status": one["status"], "coordinates": Coordinates.NATIVE.value}
    return [{**shared, **place} for place in _native(answer)]


def _native(answer: PlacedAnswer) -> list[Record]:
    if isinstance(answer, BoxesAnswer):
        sure = answer.confidences or (None,) * len(answer.boxes)
        return [
            {"x1": b.x0, "y1": b.y0, "x2": b.x1, "y2": b.y1, "score": score}
            for b, score in zip(answer.boxes, sure, strict=True)
        ]
    if isinstance(answer, PointAnswer):
        return [{"x": answer.point.x, "y": answer.point.y}]
    if isinstance(answer, MaskAnswer):
        size = answer.mask.size
        rle = {"mask_rle": answer.mask.counts}
        return [{"mask_rows": size.rows, "mask_columns": size.columns, **rle}]
    return [{"map": answer_as_json(answer)}]
