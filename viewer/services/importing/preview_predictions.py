"""Preview a file of predictions before import: columns, counts and pictures."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viewer.domain.answer import Answer, CellAnswer, Unparsed
from viewer.domain.answer_json import answer_of_json
from viewer.domain.image import Raster
from viewer.imaging.answer_overlay import draw_marks
from viewer.readers.predictions.table import FIELDS, first_row
from viewer.services.importing.import_predictions import (
    PlannedPredictions,
    PredictionsSource,
    match_file,
    plan_predictions,
)
from viewer.services.importing.match_predictions import Matched
from viewer.services.trials.run_context import RunContext
from viewer.services.viewing.answer_mask import answer_mask
from viewer.services.viewing.field_raster import field_mask, field_raster
from viewer.store import cases
from viewer.store.database import open_store

FIELD_NAMES: Final = FIELDS
"""What a column may be."""
_PICTURES: Final = 3
_ALIKE: Final[Mapping[str, tuple[str, ...]]] = {
    "image": ("image_id", "image_name", "file", "filename", "file_name", "dicom_id"),
    "patient": ("patient_id", "patientid", "subject", "subject_id"),
    "finding": ("label", "class", "class_name", "category", "pathology", "disease"),
    "score": ("confidence", "conf", "probability", "prob"),
    "x1": ("xmin", "x_min", "x0", "left"),
    "y1": ("ymin", "y_min", "y0", "top"),
    "x2": ("xmax", "x_max", "right"),
    "y2": ("ymax", "y_max", "bottom"),
    "width": ("w",),
    "height": ("h",),
    "mask_rle": ("rle", "mask"),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, its value in the first row, and its likely meaning."""

    name: str
    example: str
    suggested: str


@dataclass(frozen=True, eq=False)
class DrawnPrediction:
    """A prediction drawn on the sent part of its image, with the reference."""

    finding: str
    image: str
    raster: Raster


@dataclass(frozen=True, eq=False)
class PredictionsPreview:
    """A preview of an import: what is used, and a few predictions drawn."""

    matched: Matched
    pictures: tuple[DrawnPrediction, ...]


def columns_of(file: Path) -> tuple[Column, ...]:
    """Return a table's columns, none if it has no rows; raises if it is no table."""
    found = first_row(file).items()
    return tuple(Column(name, value, _suggested(name)) for name, value in found)


def preview_predictions(
    store: Path, source: PredictionsSource, side: int
) -> PredictionsPreview:
    """Return what a file's predictions would answer, with three of them drawn.

    Nothing is stored. Raises what importing would raise.
    """
    with open_store(store) as opened:
        spec, matched = match_file(opened, source)
        context = RunContext(spec, cases.dataset_named(opened, spec.dataset))
    drawn = list(_drawable(context, matched))
    chosen = drawn[:: max(1, -(-len(drawn) // _PICTURES))][:_PICTURES]
    return PredictionsPreview(
        matched, tuple(_picture(context, *c, side) for c in chosen)
    )


def plan_import(
    store: Path, home: Path, source: PredictionsSource
) -> PlannedPredictions:
    """Plan a file's predictions as a run of the store, to be asked by its worker."""
    with open_store(store) as opened:
        return plan_predictions(opened, home, source)


def _suggested(column: str) -> str:
    name = column.lower()
    return next((f for f, alike in _ALIKE.items() if name in {f, *alike}), "") or (
        name if name in FIELDS else ""
    )


def _drawable(
    context: RunContext, matched: Matched
) -> Iterator[tuple[str, str, str, Answer]]:
    """Yield image, finding, condition and answer of each image's first location."""
    conditions = {c.name: c for c in context.study.conditions(context.params)}
    seen: set[str] = set()
    for key, text in matched.texts.items():
        item, condition, _ = key.rsplit("|", 2)
        image, finding = item.rsplit("|", 1)
        if image in seen or condition not in conditions:
            continue
        grid = context.places.grid(conditions[condition])
        cell = None if text.startswith("{") else grid.cell(text)
        answer = answer_of_json(text) if text.startswith("{") else None
        place = CellAnswer(cell) if cell else answer
        if place is not None and not isinstance(place, Unparsed):
            seen.add(image)
            yield image, finding, condition, place


def _picture(
    context: RunContext,
    name: str,
    finding: str,
    condition: str,
    answer: Answer,
    side: int,
) -> DrawnPrediction:
    image = context.images[name]
    named = {c.name: c for c in context.study.conditions(context.params)}
    field = context.places.field(image.geometry)
    reference = image.masks.get(finding)
    raster = draw_marks(
        field_raster(image.ref, field, side),
        context.places.grid(named[condition]),
        None if reference is None else field_mask(reference.array(), field, side),
        answer.cell if isinstance(answer, CellAnswer) else None,
        (),
        None,
        answer_mask(answer, field, side),
    )
    return DrawnPrediction(finding, name, raster)
