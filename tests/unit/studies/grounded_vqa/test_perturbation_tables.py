"""What stands in the base of a perturbation test, from trials as they ended."""

import pytest

from tests.helpers.heal_trials import NO, YES, closed, heal_rows, unsaid
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
