"""Count what there is to review before a session is opened."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from viewer.domain.aid import Aid, aided_form
from viewer.domain.case import NAMED_VIEWS, Dataset, DatasetImage, View
from viewer.domain.counting import counted
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.finding_names import concept, own_word
from viewer.domain.form import PlaceKind
from viewer.domain.form_catalog import READER_TASK
from viewer.domain.result import Outcome
from viewer.domain.run import RunStatus, RunSummary, Trial
from viewer.services.configuring.study_file import make_spec
from viewer.services.readings.advice import Shown, with_advice
from viewer.services.readings.opening import CAP, asked_form, reader_task
from viewer.services.readings.reviewing import conditions_of_run
from viewer.store import cases, runs, trials
from viewer.store.database import open_store
from viewer.studies.catalog import PLACING, study_named
from viewer.studies.grid_localization.findings import NINE

_NOBODY: Final = ModelProfile("reader", "scripted", {"answer": ""})
_REVIEW_S, _READING_S = 12, 30
"""The assumed time per case of a reader without any earlier cases."""
_FRONTAL: Final = (View.FRONTAL.value,)
_NONE_OF_THESE: Final = (
    "No image with such a reference can be asked about. Choose other findings or views."
)


@dataclass(frozen=True, slots=True)
class MissSample:
    """A selection of complete misses: at most ``cap`` per model and finding.

    Empty views mean all; "" is the run's first condition.
    """

    cap: int = CAP
    views: tuple[str, ...] = _FRONTAL
    condition: str = ""


@dataclass(frozen=True, slots=True)
class CaseSample:
    """A selection of cases for a reader; empty findings or views mean all."""

    grid: str = "8"
    findings: tuple[str, ...] = ()
    views: tuple[str, ...] = _FRONTAL


@dataclass(frozen=True, slots=True)
class Aided:
    """A model's answers beside places of a kind, and the seed of what is drawn."""

    aid: Aid
    place: PlaceKind
    seed: int = 0


@dataclass(frozen=True, slots=True)
class ReviewOffer:
    """A run's complete misses: how many there are, and how many would be reviewed.

    ``conditions`` and ``views`` are those to choose from, ``seed`` draws the reviews.
    """

    misses: int
    reviews: int
    models: int
    findings: int
    seed: int
    conditions: tuple[str, ...] = ()
    views: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """How many cases, and how long they will take."""
        if not self.misses:
            return (
                f"No complete misses match these choices in this run. {self._elsewhere}"
            )
        of = f" of {self.misses:,}" if self.reviews < self.misses else ""
        kind = "complete miss" if self.misses == 1 else "complete misses"
        models = counted(self.models, "model")
        findings = counted(self.findings, "finding")
        return (
            f"{self.reviews:,}{of} {kind} of {models} in {findings}, "
            f"{about_minutes(self.reviews * _REVIEW_S)} at {_REVIEW_S} s a case. "
            f"{drawn_by(self.seed)}"
        )

    @property
    def _elsewhere(self) -> str:
        if self.views:
            return "Choose other views, or another grid or run."
        return "Choose another run."


@dataclass(frozen=True, slots=True)
class StudyOffer:
    """What a reader would be asked about a data set.

    ``findings`` and ``views`` are those with a reference, ``usual`` the default
    findings; ``problem`` says why nothing can be asked. ``aided`` says how many cases
    show a model's answer, and ``kind`` is what it answers with, "" for no model;
    ``seed`` mixes the cases.
    """

    questions: int
    patients: int
    findings: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    problem: str = ""
    aided: str = ""
    kind: str = ""
    seed: int = 0

    @property
    def usual(self) -> tuple[str, ...]:
        """The paper's findings, or all if there are none of them."""
        nine = tuple(name for name in self.findings if concept(name) in NINE)
        return nine or self.findings

    @property
    def sentence(self) -> str:
        """How many cases, and how long they will take."""
        if not self.findings:
            return "This data set has no image with a reference to ask about."
        if not self.questions:
            return self.problem or _NONE_OF_THESE
        told = (
            f"{counted(self.questions, 'question')} about "
            f"{counted(self.patients, 'patient')}, "
            f"{about_minutes(self.questions * _READING_S)} at {_READING_S} s a case. "
            f"{drawn_by(self.seed)}"
        )
        return f"{told} {self.aided}".strip()


def reviewable_runs(store: Path) -> tuple[RunSummary, ...]:
    """Return the finished runs that a person planned, newest first."""
    with open_store(store) as opened:
        summaries = runs.run_summaries(opened, include_adhoc=False)
    return tuple(r for r in summaries[::-1] if r.status is RunStatus.FINISHED)


