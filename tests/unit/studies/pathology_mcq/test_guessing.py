import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from statsmodels.stats.proportion import proportion_confint

from tests.unit.studies.pathology_mcq.small import item, result
from viewer.domain.answer import Status
from viewer.domain.item import Item
from viewer.domain.report import Table
from viewer.domain.result import TrialResult
from viewer.readers.datasets.catalog import read_dataset
from viewer.results.evaluate import evaluate
from viewer.studies.pathology_mcq.frames import GUESSES, guess_frame
from viewer.studies.pathology_mcq.guessing import Audit, audit, filtered
from viewer.studies.pathology_mcq.questions import Mcq, mcqs_of
from viewer.studies.pathology_mcq.tables import GUESS_TABLE, guess_audit

RIGHT, WRONG = Status.SCORED_CORRECT, Status.SCORED_WRONG
MODELS = ("a", "b", "c", "d")


def guesses(one: Item, by: int, **more: int) -> list[TrialResult]:
    """Return four models' answers without the image, ``by`` of them right."""
    return [
        result(one, RIGHT if i < by else Status.UNPARSED, "text_only", m, **more)
        for i, m in enumerate(MODELS)
    ]


def guess_table(found: Audit, mcqs: Mapping[str, Mcq]) -> Table:
    return evaluate(
        GUESS_TABLE, {GUESSES: guess_frame(found, mcqs, {key: key for key in mcqs})}
    )


def audit_table(found: Audit, mcqs: Mapping[str, Mcq]) -> Table:
    spec = guess_audit(tuple(mcqs.values()))
    return evaluate(
        spec, {GUESSES: guess_frame(found, mcqs, {key: key for key in mcqs})}
    )


@pytest.mark.statement("E003-08")
def test_that_what_three_of_four_guess_is_taken_out() -> None:
    items = [item(f"PubMed-test-{i}") for i in range(5)]
    results = [r for by, one in enumerate(items) for r in guesses(one, by)]
    found = audit(results, 3)
    assert [len(one.by) for one in found.items] == [0, 1, 2, 3, 4]
    assert found.guessable == ("PubMed-test-3", "PubMed-test-4")
    assert found.kept == ("PubMed-test-0", "PubMed-test-1", "PubMed-test-2")
    low, high = proportion_confint(2, 5, method="beta")
    rows = audit_table(found, mcqs_of(tuple(items))).rows
    assert [row[0] for row in rows] == ["Overall", "PubMed"]
    for row in rows:
        assert row[1:6] == (5, 2, 3, 0, 0.4)
        assert row[6:8] == pytest.approx((low, high), abs=1e-12)
        assert row[8:] == ("Clopper-Pearson, 95 %", 3, 4)
    assert audit([], 3).items == ()
    assert audit_table(audit([], 3), {}).rows == ()


@pytest.mark.statement("E003-08")
def test_that_only_trials_without_an_image_count_and_none_that_is_excluded() -> None:
    one = item("PubMed-test-1")
    shown = [result(one, RIGHT, "plain", m) for m in MODELS]
    invalid = [result(one, Status.EXCLUDED, "text_only", m) for m in MODELS]
    assert audit([*shown, *invalid], 1).items == ()


@pytest.mark.statement("E003-08")
@pytest.mark.parametrize("unheard", [Status.PENDING, Status.PROVIDER_ERROR])
@pytest.mark.parametrize(
    ("right", "wrong", "guessable"),
    [
        (3, 0, True),
        (3, 1, True),
        (2, 1, None),
        (2, 2, False),
        (1, 2, False),
        (1, 1, None),
        (0, 2, None),
        (0, 0, None),
    ],
)
def test_that_what_unheard_models_could_change_cannot_be_told(
    unheard: Status, right: int, wrong: int, guessable: bool | None
) -> None:
    one, other = item("PubMed-test-1"), item("Atlas-test-2")
    said = [RIGHT] * right + [WRONG] * wrong
    said += [unheard] * (4 - len(said))
    results = [
        result(one, status, "text_only", m)
        for status, m in zip(said, MODELS, strict=True)
    ]
    found = audit([*results, *guesses(other, 0)], 3)
    first, _ = found.items
    assert (first.asked, found.verdict(first)) == (right + wrong, guessable)
    assert (one.key in found.guessable) == (guessable is True)
    assert (one.key in found.kept) == (guessable is False)
    mcqs = mcqs_of((one, other))
    cell = {True: 1, False: 0, None: None}[guessable]
    assert guess_table(found, mcqs).rows[0][-1] == cell
    untold = int(guessable is None)
    assert [row[4] for row in audit_table(found, mcqs).rows] == [untold, untold, 0]
    assert ("PubMed" in filtered(found, mcqs)) == (guessable is False)


@pytest.mark.statement("E003-08")
def test_that_two_models_cannot_tell_what_three_must_guess() -> None:
    one = item("PubMed-test-1")
    found = audit([result(one, WRONG, "text_only", m) for m in "ab"], 3)
    assert (found.kept, found.guessable) == ((), ())
    assert audit_table(found, mcqs_of((one,))).rows[0] == (
        *("Overall", 1, 0, 0, 1, None, None, None, "no trial, 95 %", 3, 2),
    )


@pytest.mark.statement("E003-08")
def test_that_most_repeats_of_a_model_must_be_right() -> None:
    one = item("PubMed-test-1")
    twice = [*guesses(one, 4), *guesses(one, 2, repeat=1)]
    assert audit(twice, 3).items[0].by == ("a", "b")


@pytest.mark.statement("E003-08")
def test_that_the_table_names_who_guesses_each_item() -> None:
    items = (item("PubMed-test-1"), item("Atlas-val-2"))
    found = audit([*guesses(items[0], 3), *guesses(items[1], 1)], 3)
    table = guess_table(found, mcqs_of(items))
    assert table.rows == (
        ("PubMed-test-1", "PubMed", "test", 4, 3, "a b c", 1),
        ("Atlas-val-2", "Atlas", "val", 4, 1, "a", 0),
    )


@pytest.mark.statement("E003-08")
def test_that_what_stays_can_be_imported_again(tmp_path: Path) -> None:
    told = {"explanation": "For its bands.", "explanations": ["no", "no", "no", "yes"]}
    last = item("Atlas-val-3", 3, images=())
    items = (
        item("PubMed-test-1", 1),
        item("PubMed-test-2", 2, images=("a.png", "b.png")),
        replace(last, reference={**last.reference, **told}),
    )
    results = [
        r for by, one in zip((3, 0, 1), items, strict=True) for r in guesses(one, by)
    ]
    kept = filtered(audit(results, 3), mcqs_of(items))
    (tmp_path / "data.json").write_text(json.dumps(kept))
    again = read_dataset("pathmmu", tmp_path, "kept").items
    assert {one.key: one for one in again} == {one.key: one for one in items[1:]}
