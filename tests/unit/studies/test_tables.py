"""The tables of studies about items, against counts made by hand."""

from collections.abc import Sequence

import pytest

from tests.helpers.by_patient import ci_of
from viewer.domain.answer import Status
from viewer.domain.report import Table
from viewer.domain.result import Score, TrialResult
from viewer.domain.study_words import RIGHTS, StudyWords
from viewer.results.evaluate import evaluate
from viewer.results.item_columns import ITEM_COLUMNS
from viewer.results.records import NOT_COUNTED, number_names, records
from viewer.studies.tables import items_spec, items_table, results_spec

RIGHT, WRONG = Status.SCORED_CORRECT, Status.SCORED_WRONG


def result(
    item: str, status: Status, finding: str = "Atlas", view: str = "", **more: float
) -> TrialResult:
    score = Score(status, "", "A", numbers=tuple(more.items()))
    return TrialResult(item, f"p{item}", "", view, finding, "plain", 0, "m", score)


def rates(results: Sequence[TrialResult], *, means: bool = True) -> Table:
    spec = results_spec(number_names(results), means=means)
    return evaluate(spec, {"trials": records(results)})


def listed(results: Sequence[TrialResult]) -> Table:
    """Return the list of trials, of which nothing was spent."""
    frame, blank = records(results), [""] * len(results)
    known = {*frame.columns, *StudyWords().columns}
    more = {c.name: blank for c in ITEM_COLUMNS if c.name not in known}
    return items_table(StudyWords(verdicts=RIGHTS), frame.having(**more))[1]


RESULTS = (
    result("1", RIGHT, judge=5.0),
    result("2", WRONG, judge=2.0, share=0.5),
    result("3", Status.UNPARSED, "PubMed"),
    result("4", RIGHT, "PubMed", "tiny"),
    result("5", Status.EXCLUDED, "PubMed"),
    result("6", Status.PENDING, "PubMed"),
    result("7", Status.PROVIDER_ERROR, "PubMed"),
    result("8", Status.REFUSED, "PubMed"),
)


def test_that_items_list_every_trial_with_its_named_numbers() -> None:
    table = listed(RESULTS)
    assert table.name == "items"
    assert table.header[-3:] == ("request_sha256", "judge", "share")
    assert [row[0] for row in table.rows] == list("12345678")
    assert [row[-2:] for row in table.rows][:3] == [
        (5.0, None),
        (2.0, 0.5),
        (None,) * 2,
    ]
    assert listed(()).rows == rates(()).rows == ()


def test_that_the_mean_of_correct_is_the_rate() -> None:
    """A trial that is in no rate is neither right nor wrong."""
    told = [row["correct"] for row in listed(RESULTS).records()]
    assert told == [True, False, False, True, None, None, False, False]
    whole = next(iter(rates(RESULTS).records()))
    counted = [one for one in told if one is not None]
    assert sum(counted) / len(counted) == whole["hit_rate"]


def test_that_items_have_what_their_study_calls_its_strata() -> None:
    words = StudyWords(
        "subset", view="question kind", strata={"site": str, "item": str}
    )
    header = items_spec(words, ("judge",)).columns
    assert header[:8] == (
        *("item", "patient", "image", "finding", "view"),
        *("subset", "question_kind", "site"),
    )
    assert len(set(header)) == len(header)
    places = {"coverage", "outcome"}
    assert places <= {*header}
    assert not places & {*items_spec(StudyWords(verdicts=RIGHTS), ()).columns}


def test_that_every_trial_is_counted_once_in_each_division() -> None:
    table = rates(RESULTS)
    rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    assert [(row["finding"], row["view"]) for row in rows] == [
        ("(micro)", "all"),
        ("Atlas", "all"),
        ("PubMed", "all"),
        ("(micro)", ""),
        ("(micro)", "tiny"),
    ]
    every, atlas, pubmed = rows[:3]
    assert (every["k"], every["n"], every["n_planned"]) == (2, 6, 8)
    parts = ("scored", "failed", "refused", "unparsed", "excluded", "pending")
    for row in rows:
        counts = [int(str(row[f"n_{part}"])) for part in parts]
        assert sum(counts) == row["n_planned"]
    assert (atlas["k"], atlas["n"], atlas["answered_rate"]) == (1, 2, 0.5)
    assert (pubmed["k"], pubmed["n"], pubmed["answered_rate"]) == (1, 4, 1.0)
    assert every["mean_judge"] == 3.5
    assert pubmed["mean_judge"] is None


@pytest.mark.statement("X-07")
def test_that_intervals_are_by_patient() -> None:
    table = rates(RESULTS)
    row = dict(zip(table.header, table.rows[0], strict=True))
    kept = [one for one in RESULTS if one.score.status not in NOT_COUNTED]
    wanted = ci_of(
        (one.score.status is Status.SCORED_CORRECT, one.patient, one.item)
        for one in kept
    )
    assert row["ci_method"] == wanted["ci_method"]
    for end in ("ci_low", "ci_high"):
        assert row[end] == pytest.approx(wanted[end], abs=1e-12)


def test_that_nothing_settled_has_no_rate() -> None:
    table = rates(RESULTS[5:6])
    row = dict(zip(table.header, table.rows[0], strict=True))
    assert (row["hit_rate"], row["ci_low"], row["answered_rate"]) == (None,) * 3
    assert len(table.rows) == 2


def test_that_means_of_numbers_can_be_left_out() -> None:
    table = rates(RESULTS, means=False)
    assert table.header[-2:] == ("answered_rate", "chance")
