"""A verdict as a sign and a few words, the same wherever a trial is listed."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from viewer.domain.answer import UNREADABLE, Status
from viewer.domain.result import Outcome, Score
from viewer.domain.study_words import MADE, PLACING, StudyWords, Verdicts
from viewer.domain.styles import style_of
from viewer.services.inspecting.runs import TrialRow
from viewer.ui.tables.columns import shown
from viewer.ui.tables.results_model import RowKey

_OUTCOMES: Final = {
    Outcome.FULL: "hit",
    Outcome.FULL_FALLBACK: "hit in the best-covered cell",
    Outcome.PARTIAL: "partial",
    Outcome.MISS: "miss",
}
_STATUSES: Final = {
    Status.SCORED_CORRECT: ("✓", "right"),
    Status.SCORED_WRONG: ("✗", "wrong"),
    Status.REFUSED: ("⊘", "refused"),
    Status.PROVIDER_ERROR: ("!", "failed"),
    Status.EXCLUDED: ("–", "excluded"),
    Status.PENDING: ("…", "pending"),
}


def glyph(score: Score) -> str:
    """Return the sign of a verdict."""
    return _both(score)[0]


def words(score: Score) -> str:
    """Return a verdict in words, with its reason if it has one."""
    if score.reason == "ungraded" or score.reason in MADE:
        return PLACING.ending(score.status, score.reason)
    text = _both(score)[1]
    return f"{text} ({score.reason.replace('_', ' ')})" if score.reason else text


def _both(score: Score) -> tuple[str, str]:
    if score.outcome is not None:
        return style_of(score.outcome).sign, _OUTCOMES[score.outcome]
    if score.status in UNREADABLE:
        return "?", score.status.value.replace("_", " ")
    return _STATUSES.get(score.status, ("", score.status.value.replace("_", " ")))


def trials_title(
    key: RowKey, trials: Sequence[TrialRow], words_: StudyWords = PLACING
) -> str:
    """Return the title of a strip of trials with their counts, in a study's words."""
    names = ("finding", "view", "condition")
    parts = [shown(name, getattr(key, name), words_) for name in names]
    reasons = (t.score.reason for t in trials)
    made = Counter(MADE[one].ending for one in reasons if one in MADE)
    trials = [trial for trial in trials if trial.score.reason not in MADE]
    n = Counter(trial.score.status for trial in trials)
    ungraded = sum(_waits(trial.score) for trial in trials) if words_.ungraded else 0
    counts = [f"{count} {what}" for what, count in made.items()]
    if n or not made:
        counts += _counts(n, words_.verdicts, ungraded)
    return " · ".join([*parts, key.model, *counts])


def _waits(score: Score) -> bool:
    """Tell whether an answer is there that nobody has judged yet."""
    return score.status is Status.EXCLUDED and bool(score.answer)


def _counts(n: Counter[Status], verdicts: Verdicts, ungraded: int) -> list[str]:
    """Return how trials ended; without a verdict, how many have none and why.

    Of those that are excluded so many only wait for somebody to judge them.
    """
    hits, pending = n[Status.SCORED_CORRECT], n[Status.PENDING]
    misses = n.total() - hits - pending - n[Status.EXCLUDED]
    waiting = [f"{ungraded} not graded yet"] if ungraded else []
    waiting += [f"{pending} pending"] if pending else []
    if not (hits or misses):
        excluded = n[Status.EXCLUDED] - ungraded
        none = [] if ungraded and not excluded else [f"{excluded} excluded"]
        return [*none, *waiting]
    missed = [f"{verdicts.count(misses, right=False)} first"] if misses else []
    return [*missed, verdicts.count(hits, right=True), *waiting]
