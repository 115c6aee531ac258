from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.small_store import a_run, some_trials
from viewer.domain.answer import Status
from viewer.domain.errors import StoreError
from viewer.domain.result import Outcome, Score
from viewer.store import database, flat, trials
from viewer.store.database import Store, open_store
from viewer.store.trials import Verdict

HIT = Score(Status.SCORED_CORRECT, "", "D4", 0.75, Outcome.FULL)
PARTIAL = Score(Status.SCORED_WRONG, "", "D5", 0.25, Outcome.PARTIAL)
REFUSED = Score(Status.REFUSED)
FAILED = Score(Status.PROVIDER_ERROR)
_OF_TRIALS = """
SELECT t.run_id, t.finding, t.view, t.condition, t.model, d.name AS dataset, t.patient,
 t.item, t.status, coalesce(s.outcome, '') AS outcome, s.coverage, t.id
FROM trial t JOIN run r ON r.id = t.run_id JOIN dataset d ON d.id = r.dataset_id
LEFT JOIN score s ON s.id = t.score_id
"""
_OF_PREDICTIONS = """
SELECT g.run_id, g.finding, g.view, g.condition, g.model, d.name AS dataset,
 p.name AS patient, i.name AS item, v.status, v.outcome, f.coverage, f.trial_id
FROM prediction f JOIN prediction_stratum g ON g.id = f.stratum_id
JOIN prediction_patient p ON p.id = f.patient_id
JOIN prediction_item i ON i.id = f.item_id AND i.dataset_id = p.dataset_id
JOIN prediction_verdict v ON v.id = f.verdict_id JOIN dataset d ON d.id = p.dataset_id
"""
_COUNTED = """
SELECT g.run_id, g.finding, g.view, g.condition, g.model, v.status, v.outcome, c.n
FROM prediction_count c JOIN prediction_stratum g ON g.id = c.stratum_id
JOIN prediction_verdict v ON v.id = c.verdict_id WHERE c.n > 0
"""


def assert_flat_is_true(store: Store) -> int:
    """Compare the flat rows and their counts with the trials; return how many."""
    trials = sorted(tuple(row) for row in store.rows(_OF_TRIALS))
    assert sorted(tuple(row) for row in store.rows(_OF_PREDICTIONS)) == trials
    counted = {tuple(row)[:7]: int(row["n"]) for row in store.rows(_COUNTED)}
    assert counted == Counter((*row[:5], *row[8:10]) for row in trials)
    return len(trials)


def _settle(store: Store, *scores: Score) -> None:
    """Give the first trials these scores."""
    with store.transaction():
        found = [(i, Verdict(score, "1")) for i, score in enumerate(scores, 1)]
        trials.settle(store, found)


def _n(store: Store) -> dict[str, int]:
    """Return the numbers of trials by status, of the counts."""
    names = {verdict.id: verdict.status.value for verdict in flat.verdicts(store)}
    return {names[int(v)]: int(n) for _, v, n in flat.counts(store)}


@pytest.mark.statement("X-01")
def test_that_the_counts_follow_every_change_of_a_trial(store: Store) -> None:
    a_run(store, some_trials(5, excluded=1))
    assert_flat_is_true(store)
    assert _n(store) == {"pending": 4, "excluded": 1}
    _settle(store, HIT, PARTIAL, REFUSED, FAILED)
    assert_flat_is_true(store)
    assert _n(store) == {
        **dict.fromkeys(("scored_correct", "scored_wrong", "refused"), 1),
        **dict.fromkeys(("provider_error", "excluded"), 1),
    }
    trials.reopen_failed(store, 1)
    assert_flat_is_true(store)
    assert _n(store)["pending"] == 1
    _settle(store, PARTIAL)
    assert_flat_is_true(store)
    assert _n(store)["scored_wrong"] == 2
    assert sum(_n(store).values()) == 5


def test_that_what_is_rolled_back_counts_nowhere(store: Store) -> None:
    a_run(store, some_trials(3))
    never = Score(Status.PENDING)
    with pytest.raises(StoreError):
        _settle(store, HIT, never)
    assert_flat_is_true(store)
    assert _n(store) == {"pending": 3}


def test_that_a_second_connection_sees_both_or_neither(
    store: Store, tmp_path: Path
) -> None:
    a_run(store, some_trials(3))
    with open_store(tmp_path / "s.sqlite") as other:
        before = flat.stamp(other)
        with store.transaction():
            trials.settle(store, [(1, Verdict(HIT, "1"))])
            assert flat.stamp(other) == before
            assert _n(other) == {"pending": 3}
        assert flat.stamp(other) != before
        assert_flat_is_true(other)
        assert _n(other) == {"pending": 2, "scored_correct": 1}


@pytest.mark.parametrize("piece", [1, 3, 500])
def test_that_a_flat_table_that_was_changed_is_told_and_made_anew(
    store: Store, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    monkeypatch.setattr(flat, "_PIECE", piece)
    monkeypatch.setattr(database, "HOLD_S", 0.0)
    a_run(store, some_trials(4))
    _settle(store, HIT, PARTIAL)
    assert flat.differing(store) == 0
    with store.transaction():
        store.execute("UPDATE prediction SET coverage = 0.1 WHERE trial_id = 1")
        store.execute("DELETE FROM prediction WHERE trial_id = 3")
    assert flat.differing(store) == 2
    assert flat.rebuild(store) == 4
    assert flat.differing(store) == 0
    assert_flat_is_true(store)


def test_that_trials_are_chosen_by_stratum_patient_and_coverage(store: Store) -> None:
    a_run(store, some_trials(4))
    _settle(store, HIT, PARTIAL, REFUSED)
    (stratum,) = flat.strata(store)
    assert (stratum.run, stratum.finding, stratum.model) == (1, "Edema", "says-d4")
    one = flat.patients(store, "PATIENT1")
    assert list(one.values()) == ["patient1"]
    assert flat.trials_of(store, None, one)[:, 0].tolist() == [2]
    high = flat.Bounds(0.25, 0.75)
    assert flat.trials_of(store, [stratum.id], None, high)[:, 0].tolist() == [1, 2]
    assert flat.trials_of(store, [stratum.id + 1]).shape == (0, 4)
    assert flat.details(store, None, None, flat.Bounds(0.5)).shape == (1, 4)
    assert flat.counts(store, None, high)[:, 2].tolist() == [1, 1]
    every = flat.details(store)
    assert sorted(flat.patients(store)) == sorted(every[:, 0])
    assert set(every[:, 1]) == {stratum.id}
    assert sorted(every[:, 3]) == sorted(flat.trials_of(store)[:, 2])
    assert len(set(every[:, 3])) == 4
    verdicts, n = np.unique(every[:, 2], return_counts=True)
    assert dict(zip(verdicts, n, strict=True)) == {
        v: n for _, v, n in flat.counts(store).tolist()
    }


def test_that_single_questions_are_left_out_unless_asked_for(store: Store) -> None:
    a_run(store, some_trials(1))
    with store.transaction():
        store.execute("UPDATE run SET adhoc = 1")
    assert flat.strata(store) == ()
    assert len(flat.strata(store, include_adhoc=True)) == 1
