"""A verdict's sign and words, and the title over a row's trials."""

from pathlib import Path

import pytest

from viewer.domain.answer import Status
from viewer.domain.case import ImageRef
from viewer.domain.result import Outcome, Score
from viewer.domain.study_words import RIGHTS, StudyWords
from viewer.services.inspecting.runs import TrialRow
from viewer.ui.panels.measure.outcome_words import glyph, trials_title, words
from viewer.ui.tables.results_model import RowKey

HIT = Score(Status.SCORED_CORRECT, outcome=Outcome.FULL)
MISS = Score(Status.SCORED_WRONG, outcome=Outcome.MISS)


@pytest.mark.parametrize(
    ("score", "sign", "text"),
    [
        (HIT, "◼", "hit"),
        (Score(Status.SCORED_WRONG, outcome=Outcome.PARTIAL), "◧", "partial"),
        (MISS, "◇", "miss"),
        (Score(Status.SCORED_CORRECT), "✓", "right"),
        (Score(Status.SCORED_WRONG), "✗", "wrong"),
        (Score(Status.OUT_OF_RANGE), "?", "out of range"),
        (Score(Status.REFUSED), "⊘", "refused"),
        (Score(Status.PROVIDER_ERROR, "http_429"), "!", "failed (http 429)"),
        (Score(Status.EXCLUDED, "no_gt"), "–", "excluded (no gt)"),
        (Score(Status.EXCLUDED, "ungraded", "9 words"), "–", "not graded"),
        (Score(Status.EXCLUDED, "built", "3 questions"), "–", "with questions"),
        (Score(Status.PENDING), "…", "pending"),
    ],
)
def test_that_shape_and_words_tell_the_outcome(
    score: Score, sign: str, text: str
) -> None:
    assert (glyph(score), words(score)) == (sign, text)


def test_that_every_status_has_a_sign() -> None:
    assert all(glyph(Score(status)) for status in Status)


def _rows(*scores: Score) -> tuple[TrialRow, ...]:
    ref = ImageRef(Path("a.png"))
    return tuple(
        TrialRow(i, "a|Edema", ref, "Edema", "frontal", "grid=8", "m", 0, score)
        for i, score in enumerate(scores)
    )


def test_that_the_title_counts_misses_hits_and_what_is_pending() -> None:
    key = RowKey("Edema", "all", "grid=8", "m")
    pending, excluded = Score(Status.PENDING), Score(Status.EXCLUDED, "no_gt")
    trials = _rows(MISS, Score(Status.UNPARSED), HIT, excluded, pending)
    head = "Edema · all views · 8 × 8 · m"
    assert trials_title(key, trials) == f"{head} · 2 misses first · 1 hit · 1 pending"
    assert trials_title(key, _rows(HIT, HIT)) == f"{head} · 2 hits"


def test_that_trials_without_a_verdict_are_no_hits() -> None:
    key = RowKey("broad_query", "all", "text_only", "m")
    ungraded, pending = Score(Status.EXCLUDED, "ungraded"), Score(Status.PENDING)
    head = "broad query · all views · text only · m"
    assert trials_title(key, _rows(ungraded)) == f"{head} · 1 excluded"
    both = _rows(ungraded, pending)
    assert trials_title(key, both) == f"{head} · 1 excluded · 1 pending"


def test_that_a_study_in_words_counts_right_wrong_and_what_is_not_graded_yet() -> None:
    key = RowKey("(micro)", "all", "plain", "m")
    words_ = StudyWords(verdicts=RIGHTS, views="tasks", ungraded="Grade them.")
    waits = Score(Status.EXCLUDED, "ungraded", "12 words")
    right, wrong = Score(Status.SCORED_CORRECT), Score(Status.SCORED_WRONG)
    head = "All trials together · all tasks · plain · m"
    told = trials_title(key, _rows(waits, right, wrong), words_)
    assert told == f"{head} · 1 wrong first · 1 right · 1 not graded yet"
    assert trials_title(key, _rows(waits), words_) == f"{head} · 1 not graded yet"
    excluded = Score(Status.EXCLUDED, "no_prior")
    both = trials_title(key, _rows(waits, excluded), words_)
    assert both == f"{head} · 1 excluded · 1 not graded yet"


@pytest.mark.statement("E003-15")
def test_that_trials_that_made_something_are_not_called_excluded() -> None:
    key = RowKey("Atlas", "all", "building", "m")
    built = Score(Status.EXCLUDED, "built", "3 questions")
    head = "Atlas · all views · building · m"
    assert trials_title(key, _rows(built, built)) == f"{head} · 2 with questions"
    left_out = Score(Status.EXCLUDED, "missing_file")
    both = trials_title(key, _rows(built, left_out))
    assert both == f"{head} · 1 with questions · 1 excluded"
