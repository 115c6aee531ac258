from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from tests.unit.studies.pathology_mcq.small import MODEL, dataset, item, spec
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.item import Item
from viewer.studies.controls import derangement
from viewer.studies.pathology_mcq.arms import (
    arm_of,
    asked_in,
    conditions,
    corruption_of,
    donors,
    shows_image,
)
from viewer.studies.pathology_mcq.params import KINDS, Arm, Params, read_params
from viewer.studies.pathology_mcq.plan import plan
from viewer.studies.pathology_mcq.questions import Mcq, mcq_of

EVERY = [arm.value for arm in Arm]
ITEMS = tuple(
    item(f"{subset}-{split}-{i}", images=(f"{subset}{i}.png",))
    for subset in ("PubMed", "Atlas", "PathCLS")
    for split in ("val", "test_tiny", "test")
    for i in range(3)
)


def every(**overrides: object) -> Params:
    return read_params("pathmmu2024", {"arms": EVERY, **overrides})


@pytest.mark.statement("E003-06", "E003-07", "E003-09")
def test_that_every_arm_has_its_conditions() -> None:
    names = [condition.name for condition in conditions(every())]
    assert names[:3] == ["plain", "text_only", "noise"]
    assert names[-1] == "mismatch"
    assert len(names) == 1 + 1 + 1 + 8 * 5 + 1
    assert len(set(names)) == len(names)
    corrupted = [name for name in names if arm_of(name) is Arm.CORRUPTION]
    assert {corruption_of(name) for name in corrupted} == {
        (kind, level) for kind in KINDS for level in range(1, 6)
    }
    assert [arm_of(n) for n in ("plain", "noise")] == [Arm.IMAGE, Arm.NOISE]
    assert [arm for arm in Arm if not shows_image(arm)] == [
        Arm.TEXT_ONLY,
        Arm.MISMATCH,
    ]


@pytest.mark.statement("E003-06")
def test_that_corruptions_are_asked_of_the_tiny_test_only() -> None:
    trials = plan(dataset(ITEMS), spec(arms=["image", "corruption"], levels=["1"]))
    corrupted = [t for t in trials if arm_of(t.condition.name) is Arm.CORRUPTION]
    assert {t.view for t in corrupted} == {"test_tiny"}
    assert len(corrupted) == 9 * 8
    assert dict(corrupted[0].condition.params) == {"kind": "brightness", "level": 1}


def test_that_trials_stand_item_by_item_for_every_repeat_and_model() -> None:
    models = (ModelProfile("a", "scripted"), ModelProfile("b", "scripted"))
    trials = plan(dataset(ITEMS), spec(models, repeats=2, limit=2))
    assert [(t.item, t.repeat, t.model) for t in trials] == [
        (key, repeat, model)
        for key in ("PubMed-val-0", "PubMed-val-1")
        for repeat in (0, 1)
        for model in ("a", "b")
    ]
    first = trials[0]
    assert (first.finding, first.view, first.image) == ("PubMed", "val", "PubMed0.png")


@pytest.mark.statement("E003-01")
def test_that_a_missing_image_is_excluded_only_where_it_would_be_shown() -> None:
    bare = item("PubMed-val-9", images=())
    several = item("PubMed-val-8", images=("a.png", "gone.png"))
    trials = plan(
        dataset((bare, several), missing=("gone.png",)),
        spec(arms=["image", "text_only"]),
    )
    assert [(t.item, t.condition.name, t.exclusion) for t in trials] == [
        ("PubMed-val-9", "plain", "no_image"),
        ("PubMed-val-9", "text_only", ""),
        ("PubMed-val-8", "plain", "missing_file"),
        ("PubMed-val-8", "text_only", ""),
    ]


def test_that_subsets_and_splits_are_chosen_and_none_at_all_is_said() -> None:
    trials = plan(dataset(ITEMS), spec(subsets="Atlas, PubMed", splits=["val"]))
    assert {(t.finding, t.view) for t in trials} == {
        ("PubMed", "val"),
        ("Atlas", "val"),
    }
    with pytest.raises(WrongUseError, match="It has Atlas test, Atlas test_tiny"):
        plan(dataset(ITEMS), spec(subsets="Else"))
    with pytest.raises(WrongUseError, match="no multiple-choice question at all"):
        plan(dataset(()), spec())
    with pytest.raises(WrongUseError, match="'x' is not a multiple-choice question"):
        plan(dataset((Item("x", "p"),)), spec())
    with pytest.raises(WrongUseError, match="'y' does not say which option"):
        mcq_of(Item("y", "p", facts={"options": ["a", "b"]}))


