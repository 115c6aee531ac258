"""Import of predictions: a file of them becomes a run like any other.

They are stored as a scripted model's replies, in the data folder under a name derived
from their content, so that ledger, scoring, reports, comparison and rescoring work as
for every run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.finding_names import own_word
from viewer.domain.prediction import Coordinates, Prediction
from viewer.domain.run import RunSpec
from viewer.readers.predictions.coco import read_coco
from viewer.readers.predictions.masks import mask_pictures, read_masks
from viewer.readers.predictions.seg import read_segmentations
from viewer.readers.predictions.table import read_table
from viewer.services.configuring.study_file import make_spec
from viewer.services.importing.answering_file import check_model, no_answer
from viewer.services.importing.match_predictions import (
    Matched,
    findings_of,
    match_predictions,
    models_of,
)
from viewer.services.importing.place_answers import ADAPTER, keep_answers, profile_of
from viewer.services.running.plan_run import plan_run
from viewer.services.running.supported_findings import planned_trials
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, runs
from viewer.store.database import Store
from viewer.studies.catalog import PLACING

FOLDER: Final = "predictions"
"""Where in the data folder imported predictions are kept."""


@dataclass(frozen=True)
class PredictionsSource:
    """The file to import, and how to interpret it.

    ``columns`` maps a table's columns to their meaning; ``finding`` is for tables
    without one; ``model`` selects one of the file's models. ``like`` is a run whose
    settings and questions are used; otherwise ``grids`` are asked about the findings in
    the file. ``listing`` names the images and categories of COCO's results, ``shape``
    decides between boxes and masks if there are both.
    """

    file: Path
    name: str
    dataset: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    coordinates: Coordinates | None = None
    finding: str = ""
    model: str = ""
    like: int | None = None
    grids: tuple[int, ...] = (8,)
    listing: Path | None = None
    shape: str = ""


@dataclass(frozen=True)
class PlannedPredictions:
    """The run that a file's predictions were planned as, and how they matched."""

    run: int
    matched: Matched


def plan_predictions(
    store: Store, home: Path, source: PredictionsSource
) -> PlannedPredictions:
    """Plan a file's predictions as a run, which then is asked like any other.

    The same file, name and settings are the same run.

    Raises
    ------
    UnreadableInputError
        For a file that cannot be read.
    WrongUseError
        If the meaning of its columns or numbers is not given, it contains several
        models, or nothing in it can be used.
    """
    spec, matched = match_file(store, source)
    paths = keep_answers(matched.texts, home / FOLDER)
    planned = replace(spec, models=(profile_of(source.name, paths),))
    return PlannedPredictions(plan_run(store, planned), matched)


def match_file(store: Store, source: PredictionsSource) -> tuple[RunSpec, Matched]:
    """Return what a file's predictions would answer, without storing anything."""
    predictions = _of_model(_read(store, source), source)
    spec = _spec(store, source, findings_of(predictions))
    dataset = cases.dataset_named(store, spec.dataset)
    context = RunContext(spec, dataset)
    planned = planned_trials(context.study, dataset, spec)
    matched = match_predictions(predictions, planned, context, source.coordinates)
    if not matched.used:
        hint = "Check which columns name the image and the finding, and the data set."
        raise no_answer(source.file, "prediction", matched.unused, hint)
    return spec, matched


def _read(store: Store, source: PredictionsSource) -> Sequence[Prediction]:
    """Return a file's predictions; its name and content determine the format."""
    if source.file.suffix.lower() == ".csv":
        return read_table(source.file, source.columns, source.finding)
    if source.file.suffix.lower() == ".json":
        return read_coco(source.file, source.listing, source.shape, source.finding)
    if source.file.is_dir() and mask_pictures(source.file):
        return read_masks(source.file)
    dataset = cases.dataset_named(store, _dataset(store, source))
    return read_segmentations(
        source.file, {image.key: image.ref.path for image in dataset.images}
    )


def _dataset(store: Store, source: PredictionsSource) -> str:
    """Return the data set that predictions are about; raises if it is not given."""
    if source.dataset:
        return source.dataset
    if source.like is None:
        raise WrongUseError(
            "It is not stated which images these predictions are for.",
            "Name a data set with --dataset, or a run with --like.",
        )
    return runs.run_spec(store, source.like).dataset


def _of_model(
    predictions: Sequence[Prediction], source: PredictionsSource
) -> Sequence[Prediction]:
    """Return the predictions of the selected model, or of the only one."""
    models = models_of(predictions)
    nameless = sum(not one.model for one in predictions)
    if models and nameless:
        raise WrongUseError(
            f"'{source.file.name}' names a model for some predictions and none for "
            f"{nameless}.",
            "Name a model for every prediction, or map its column to nothing.",
        )
    check_model(source.file, source.model, models)
    if not source.model and len(models) > 1:
        raise WrongUseError(
            f"'{source.file.name}' has several models: {', '.join(models)}.",
            "Name one of them with --model.",
        )
    return [one for one in predictions if source.model in {"", one.model}]


def _spec(store: Store, source: PredictionsSource, findings: Sequence[str]) -> RunSpec:
    """Return the questions that predictions answer, for a model still to be made."""
    to_be = ModelProfile(source.name, ADAPTER, {"answer": ""})
    dataset = _dataset(store, source)
    if source.like is not None:
        like = runs.run_spec(store, source.like)
        return replace(like, models=(to_be,), dataset=dataset)
    asked = {finding for image in _images(store, dataset) for finding in image}
    known = [word for f in findings if (word := own_word(f, asked))]
    overrides: dict[str, object] = {"grids": list(source.grids)}
    return make_spec(
        study=PLACING,
        dataset=dataset,
        preset="gosai2025",
        seed=0,
        repeats=1,
        models=(to_be,),
        overrides={**overrides, "findings": known} if known else overrides,
    )


def _images(store: Store, dataset: str) -> list[set[str]]:
    images = cases.dataset_named(store, dataset).images
    return [image.masks.keys() | image.boxes.keys() for image in images]
