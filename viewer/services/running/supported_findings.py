"""Questions that models cannot answer, known before any request is sent."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Final

from viewer.domain.case import Dataset
from viewer.domain.conditions import (
    control_of,
    is_studys_own,
    name_without_variant,
    with_variant,
)
from viewer.domain.controls import HIDING
from viewer.domain.errors import WrongUseError
from viewer.domain.run import RunNote, RunSpec, Trial
from viewer.models.catalog import spec_of, unlearned
from viewer.models.interpretability import is_interpretable
from viewer.store import cases, consents, runs
from viewer.store.database import Store
from viewer.studies.catalog import study_named
from viewer.studies.controls import Controlled, with_controls
from viewer.studies.exclusions import NEEDS_IMAGE, NO_ATTENTION
from viewer.studies.prompts import varied
from viewer.studies.protocol import NOT_LEARNED
from viewer.studies.study import SteersAttention, Study


def planned_trials(study: Study, dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
    """Return a study's trials, with those that a model cannot answer excluded.

    These are about findings it did not learn, need its attention, which it does not
    give, or hide the image that it works on alone. A model that learned none of the
    findings raises ``WrongUseError``, as does one that answers with locations in a
    study of answers in words.
    """
    _check_writes(study, spec)
    trials = _with_variants(_with_controls(study, dataset, spec), study, spec)
    lost = _unlearned(spec, dict.fromkeys(trial.finding for trial in trials))
    closed = _closed(study, spec)
    sightless = {m.name for m in spec.models if spec_of(m).needs_image}
    asked = _excluded(trials, NOT_LEARNED, lambda t: (t.model, t.finding) in lost)
    asked = _excluded(
        asked,
        NEEDS_IMAGE,
        lambda t: t.model in sightless and control_of(t.condition.name) in HIDING,
    )
    return tuple(
        _excluded(
            asked,
            NO_ATTENTION,
            lambda t: (t.model, name_without_variant(t.condition.name)) in closed,
        )
    )


def _with_controls(study: Study, dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
    """Return a study's trials, each with the same under the run's controls after it."""
    trials = study.plan(dataset, spec)
    if not isinstance(study, Controlled):
        return trials
    controls = study.read_params(spec.preset, dict(spec.params)).controls
    return tuple(with_controls(trials, study, dataset, controls, spec.seed))


def _with_variants(
    trials: Sequence[Trial], study: Study, spec: RunSpec
) -> tuple[Trial, ...]:
    """Return each trial, followed by the same one for every prompt variant."""
    variants = varied(study.read_params(spec.preset, dict(spec.params)))
    return tuple(
        replace(one, condition=with_variant(one.condition, name)) if name else one
        for one in trials
        for name in (variants if is_studys_own(one.condition.name) else ("",))
    )


def _unlearned(spec: RunSpec, findings: Iterable[str]) -> frozenset[tuple[str, str]]:
    """Return each model's findings that it did not learn; raises if it learned none."""
    excluded: set[tuple[str, str]] = set()
    asked = tuple(findings)
    for model in spec.models:
        whys = {f: why for f in asked if (why := unlearned(model, f)) is not None}
        if whys and len(whys) == len(asked):
            raise next(iter(whys.values()))
        excluded.update((model.name, finding) for finding in whys)
    return frozenset(excluded)


def _closed(study: Study, spec: RunSpec) -> frozenset[tuple[str, str]]:
    """Return the models without access to attention, with what would steer it."""
    if not isinstance(study, SteersAttention):
        return frozenset()
    params = study.read_params(spec.preset, dict(spec.params))
    steering = [c.name for c in study.conditions(params) if study.steers_attention(c)]
    closed = [m.name for m in spec.models if not is_interpretable(spec_of(m), m)]
    return frozenset(product(closed, steering))


def _check_writes(study: Study, spec: RunSpec) -> None:
    if study.words.places:
        return
    for model in spec.models:  # a helper may outline what a study then points out
        if spec_of(model).places:
            raise WrongUseError(
                f"The model '{model.name}' points at a location in an image, but "
                f"{study.title} asks for text.",
                "Choose a model that answers in text.",
            )


def _excluded(
    trials: Iterable[Trial], reason: str, is_lost: Callable[[Trial], bool]
) -> Iterator[Trial]:
    for trial in trials:
        lost = is_lost(trial) and not trial.exclusion
        yield replace(trial, exclusion=reason) if lost else trial


def exclusion_notes(trials: Sequence[Trial]) -> Iterator[RunNote]:
    """Yield what each model cannot be asked, worded to follow its name."""
    for reason, words in _WORDS.items():
        lost = [trial for trial in trials if trial.exclusion == reason]
        for model in dict.fromkeys(trial.model for trial in lost):
            of_model = [trial for trial in lost if trial.model == model]
            yield RunNote(model, reason, words(of_model))


def _not_learned(trials: Sequence[Trial]) -> str:
    findings = ", ".join(dict.fromkeys(trial.finding for trial in trials))
    return f"was not trained on {findings}, so {len(trials)} trial(s) are excluded"


def _not_interpretable(trials: Sequence[Trial]) -> str:
    asked = ", ".join(dict.fromkeys(trial.condition.name for trial in trials))
    return (
        f"gives no access to its attention, so {len(trials)} trial(s) of {asked} are "
        "excluded; a contour or an enlarged region approximates that"
    )


def _needs_image(trials: Sequence[Trial]) -> str:
    return (
        f"works on an image alone, so {len(trials)} trial(s) under controls without "
        "one are excluded"
    )


_WORDS: Final[Mapping[str, Callable[[Sequence[Trial]], str]]] = {
    NOT_LEARNED: _not_learned,
    NO_ATTENTION: _not_interpretable,
    NEEDS_IMAGE: _needs_image,
}


def note_excluded(store: Store, run: int, trials: Sequence[Trial]) -> None:
    """Add notes to a newly planned run on what its models cannot be asked."""
    notes = [(note.model, note.kind, note.text) for note in exclusion_notes(trials)]
    if notes:
        consents.add_notes(store, run, notes)


def missing_findings(spec: RunSpec, dataset: Dataset) -> str:
    """Return the findings that a run will not ask about, and why; "" for none."""
    study = study_named(spec.study)
    return study.missing_findings(
        dataset, study.read_params(spec.preset, dict(spec.params))
    )


def missing_findings_of_run(store: Store, run: int) -> str:
    """Return :func:`missing_findings` for a planned run."""
    return missing_findings(runs.run_spec(store, run), cases.dataset_of_run(store, run))