@pytest.mark.statement("E003-09")
def test_that_mismatched_questions_go_round_within_their_subset() -> None:
    mcqs = [mcq_of(one) for one in ITEMS]
    found = donors(mcqs, every(mismatch_per_subset=5), 1)
    assert len(found) == 10
    assert all(key != donor for key, donor in found.items())
    assert sorted(found) == sorted(found.values())
    assert all(k.split("-")[0] == d.split("-")[0] for k, d in found.items())
    assert not any(key.startswith("PathCLS") for key in found)
    assert found == donors(mcqs[::-1], every(mismatch_per_subset=5), 1)
    assert found != donors(mcqs, every(mismatch_per_subset=5), 2)
    across = donors(mcqs, every(mismatch_scope="dataset"), 1)
    assert any(k.split("-")[0] != d.split("-")[0] for k, d in across.items())
    assert len(across) == 18


@pytest.mark.statement("E003-09")
def test_that_400_of_each_subset_but_pathcls_are_1600() -> None:
    items = [
        mcq_of(item(f"{subset}-test-{i}"))
        for subset in ("PubMed", "SocialPath", "EduContent", "Atlas", "PathCLS")
        for i in range(450)
    ]
    found = donors(items, every(), 0)
    counts = Counter(key.split("-")[0] for key in found)
    assert set(counts.values()) == {400}
    assert sum(counts.values()) == 1600


def saying(key: str, question: str) -> Mcq:
    return replace(mcq_of(item(key)), question=question)


@pytest.mark.statement("E003-09")
@pytest.mark.parametrize("seed", range(20))
def test_that_no_item_gets_its_own_words_again(seed: int) -> None:
    words = ("Is it benign?", "is it  BENIGN?", "Is it malignant?", "Which grade?")
    mcqs = [saying(f"PubMed-test-{i}", words[i % 4]) for i in range(40)]
    said = {one.key: " ".join(one.question.lower().split()) for one in mcqs}
    found = donors(mcqs, every(), seed)
    assert sorted(found) == sorted(found.values()) == sorted(said)
    assert all(said[key] != said[donor] for key, donor in found.items())


@pytest.mark.statement("E003-09")
def test_that_a_question_of_most_items_leaves_some_without_another() -> None:
    mcqs = [saying(f"PubMed-test-{i}", "Grade?" if i > 1 else str(i)) for i in range(9)]
    found = donors(mcqs, every(), 3)
    assert len(found) == 9
    without = {key for key, donor in found.items() if not donor}
    assert len(without) == 5
    assert not without & {"PubMed-test-0", "PubMed-test-1"}


@pytest.mark.statement("E003-09")
def test_that_an_item_alone_has_nobody_to_exchange_with() -> None:
    alone = [mcq_of(item("PubMed-test-1"))]
    assert donors(alone, every(), 0) == {"PubMed-test-1": ""}
    assert donors([], every(mismatch_scope="dataset"), 0) == {}
    assert not asked_in(alone[0], Arm.MISMATCH, {}, every())
    planned = plan(dataset((item("PubMed-test-1"),)), spec(arms=["mismatch"]))
    assert {trial.exclusion for trial in planned} == {"no_other_question"}


@pytest.mark.statement("E003-09")
def test_that_every_order_in_which_none_keeps_its_place_is_as_likely() -> None:
    rng = np.random.default_rng(1)
    seen = Counter(tuple(derangement("abcd", rng)) for _ in range(4500))
    assert len(seen) == 9
    assert max(seen.values()) < 1.25 * min(seen.values())


@pytest.mark.statement("E003-10", "E003-17")
def test_that_models_that_look_at_nothing_are_asked_without_images_only() -> None:
    models = (MODEL, replace(MODEL, name="bert"))
    arms = ["image", "text_only", "noise", "corruption", "mismatch"]
    blind = {"no_image_models": "gpt-3.5, bert"}
    data = dataset([item(f"PubMed-test_tiny-{i}") for i in range(3)])
    trials = plan(data, spec(models, settings={"arms": arms, **blind}))
    asked = {one.condition.name for one in trials if one.model == "bert"}
    assert asked == {"text_only", "mismatch"}
    others = {one.condition.name for one in trials if one.model == MODEL.name}
    assert len(others) == 3 + 40 + 1
    with pytest.raises(WrongUseError, match="none of its models is shown any"):
        plan(data, spec(models[1:], settings={"arms": ["image"], **blind}))
