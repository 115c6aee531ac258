"""What stands in the base of a perturbation test, from trials as they ended."""

import pytest

from tests.helpers.heal_trials import NO, YES, closed, heal_rows, probed, unsaid
from viewer.domain.answer import Status
from viewer.domain.item import TASK_MARK

SWAPPED = f"{TASK_MARK}Heart: Mass"


@pytest.mark.statement("E002-09")
@pytest.mark.parametrize(("plain_is_yes", "base"), [(True, 2), (False, 1)])
def test_that_a_failed_trial_alone_is_no_true_positive(
    plain_is_yes: bool, base: int
) -> None:
    results = [
        closed(f"q1{SWAPPED}", NO, condition="tpt-anatomy"),
        unsaid(f"q2{SWAPPED}", "tpt-anatomy", Status.PROVIDER_ERROR),
    ]
    if plain_is_yes:
        results.append(closed("q2", YES))
    (row,) = heal_rows("table_3_textual", results)
    assert (row["n_true_positives"], row["n_unread"]) == (base, base - 1)
    assert row["score"] == 1 / base


@pytest.mark.statement("E002-12")
@pytest.mark.parametrize("name", ["common_true_positives", "common_textual"])
def test_that_a_model_that_never_says_yes_keeps_no_other_from_comparison(
    name: str,
) -> None:
    replies = {
        "vpt": [NO],
        "vpt-sham-same": [YES],
        "tpt-anatomy": [NO],
        "tpt-sham": [YES],
    }
    results = [
        one
        for model in ("first", "second")
        for key, patient in (("q1", "p1"), ("q2", "p2"))
        for one in probed(key, patient, replies, model)
    ]
    for key, patient in (("q1", "p1"), ("q2", "p2")):
        results.append(closed(key, NO, model="denies", patient=patient))
        results += [
            unsaid(f"{key}{TASK_MARK}none", condition, Status.EXCLUDED, "denies")
            for condition in replies
        ]
    number = {"common_true_positives": "n_items", "common_textual": "n_compared"}
    rows = {
        row["model"]: row[number[name]]
        for row in heal_rows(name, results)
        if row["test"] in {"VPT", "TPT anatomy"}
    }
    assert rows["denies"] == 0
    if name == "common_true_positives":
        assert rows == {"first": 2, "second": 2, "denies": 0}
