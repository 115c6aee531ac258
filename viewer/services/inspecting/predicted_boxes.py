"""The boxes that a trial's replies name on the images sent."""

from collections.abc import Mapping, Sequence

from viewer.domain.answer_json import any_answer_of_json
from viewer.domain.errors import OverreadError, ProviderError
from viewer.domain.exchange import ModelProfile, ModelReply, RawReply
from viewer.domain.run import RunSpec, Trial
from viewer.models.catalog import reader_for
from viewer.models.reading import read_reply
from viewer.store import items, trials
from viewer.store.database import Store
from viewer.store.steps import AskedTrial
from viewer.store.trials import TrialReply
from viewer.studies.catalog import study_named
from viewer.studies.steps import PredictedBoxes, StepReply, Turn
from viewer.studies.study import PointsOut


def predicted_boxes(
    store: Store,
    trial: Trial,
    asked: AskedTrial,
    spec: RunSpec,
    so_far: tuple[StepReply, ...],
) -> tuple[PredictedBoxes, ...]:
    """Return the boxes that a run's study draws for a trial, if any.

    ``so_far`` are the replies that can be read.
    """
    study = study_named(spec.study)
    if not isinstance(study, PointsOut):
        return ()
    turn = Turn(trial, items.item_of_run(store, asked.run, trial.item), so_far)
    answer = any_answer_of_json(trials.parsed_answer(store, asked.id))
    params = study.read_params(spec.preset, dict(spec.params))
    return study.predicted_boxes(turn, answer, params)


def roles_of(spec: RunSpec) -> Mapping[str, str]:
    """Return the model in each role of a run, empty if its study has no roles."""
    study = study_named(spec.study)
    return study.roles(study.read_params(spec.preset, dict(spec.params)))


def replies_read(
    spec: RunSpec, trial: Trial, trial_replies: Sequence[TrialReply]
) -> tuple[ModelReply | None, ...]:
    """Return a trial's parsed replies, None for an unreadable body.

    If a model is no longer available, only the text of its reply is returned.
    """
    models = {profile.name: profile for profile in (*spec.models, *spec.helpers)}
    roles = roles_of(spec)
    return tuple(
        _read(models[roles.get(one.step.role, trial.model)], one.raw)
        for one in trial_replies
    )


def _read(model: ModelProfile, raw: RawReply) -> ModelReply | None:
    try:
        return reader_for(model).read(raw)
    except ProviderError:
        return None
    except OverreadError:
        return _in_words(raw)


def _in_words(raw: RawReply) -> ModelReply | None:
    try:
        return read_reply(raw)
    except ProviderError:
        return None
