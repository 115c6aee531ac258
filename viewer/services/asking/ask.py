"""Asking one question about one image; it is stored like every other trial."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event as Flag
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import Unparsed
from viewer.domain.answer_json import answer_of_json
from viewer.domain.case import Dataset, DatasetImage, ImageRef, View
from viewer.domain.conditions import with_boxes, with_window
from viewer.domain.errors import OverreadError, WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Grid, LetterAxis
from viewer.domain.image import Raster, Window
from viewer.domain.plain import plain
from viewer.domain.result import Measures
from viewer.domain.run import Event, ModelStopped, OrphanPolicy, RunSpec, Trial
from viewer.domain.slide import is_region
from viewer.imaging.answer_overlay import draw_answer
from viewer.imaging.png import encode_png
from viewer.models.batching import at_once
from viewer.models.catalog import adapter_for, reader_for, spec_of, unlearned
from viewer.readers.datasets.folder import read_image
from viewer.readers.pixels import load_pixels
from viewer.services.configuring.study_file import make_spec
from viewer.services.privacy.gate import open_gate
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.plan_run import plan_sha256
from viewer.services.running.run_batch import run_batch
from viewer.services.trials.run_context import RunContext
from viewer.services.trials.stored_run import context_of_run
from viewer.services.viewing.answer_mask import answer_mask
from viewer.store import cases, runs, trials
from viewer.store.database import Store
from viewer.store.trials import ScoredTrial
from viewer.studies.catalog import PLACING, study_named
from viewer.studies.exclusions import NO_REFERENCE
from viewer.studies.places import GridReference, measured
from viewer.writers.files import write_atomically

_PRESET: Final = "gosai2025"
_ENLARGED: Final = 4
ONE_QUESTION: Final = BatchOptions(concurrency=1, orphans=OrphanPolicy.RETRY)
"""How one question is asked: who asks it has decided that it may be paid for again."""

_Scalar = TypeVar("_Scalar", bound=np.generic)


@dataclass(frozen=True)
class Question:
    """A question about one image: where is ``finding``.

    ``letters`` is the grid axis that letters name. ``window`` is the displayed one, in
    modality units; None for the file's. ``boxes``, in native pixels, are for segmenters
    to look in; other models do not get them.
    """

    ref: ImageRef
    finding: str
    profile: ModelProfile
    grid: str = "8"
    view: View = View.UNKNOWN
    window: Window | None = None
    letters: LetterAxis = LetterAxis.ROW
    boxes: tuple[BoxPx, ...] = ()


@dataclass(frozen=True)
class Reply:
    """The answer with everything needed to draw and explain it.

    ``placed`` is an answer other than a cell, as JSON, with its ``measures`` if there
    is a reference.
    """

    run: int
    scored: ScoredTrial
    context: RunContext
    text: str
    note: str
    latency_ms: int
    placed: str = ""
    measures: Measures | None = None

    @property
    def grid(self) -> Grid:
        """The grid that was drawn."""
        return self.context.places.grid(self.scored.trial.condition)

    @property
    def reference(self) -> GridReference | None:
        """The reference as the scorer used it, None if there is none."""
        return self.context.reference(self.scored.trial)


def ask(
    store: Store,
    question: Question,
    hear: Callable[[Event], None] | None = None,
    cancel: Flag | None = None,
    *,
    fresh: bool = False,
) -> Reply:
    """Ask one question now; raises if the model did not answer.

    The image's reference comes from a registered data set or a mask beside the file;
    otherwise the answer is stored as excluded(no_gt). ``hear`` is called with events
    meanwhile; a question stopped by ``cancel`` stays pending. With ``fresh`` it is
    asked again even if it has a reply.
    """
    run = plan_question(store, question, fresh=fresh)
    for event in run_batch(store, run, ONE_QUESTION, cancel or Flag()):
        if isinstance(event, ModelStopped):
            raise OverreadError(event.sentence)
        if hear is not None:
            hear(event)
    scored = trials.scored_trials(store, run)[0]
    context = context_of_run(store, run)
    if scored.reply_id is None:
        return Reply(run, scored, context, "", "", 0)
    raw = trials.reply_with_id(store, scored.reply_id).raw
    read = reader_for(question.profile).read(raw)
    reply = Reply(run, scored, context, read.text, read.note, raw.latency_ms)
    if not scored.placed:
        return reply
    return replace(reply, placed=scored.parsed, measures=_measures(context, scored))


def _measures(context: RunContext, scored: ScoredTrial) -> Measures | None:
    """Return how an answer compares with its reference; None without either."""
    trial, image = scored.trial, context.images[scored.trial.image]
    answer, mask = answer_of_json(scored.parsed), image.masks.get(trial.finding)
    if answer is None or isinstance(answer, Unparsed) or mask is None:
        return None
    return measured(context.places, trial.condition, mask, answer, image.geometry)


def plan_question(store: Store, question: Question, *, fresh: bool = False) -> int:
    """Return a new ad hoc run with one trial; nothing is asked yet.

    Somebody waits for it, so that it is asked at once, whatever its model's setting.
    Raises if the image cannot be read, the model cannot be asked or did not learn the
    finding, or neither file nor user gives the view.
    """
    question = replace(question, profile=at_once(question.profile))
    _check_boxes(question)
    load_pixels(question.ref)  # an image that cannot be read is told, not excluded
    dataset, image = image_asked(store, question)
    gate = open_gate(store, dataset)
    gate.check_model(question.profile, [image])
    adapter_for(question.profile, gate.allowance(question.profile))
    return _plan(store, question, dataset, image, fresh=fresh)


def _check_learned(spec: RunSpec, trial: Trial) -> None:
    why = unlearned(spec.models[0], trial.finding)
    if why is not None:
        raise why


def _check_boxes(question: Question) -> None:
    if spec_of(question.profile).takes_boxes and not question.boxes:
        raise WrongUseError(
            f"The model '{question.profile.name}' outlines the contents of a box, but "
            "no box was given.",
            "Choose a rectangle or a model's box and outline it, or use overread "
            "segment.",
        )


def image_asked(store: Store, question: Question) -> tuple[Dataset, DatasetImage]:
    """Return the image that a question is about, and the data set it belongs to."""
    known = cases.dataset_with_image(store, question.ref)
    if known is not None:
        dataset, key = known
        return dataset, next(i for i in dataset.images if i.key == key)
    frame = question.ref.frame
    dataset = read_image(question.ref.path, question.view, frame)
    if is_region(frame):
        return dataset, dataset.images[0]
    if frame >= len(dataset.images):
        raise WrongUseError(
            f"'{question.ref.path.name}' has {len(dataset.images)} frame(s).",
            "Choose one of them with --frame, counted from 0.",
        )
    return dataset, dataset.images[frame]


def spec_and_trial(
    question: Question, dataset: Dataset, image: DatasetImage
) -> tuple[RunSpec, Trial]:
    """Return a question as a run with one trial, not stored yet.

    Raises if neither file nor user gives the view.
    """
    view = image.view if image.view is not View.UNKNOWN else question.view
    if view is View.UNKNOWN:
        raise WrongUseError(
            f"'{question.ref.path.name}' does not say which view it shows.",
            "Set it with --view frontal, lateral or other.",
        )
    spec = _spec(question, dataset, view)
    return spec, _trial(spec, image, view, question)


def _plan(
    store: Store,
    question: Question,
    dataset: Dataset,
    image: DatasetImage,
    *,
    fresh: bool,
) -> int:
    spec, trial = spec_and_trial(question, dataset, image)
    _check_learned(spec, trial)
    study = study_named(spec.study)
    return runs.create_run(
        store,
        spec,
        cases.add_dataset(store, dataset, adhoc=True),
        [trial],
        study_version=study.version,
        scorer_version=study.scorer_version,
        plan_sha256=plan_sha256(spec, dataset, study),
        adhoc=True,
        fresh=fresh,
    )


def _spec(question: Question, dataset: Dataset, view: View) -> RunSpec:
    return make_spec(
        study=PLACING,
        dataset=dataset.name,
        preset=_PRESET,
        seed=0,
        repeats=1,
        models=[question.profile],
        overrides={
            "grids": [question.grid],
            "letters": question.letters.value,
            "findings": [question.finding],
            "views": [view.value],
        },
    )


def _trial(spec: RunSpec, image: DatasetImage, view: View, question: Question) -> Trial:
    study = study_named(spec.study)
    params = study.read_params(spec.preset, dict(spec.params))
    finding = params.findings[0]
    condition = study.conditions(params)[0]
    if question.window is not None:
        condition = with_window(condition, question.window)
    if question.boxes:
        condition = with_boxes(condition, question.boxes)
    return Trial(
        item=f"{image.key}|{image.word_for(finding)}",
        patient=image.patient,
        image=image.key,
        view=view.value,
        finding=finding,
        condition=condition,
        repeat=0,
        model=spec.models[0].name,
    )


def answer_row(reply: Reply) -> dict[str, object]:
    """Return an answer as the command line prints it."""
    scored = reply.scored
    reference, grid = reply.reference, reply.grid
    cells = grid.cells()
    return {
        "answer": scored.score.answer,
        "status": scored.score.status.value,
        "reason": scored.score.reason,
        "outcome": scored.score.outcome.value if scored.score.outcome else None,
        "coverage": scored.score.coverage,
        "reference_cells": [grid.label(cells[i]) for i in reference.hits]
        if reference
        else [],
        "finding": scored.trial.finding,
        "view": scored.trial.view,
        "model": scored.trial.model,
        "reply": reply.text,
        "note": reply.note,
        "latency_ms": reply.latency_ms,
        "request_sha256": scored.request_sha256,
        "run": reply.run,
        **_place(reply),
    }


def row_in_words(row: Mapping[str, object]) -> Mapping[str, object]:
    """Return an answer's row as displayed: one without a reference says so."""
    if row["reason"] != NO_REFERENCE:
        return row
    columns = {name: value for name, value in row.items() if name != "reason"}
    return {**columns, "status": "no reference: not judged"}


