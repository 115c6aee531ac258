"""What there is to review or to read, counted before anything is opened."""

from pathlib import Path

import pytest

from tests.helpers.reviewed_run import DATASET, FINDING, missed_run
from viewer.domain.errors import WrongUseError
from viewer.services.readings.opening import open_error_review, session
from viewer.services.readings.review_offer import (
    CaseSample,
    MissSample,
    StudyOffer,
    asked_findings,
    review_offer,
    study_offer,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a store with a run of two models that miss each of three images."""
    store = tmp_path / "store"
    missed_run(store, 3)
    return store


@pytest.mark.statement("E000-25")
def test_that_as_many_misses_are_offered_as_a_review_has(path: Path) -> None:
    every, two = review_offer(path, 1), review_offer(path, 1, MissSample(cap=2))
    assert (every.misses, every.reviews, two.misses, two.reviews) == (6, 6, 6, 4)
    assert (every.conditions, every.views) == (("grid=8",), ("frontal",))
    opened = open_error_review(path, 1, "Reader A", cap=2)
    assert session(path, opened).planned == two.reviews


def test_that_no_view_is_every_one_and_one_without_a_miss_has_none(path: Path) -> None:
    assert review_offer(path, 1, MissSample(views=())).misses == 6
    none = review_offer(path, 1, MissSample(views=("lateral",)))
    assert none.misses == 0
    assert "Choose other views" in none.sentence


def test_that_a_study_offers_the_findings_and_views_that_have_a_reference(
    path: Path,
) -> None:
    offer = study_offer(path, DATASET)
    assert (offer.questions, offer.patients) == (3, 3)
    assert (offer.findings, offer.views) == ((FINDING,), ("frontal",))


def test_that_a_study_without_a_case_says_why(path: Path) -> None:
    offer = study_offer(path, DATASET, CaseSample(views=("lateral",)))
    assert offer.questions == 0
    assert "none of the requested findings and views" in offer.sentence
    assert FINDING in offer.sentence


def test_that_an_unknown_data_set_is_refused(path: Path) -> None:
    with pytest.raises(WrongUseError):
        study_offer(path, "nowhere")


@pytest.mark.parametrize(
    ("there", "ticked", "asked"),
    [
        (("Edema",), (), ()),
        (("Edema", "Cardiomegaly"), ("Cardiomegaly", "Edema"), ()),
        (("Edema", "Cardiomegaly"), ("Edema",), ("Edema",)),
        (("Edema", "Support Devices"), ("Edema",), ()),
        (("Edema", "Support Devices"), (), ("Edema", "Support Devices")),
        (("Nodule",), (), ("Nodule",)),
    ],
)
def test_that_the_papers_findings_open_the_study_that_names_none(
    there: tuple[str, ...], ticked: tuple[str, ...], asked: tuple[str, ...]
) -> None:
    assert asked_findings(StudyOffer(1, 1, there), ticked) == asked
