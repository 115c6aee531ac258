"""Progress, estimates and agreement in words."""

import math
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from viewer.domain.form import PlaceKind, PlaceQuestion
from viewer.domain.form_catalog import READER_TASK
from viewer.domain.reading import (
    Forecast,
    Progress,
    SessionId,
    SessionKind,
    SessionSummary,
)
from viewer.metrics.agreement import Agreement
from viewer.services.readings.agreeing import PairAgreement
from viewer.services.readings.review_offer import ReviewOffer, StudyOffer
from viewer.services.readings.reviewing import ErrorCounts
from viewer.ui.panels.review.bar import (
    ReviewBar,
    duration_words,
    forecast_words,
    progress_words,
)
from viewer.ui.panels.review.results import estimate_words, pair_words, row_words
from viewer.ui.panels.review.sessions import what_words

COUNTS = ErrorCounts(
    "m",
    "Edema",
    "grid=8",
    ("frontal",),
    120,
    50,
    {"partial": 1, "position": 40, "anatomy": 9, "unsure": 0},
)


@pytest.mark.statement("E000-25")
def test_that_an_estimate_is_written_with_its_exact_interval() -> None:
    assert estimate_words(COUNTS, "anatomy") == "21.6 (18.0 %), 13 to 34"
    assert row_words(COUNTS)[:5] == ("m", "Edema", "120", "50", "1")


def test_that_what_nobody_reviewed_has_no_estimate() -> None:
    none = ErrorCounts("m", "Edema", "grid=8", ("frontal",), 12, 0, {"anatomy": 0})
    assert estimate_words(none, "anatomy") == "–"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s"), (40, "40 s"), (600, "10 min"), (7500, "2 h 5 min"), (7200, "2 h")],
)
def test_that_times_are_written_as_people_say_them(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words


def test_that_progress_leaves_out_what_is_not_known_yet() -> None:
    assert progress_words(Progress(9, 0, 0, None, None)) == "0 done"
    said = progress_words(Progress(9, 3, 1, 12.4, 120.0))
    assert said == "3 done · 1 unsure · 12 s a case · about 2 min left"


def test_that_the_forecast_says_how_many_more_reviews() -> None:
    assert forecast_words(Forecast(0.05, 0, 0, 0, 0)) == ""
    assert forecast_words(Forecast(0.05, 3, 0, 0, 0)) == (
        "every share is known to ±5 points"
    )
    assert forecast_words(Forecast(0.05, 3, 2, 41, 90)) == (
        "41 more reviews until every share is known to ±5 points"
    )
    assert forecast_words(Forecast(0.05, 3, 1, 1, 1)) == (
        "1 more review until every share is known to ±5 points"
    )


def test_that_an_offer_says_how_many_and_how_long() -> None:
    assert ReviewOffer(240, 100, 2, 1, 7).sentence == (
        "100 of 240 complete misses of 2 models in 1 finding, "
        "about 20 minutes at 12 s a case. Drawn and mixed by seed 7."
    )
    assert ReviewOffer(0, 0, 0, 0, 0).sentence.startswith("No complete misses match")
    assert StudyOffer(400, 90, ("Edema",)).sentence == (
        "400 questions about 90 patients, about 3 hours at 30 s a case. "
        "Drawn and mixed by seed 0."
    )
    assert StudyOffer(0, 0).sentence.startswith("This data set has no image with a ref")


def test_that_agreement_without_a_case_in_common_is_said_so() -> None:
    nothing = Agreement(math.nan, math.nan, math.nan, 0, "none")
    pair = PairAgreement("A", "B", nothing, nothing, nothing)
    assert pair_words(pair) == "A and B reviewed no case in common."


def test_that_longer_words_do_not_widen_the_window(qtbot: QtBot) -> None:
    bar = ReviewBar()
    qtbot.addWidget(bar)
    before = bar.minimumSizeHint().width()
    bar.show_progress(Progress(900, 300, 100, 12.4, 12_000.0))
    bar.show_forecast(Forecast(0.05, 30, 20, 4100, 9000))
    assert bar.minimumSizeHint().width() == before
    assert "100 unsure" in bar.words.toolTip()


@pytest.mark.parametrize(
    ("kind", "words"),
    [(PlaceKind.CELL, "a cell of the grid"), (PlaceKind.BOXES, "a box")],
)
def test_that_two_studies_of_a_data_set_are_told_apart_by_what_is_placed(
    kind: PlaceKind, words: str
) -> None:
    placing = replace(
        READER_TASK, questions=(PlaceQuestion("place", "Where is it?", (kind,)),)
    )
    one = SessionSummary(
        SessionId(1),
        SessionKind.READER_STUDY,
        "A",
        None,
        "demo",
        placing,
        "w",
        "",
        9,
        1,
        0,
    )
    assert what_words(one) == f"Reader task of demo · {words}"
    larger = replace(one, condition="grid=16")
    assert what_words(larger) == f"Reader task of demo · 16 × 16 · {words}"
    assert "run 7" in what_words(replace(one, run=7))
