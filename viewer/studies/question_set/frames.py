"""The frames that the study's tables are made of.

``groups`` has a row for each trial and each column that the data set is tabulated by;
those of the image-dependence card are shared with other studies. ``task`` is the kind
of answer. ``score`` says from 0 to 1 how good an answer is, of kinds whose answers are
more than right or wrong, or judged.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.item import Item
from viewer.domain.question_kinds import (
    EXTRA,
    FOUND,
    IOU,
    MISSED,
    AnswerKind,
    TextMatch,
)
from viewer.domain.result import TrialResult
from viewer.results.frame import Frame
from viewer.results.records import records
from viewer.results.spec import TRIALS
from viewer.studies.image_dependence import SCORED, card_frames, score_frame
from viewer.studies.question_set.arms import BLIND, CONTROLS, PLAIN
from viewer.studies.question_set.questions import groups_of
from viewer.studies.question_set.score import UNJUDGED

GROUPS: Final = "groups"
_MEASURED: Final[Mapping[str, str]] = {AnswerKind.BOX: IOU, AnswerKind.BOXES: FOUND}
"""What a run measures of the kinds of answers that have a score for it."""


def frames(
    results: Sequence[TrialResult], items: Mapping[str, Item]
) -> dict[str, Frame]:
    """Return the frames of a run about items of a data set."""
    trials = scored_trials(results)
    return {
        TRIALS: trials,
        GROUPS: group_frame(trials, items),
        **card_frames(trials, PLAIN, CONTROLS, BLIND),
        SCORED: score_frame(trials, PLAIN, CONTROLS, ("task",)),
    }


def scored_trials(results: Sequence[TrialResult]) -> Frame:
    """Return every trial with its kind of answer and its score, None without one."""
    measured = {
        one.view
        for one in results
        if one.view in _MEASURED and one.score.number(_MEASURED[one.view]) is not None
    }
    return records(results).having(
        task=[one.view for one in results],
        score=[_score(one, measured) for one in results],
    )


def _score(one: TrialResult, measured: Collection[str]) -> float | None:
    """Return how good an answer is, 0 for what cannot be read."""
    right = float(one.score.status is Status.SCORED_CORRECT)
    if one.view == AnswerKind.TEXT:
        judged = json.loads(one.gold or "{}").get("match") == TextMatch.JUDGED
        return right if judged and one.score.reason != UNJUDGED else None
    if one.view not in measured:
        return None
    numbers = dict(one.score.numbers)
    if one.view == AnswerKind.BOX:
        return numbers.get(IOU, right)
    found = 2 * numbers.get(FOUND, 0.0)
    every = found + numbers.get(EXTRA, 0.0) + numbers.get(MISSED, 0.0)
    return found / every if every else right


def group_frame(trials: Frame, items: Mapping[str, Item]) -> Frame:
    """Return each trial once for each grouping column in which its item has a value."""
    groups = {key: groups_of(item) for key, item in items.items()}
    rows = [
        (place, group, value)
        for place, item in enumerate(trials["item"])
        for group, value in groups.get(item, {}).items()
    ]
    return trials.take(place for place, *_ in rows).having(
        group=[group for _, group, _ in rows], value=[value for *_, value in rows]
    )
