"""One question about one image, kept in the store like every other trial."""

from dataclasses import dataclass
from pathlib import Path
from threading import Event as Flag
from typing import Final

from viewer.domain.case import Dataset, DatasetImage, ImageRef, View
from viewer.domain.errors import OverreadError, WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import ModelStopped, RunSpec, TrialDone
from viewer.imaging.answer_overlay import draw_answer
from viewer.imaging.png import encode_png
from viewer.readers.datasets.folder import read_image
from viewer.services.plan_run import plan_sha256
from viewer.services.run_batch import BatchOptions, run_batch
from viewer.services.run_trial import Bench
from viewer.services.study_file import make_spec
from viewer.store import cases, runs, trials
from viewer.store.database import Store
from viewer.store.trials import ScoredTrial
from viewer.studies.catalog import study_named
from viewer.writers.files import write_atomically

_STUDY: Final = "grid_localization"
_PRESET: Final = "gosai2025"


@dataclass(frozen=True)
class Question:
    """What a person asks: where is ``finding`` on this image."""

    ref: ImageRef
    finding: str
    profile: ModelProfile
    grid: str = "8"
    view: View = View.UNKNOWN


@dataclass(frozen=True)
class Reply:
    """The answer with everything needed to draw and explain it."""

    run: int
    scored: ScoredTrial
    bench: Bench
    note: str
    latency_ms: int


def ask(store: Store, question: Question) -> Reply:
    """Ask one question now; raises where the model did not answer.

    The image's reference is used where a registered data set or a mask beside the
    file holds one; otherwise the answer is kept as excluded(no_gt).
    """
    dataset, image = _image_asked(store, question)
    run = _plan(store, question, dataset, image)
    done: TrialDone | None = None
    for event in run_batch(store, run, BatchOptions(concurrency=1), Flag()):
        if isinstance(event, ModelStopped):
            raise OverreadError(event.sentence)
        if isinstance(event, TrialDone):
            done = event
    scored = trials.scored_trials(store, run)[0]
    bench = Bench(runs.run_spec(store, run), dataset)
    return Reply(
        run, scored, bench, _note(store, scored), done.latency_ms if done else 0
    )


def _image_asked(store: Store, question: Question) -> tuple[Dataset, DatasetImage]:
    known = cases.dataset_with_image(store, question.ref)
    if known is not None:
        dataset, key = known
        return dataset, next(i for i in dataset.images if i.key == key)
    dataset = read_image(question.ref.path, question.view)
    frame = question.ref.frame
    if frame >= len(dataset.images):
        raise WrongUseError(
            f"'{question.ref.path.name}' has {len(dataset.images)} frame(s).",
            "Choose one of them with --frame, counted from 0.",
        )
    return dataset, dataset.images[frame]


def _plan(
    store: Store, question: Question, dataset: Dataset, image: DatasetImage
) -> int:
    view = image.view if image.view is not View.UNKNOWN else question.view
    if view is View.UNKNOWN:
        raise WrongUseError(
            f"'{question.ref.path.name}' does not say which view it shows.",
            "Say it with --view frontal or --view lateral.",
        )
    spec = _spec(question, dataset, view)
    study = study_named(spec.study)
    trial = study.single_trial(image, view.value, spec)
    return runs.create_run(
        store,
        spec,
        cases.add_dataset(store, dataset, adhoc=True),
        [trial],
        study_version=study.version,
        scorer_version=study.scorer_version,
        plan_sha256=plan_sha256(spec, dataset, study),
        adhoc=True,
    )


def _spec(question: Question, dataset: Dataset, view: View) -> RunSpec:
    return make_spec(
        study=_STUDY,
        dataset=dataset.name,
        preset=_PRESET,
        seed=0,
        repeats=1,
        models=[question.profile],
        overrides={
            "grids": [question.grid],
            "findings": [question.finding],
            "views": [view.value],
        },
    )


def _note(store: Store, scored: ScoredTrial) -> str:
    if scored.reply_id is None:
        return ""
    return trials.reply_with_id(store, scored.reply_id).raw.body.decode(
        "utf-8", "replace"
    )


def write_overlay(reply: Reply, path: Path) -> None:
    """Write what was sent with answer and reference drawn on it, as PNG."""
    trial, score = reply.scored.trial, reply.scored.score
    reference = reply.bench.reference(trial)
    picture = reply.bench.study.overlay(
        reply.bench.stimulus(trial),
        reply.bench.images[trial.image].masks.get(trial.finding),
        trial.condition,
        reply.bench.params,
    )
    grid, mask = picture.grid, picture.mask
    cells = grid.cells()
    drawn = draw_answer(
        picture.raster,
        grid,
        mask,
        grid.cell(score.answer) if score.answer else None,
        [cells[i] for i in reference.hits] if reference else [],
        score.outcome,
    )
    write_atomically(path, encode_png(drawn))
