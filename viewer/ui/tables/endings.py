"""What can be shown of unjudged answers: how they ended, by model."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from viewer.domain.answer import UNREADABLE, Status
from viewer.domain.figure import FigureHead, Stack, StackFigure
from viewer.domain.result import Score
from viewer.domain.study_words import ALL_VIEWS, MICRO, StudyWords, spoken
from viewer.domain.styles import in_order
from viewer.services.inspecting.runs import TrialRow

ANSWERED: Final = "answered"
_EVERYTHING: Final = frozenset({"", MICRO, ALL_VIEWS})


def endings_figure(
    rows: Sequence[TrialRow], wanted: Mapping[str, str], words: StudyWords
) -> StackFigure:
    """Return counts of endings by model, of the selected trials.

    ``wanted`` maps columns to values, "" for every one. Under a model's name stands the
    mean of each number that its answers have.
    """
    planned = sorted(rows, key=lambda row: row.trial)
    chosen = [row for row in planned if _is_wanted(row, wanted)]
    ends = {row.trial: ending(row.score) for row in chosen}
    segments = in_order(ends.values())
    stacks = []
    for model in dict.fromkeys(row.model for row in chosen):
        mine = [row for row in chosen if row.model == model]
        counts = Counter(ends[row.trial] for row in mine)
        label = ", ".join((model, *_means([row.score for row in mine])))
        stacks.append(Stack(label, model, tuple(counts[one] for one in segments)))
    head = FigureHead("endings", "", "Answers by model, not graded yet", words.ungraded)
    return StackFigure(head, segments, tuple(stacks), "answers", share=False)


def ending(score: Score) -> str:
    """Return the code of how a trial without a verdict ended.

    An excluded one may have an answer. All that could not be read are one ending, but
    for what was cut off.
    """
    if score.status is Status.EXCLUDED and score.answer:
        return ANSWERED
    if score.status in UNREADABLE - {Status.TRUNCATED}:
        return Status.UNPARSED
    return score.status


def _is_wanted(row: TrialRow, wanted: Mapping[str, str]) -> bool:
    return all(
        value in _EVERYTHING or str(getattr(row, name)) == value
        for name, value in wanted.items()
    )


def _means(scores: Sequence[Score]) -> list[str]:
    """Return each number's mean over the answers that have it, in words."""
    answered = [one for one in scores if ending(one) == ANSWERED]
    names = dict.fromkeys(name for one in answered for name, _ in one.numbers)
    means = []
    for name in names:
        numbers = [n for one in answered if (n := one.number(name)) is not None]
        means.append(f"{sum(numbers) / len(numbers):.1f} {spoken(name)} per answer")
    return means
