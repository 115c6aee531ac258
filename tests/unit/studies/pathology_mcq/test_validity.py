from dataclasses import replace

import pytest

from tests.unit.studies.pathology_mcq.small import dataset, item, result, spec
from viewer.domain.answer import Status
from viewer.domain.item import Item
from viewer.readers.datasets.item_reviews import WRONG_IF
from viewer.studies.exclusions import reason_words
from viewer.studies.pathology_mcq.plan import plan
from viewer.studies.pathology_mcq.report import report
from viewer.studies.pathology_mcq.validity import Validity, validity_of
from viewer.studies.protocol import ReportContext


def reviewed(key: str, *reviews: list[object]) -> Item:
    one = item(key)
    return replace(one, reference={**one.reference, "reviews": list(reviews)})


KEPT = reviewed("PubMed-test-1", ["ann", []], ["ben", []])
REJECTED = reviewed(
    "PubMed-test-2",
    ["ann", []],
    ["ben", ["inferable", "atypical"]],
    ["cat", ["atypical"]],
)
UNSEEN = item("PubMed-test-3")


@pytest.mark.statement("E003-12")
def test_that_one_reviewer_is_enough_to_reject_a_question() -> None:
    assert validity_of(KEPT) == Validity("PubMed-test-1", 2, ())
    assert validity_of(REJECTED).failed == ("inferable", "atypical")
    assert validity_of(UNSEEN) == Validity("PubMed-test-3", 0, ())


@pytest.mark.statement("E003-12")
def test_that_a_rejected_question_is_excluded_with_its_reason_unless_wished() -> None:
    data = dataset((KEPT, REJECTED, UNSEEN))
    assert [t.exclusion for t in plan(data, spec())] == ["", "inferable", ""]
    assert [t.exclusion for t in plan(data, spec(invalid="ask"))] == ["", "", ""]


@pytest.mark.statement("E003-12")
def test_that_the_report_says_what_was_kept_and_why_not() -> None:
    data = report(
        [result(KEPT, Status.SCORED_CORRECT)],
        spec(),
        ReportContext(dataset((KEPT, REJECTED, UNSEEN))),
    )
    table = next(one for one in data.tables if one.name == "reviews")
    assert table.rows == (
        ("PubMed-test-1", "PubMed", "test", 2, "keep", ""),
        ("PubMed-test-2", "PubMed", "test", 3, "reject", "inferable atypical"),
    )


@pytest.mark.statement("E003-12")
def test_that_every_criterion_is_told_in_words() -> None:
    for reason in (*WRONG_IF, "no_image"):
        assert reason_words(reason).endswith(".")
