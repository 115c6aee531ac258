"""What a run tells of controls: each question with its image, and without.

The tables of a study are of its own conditions alone. Here every control is compared
with these, trial by trial: the same item, condition, repeat and model.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from viewer.domain.answer import ReportAnswer
from viewer.domain.conditions import control_of, name_without_control, variant_of
from viewer.domain.controls import CONTROL_WORDS, CONTROLS, HIDING
from viewer.domain.figure import RateFigure, RatePanel
from viewer.domain.result import TrialResult
from viewer.domain.study_words import MICRO, capital
from viewer.results.frame import Frame
from viewer.results.records import records
from viewer.results.spec import Key, Shown, Spec
from viewer.studies.controls import Controlled
from viewer.studies.image_dependence import (
    DEFINITIONS,
    SCORED,
    FigureWords,
    answered,
    card,
    card_frames,
    card_panel,
    conditions_in,
    mean_scores,
    needing,
    panels_figure,
    score_frame,
)

_IMAGE: Final = "image"
"""What stands for a control where a question is asked as it is."""
_BY: Final = ("task", "asked")
_ANSWERED: Final = FigureWords(
    title="Answers with the images and under controls", rate="Answered", chance=""
)
OF_ANSWERS: Final[Mapping[str, str]] = {
    "answered": "tasks answered and not declined over all settled ones",
    "with_image": "share answered with the images, of the trials that are paired",
    "under_control": "share answered under the control, of the same tasks and repeats",
    "difference": DEFINITIONS["difference"]
    .replace("accuracy", "share answered")
    .replace("as wrong", "as not answered"),
    "p": DEFINITIONS["p"],
}


def are_controlled(results: Sequence[TrialResult]) -> bool:
    """Tell whether any trial was asked under a control beside its study's own."""
    return any(control_of(one.condition) for one in results)


def control_definitions(study: Controlled) -> Mapping[str, str]:
    """Return what the columns of a study's card mean."""
    return DEFINITIONS if study.judged else OF_ANSWERS


def control_specs(
    study: Controlled, results: Sequence[TrialResult] = ()
) -> tuple[Spec, ...]:
    """Return the tables of a study's controls; several tasks are kept apart."""
    tasks = study.words.task("") != MICRO
    keys = (*((Key("task"),) if tasks else ()), Key("asked", "condition"))
    own = dict.fromkeys(name_without_control(one.condition) for one in results)
    kinds = {study.words.task(one.finding) for one in results}
    called = study.words.called
    task, condition, control = (
        Shown(column, header, words={one: word_of(one) for one in values})
        for column, header, values, word_of in (
            ("task", capital(study.words.finding), kinds, partial(called, "finding")),
            ("condition", "Condition", own, partial(called, "condition")),
            ("control", "Control", CONTROLS, _spoken),
        )
    )
    shown = (*((task,) if tasks else ()), condition, control)
    if not study.judged:
        return (answered(keys, shown),)
    names = tuple(key.column for key in keys)
    found: tuple[Spec, ...] = (card(keys, shown), needing(names))
    if study.scores is None:
        return found
    return (*found, mean_scores(keys, shown, study.scores[1:]))


def control_frames(
    study: Controlled, results: Sequence[TrialResult]
) -> dict[str, Frame]:
    """Return the frames of a study's controls."""
    trials = control_trials(study, results)
    found = card_frames(trials, _IMAGE, CONTROLS, HIDING, _BY)
    if study.scores is not None:
        found[SCORED] = score_frame(trials, _IMAGE, CONTROLS, _BY)
    return found


def control_trials(study: Controlled, results: Sequence[TrialResult]) -> Frame:
    """Return trials with the run's own prompts, their conditions taken apart.

    ``condition`` is the control, ``asked`` the condition of the study and ``task`` the
    kind of question. Where no program grades answers ``correct`` are all that answer.
    """
    unvaried = [one for one in results if not variant_of(one.condition)]
    trials = records(unvaried)
    names = [one.condition for one in unvaried]
    told: dict[str, Sequence[object]] = {
        "asked": [name_without_control(name) for name in names],
        "task": [study.words.task(one.finding) for one in unvaried],
        "condition": [control_of(name) or _IMAGE for name in names],
        "chance": list(_chances(study, unvaried, trials)),
    }
    if study.scores is not None:
        told["score"] = [one.score.number(study.scores[0]) for one in unvaried]
    if not study.judged:
        delivered = [isinstance(one.said, ReportAnswer) for one in unvaried]
        told["correct"] = delivered
        pairs = zip(trials["counted"], delivered, strict=True)
        told["counted"] = [counted or answered for counted, answered in pairs]
    return trials.having(**told)


def control_figure(study: Controlled, results: Sequence[TrialResult]) -> RateFigure:
    """Return the card as bars, a panel for each kind of question under a control."""
    trials = control_trials(study, results)
    words = FigureWords() if study.judged else _ANSWERED
    return panels_figure(list(_panels(study, trials)), words)


def _panels(study: Controlled, trials: Frame) -> Iterator[RatePanel]:
    """Yield the panels; their titles say what tells them apart."""
    asked = conditions_in(trials, (_IMAGE, *CONTROLS))
    kinds = dict.fromkeys(trials.where({"condition": CONTROLS}).each(*_BY))
    several = len({condition for _, condition in kinds}) > 1
    for task, condition in kinds:
        own = trials.where({"task": (task,), "asked": (condition,)})
        parts = (
            "" if task == MICRO else study.words.called("finding", task),
            study.words.called("condition", condition) if several else "",
        )
        title = capital(", ".join(filter(None, parts)))
        yield card_panel(own, asked, _spoken, title)


def _spoken(control: str) -> str:
    return CONTROL_WORDS.get(control, "with the image")


def _chances(
    study: Controlled, results: Sequence[TrialResult], trials: Frame
) -> Iterator[float | None]:
    for one, chance in zip(results, trials["chance"], strict=True):
        own = name_without_control(one.condition)
        gold = json.loads(one.gold) if one.gold else {}
        found = study.chance(own, gold)
        yield chance if found is None else found