def _place(reply: Reply) -> dict[str, object]:
    """Return an answer other than a cell, in native pixels, and its measures."""
    if not reply.placed:
        return {}
    measures = plain(reply.measures)
    return {"place": json.loads(reply.placed), "measures": measures}


def write_overlay(reply: Reply, path: Path) -> None:
    """Write :func:`overlay` to a file; WrongUseError if that fails."""
    write_atomically(path, overlay(reply))


def overlay(reply: Reply) -> bytes:
    """Return the image that was sent, with answer and reference drawn, as PNG.

    Every pixel sent becomes a square of _ENLARGED × _ENLARGED, so that the image is
    shown exactly as sent, and lines and signs stay thin.
    """
    trial, score, context = reply.scored.trial, reply.scored.score, reply.context
    image = context.images[trial.image]
    mask = image.masks.get(trial.finding)
    shown = None if mask is None else context.places.shown_mask(mask, image.geometry)
    cells = reply.grid.cells()
    drawn = draw_answer(
        Raster(_enlarged(context.plain(trial.image, trial.condition).pixels)),
        reply.grid,
        None if shown is None else _enlarged(shown),
        reply.grid.cell(score.answer) if score.answer else None,
        [cells[i] for i in reply.reference.hits] if reply.reference else [],
        score.outcome,
        _region(reply),
    )
    return encode_png(drawn)


def _region(reply: Reply) -> npt.NDArray[np.bool_] | None:
    """Return the pixels of the overlay that an answer other than a cell covers."""
    if not reply.placed:
        return None
    answer, context = answer_of_json(reply.placed), reply.context
    field = context.places.field(context.images[reply.scored.trial.image].geometry)
    trial = reply.scored.trial
    side = context.plain(trial.image, trial.condition).size.rows * _ENLARGED
    return None if isinstance(answer, Unparsed) else answer_mask(answer, field, side)


def _enlarged(pixels: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    return pixels.repeat(_ENLARGED, axis=0).repeat(_ENLARGED, axis=1)