def review_offer(
    store: Path, run: int, sample: MissSample | None = None
) -> ReviewOffer:
    """Return how much an error review of a run is; an unknown run raises."""
    chosen = sample or MissSample()
    with open_store(store) as opened:
        conditions = conditions_of_run(opened, run)
        seed = runs.run_spec(opened, run).seed
        misses = [
            one.trial
            for one in trials.scored_trials(opened, run)
            if one.score.outcome is Outcome.MISS
        ]
    known = chosen.condition in conditions
    condition = chosen.condition if known else conditions[0]
    strata = Counter(
        (trial.model, trial.finding)
        for trial in misses
        if (not chosen.views or trial.view in chosen.views)
        and trial.condition.name == condition
    )
    return ReviewOffer(
        misses=sum(strata.values()),
        reviews=sum(min(n, chosen.cap) for n in strata.values()),
        models=len({model for model, _ in strata}),
        findings=len({finding for _, finding in strata}),
        seed=seed,
        conditions=conditions,
        views=_in_order({trial.view for trial in misses}),
    )


def study_offer(
    store: Path,
    dataset: str,
    sample: CaseSample | None = None,
    shown: Aided | None = None,
) -> StudyOffer:
    """Return how much a reader study of a data set is; an unknown one raises.

    If a model's answers cannot be ``shown``, the problem says why.
    """
    chosen = sample or CaseSample()
    with open_store(store) as opened:
        held = cases.dataset_named(opened, dataset)
    there = StudyOffer(0, 0, _findings_of(held), _views_of(held))
    if not there.findings:
        return there
    try:
        planned = _planned(held, chosen, asked_findings(there, chosen.findings))
    except WrongUseError as error:
        return replace(there, problem=f"{error.what} {error.how}")
    asked = [trial for trial in planned if not trial.exclusion]
    if not asked:
        return there
    patients = {trial.patient for trial in asked}
    offer = replace(there, questions=len(asked), patients=len(patients))
    return _aided(store, offer, asked, shown) if shown else offer


def _aided(
    store: Path, offer: StudyOffer, asked: Sequence[Trial], wanted: Aided
) -> StudyOffer:
    form = aided_form(
        asked_form(READER_TASK, wanted.place, absent=False, feedback=False), wanted.aid
    )
    shown = Shown(wanted.aid, asked[0].condition, wanted.seed, form)
    try:
        with open_store(store) as opened:
            advised = with_advice(opened, shown, [reader_task(t) for t in asked])
    except WrongUseError as error:
        return replace(offer, questions=0, problem=f"{error.what} {error.how}")
    return replace(offer, aided=advised.sentence, kind=advised.kind, seed=wanted.seed)


def asked_findings(offer: StudyOffer, chosen: Sequence[str]) -> tuple[str, ...]:
    """Return the findings to open a study with; () for the paper's own.

    Selecting exactly the default findings continues the study that asks them.
    """
    wanted = tuple(chosen) or offer.findings
    nine = {name for name in offer.findings if concept(name) in NINE}
    return () if set(wanted) == nine else wanted


def _planned(
    dataset: Dataset, sample: CaseSample, findings: Sequence[str]
) -> tuple[Trial, ...]:
    """Return what a run with these settings would ask."""
    overrides: dict[str, object] = {"grids": [sample.grid]}
    overrides["views"] = list(sample.views or _views_of(dataset))
    if findings:
        overrides["findings"] = list(findings)
    spec = make_spec(
        study=PLACING,
        dataset=dataset.name,
        preset="gosai2025",
        seed=0,
        repeats=1,
        models=(),
        overrides=overrides,
    )
    return study_named(PLACING).plan(dataset, replace(spec, models=(_NOBODY,)))


def _referenced(dataset: Dataset) -> Iterator[DatasetImage]:
    return (image for image in dataset.images if image.masks or image.boxes)


def _findings_of(dataset: Dataset) -> tuple[str, ...]:
    """Return the findings with a reference, the paper's first."""
    names = {
        name for image in _referenced(dataset) for name in (*image.masks, *image.boxes)
    }
    nine = [word for name in NINE if (word := own_word(name, names))]
    return (*nine, *sorted(names - set(nine)))


def _views_of(dataset: Dataset) -> tuple[str, ...]:
    return _in_order({image.view.value for image in _referenced(dataset)})


def _in_order(views: Collection[str]) -> tuple[str, ...]:
    return tuple(view for view in NAMED_VIEWS if view in views)


def drawn_by(seed: int) -> str:
    """Return which seed draws cases and their order, as a sentence."""
    return f"Drawn and mixed by seed {seed}."


def about_minutes(seconds: int) -> str:
    """Return an estimated time in words: ``about 12 minutes``, ``about 3 hours``."""
    minutes = max(1, round(seconds / 60))
    if minutes < 90:
        return f"about {counted(minutes, 'minute')}"
    return f"about {counted(round(minutes / 60), 'hour')}"
