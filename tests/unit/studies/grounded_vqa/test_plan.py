"""What is planned of questions that cannot be asked, or not in every way."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.heal_trials import ANATOMIES, image
from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.exchange import ModelProfile
from viewer.domain.item import Item
from viewer.domain.run import RunSpec, Trial
from viewer.services.configuring.study_file import make_spec
from viewer.studies.grounded_vqa.arms import Change, change_of
from viewer.studies.grounded_vqa.benchmark import drawn_items
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.plan import plan
from viewer.studies.grounded_vqa.questions import Kind

PARAMS = Params(anatomies=ANATOMIES)
EVERY_TEST = {
    *("tpt-anatomy", "tpt-disease", "tpt-sham"),
    *("vpt", "vpt-sham-own", "vpt-sham-same"),
}


def spec(**overrides: object) -> RunSpec:
    """Return the settings of a run about the small images."""
    return make_spec(
        study="grounded_vqa",
        dataset="d",
        preset="heal2025",
        seed=0,
        repeats=1,
        models=(ModelProfile("m", "scripted", {"answer": "Yes"}),),
        overrides={"anatomies": list(ANATOMIES), **overrides},
    )


def data(images: Sequence[DatasetImage], items: tuple[Item, ...] = ()) -> Dataset:
    """Return images, with questions drawn about them where none are given."""
    bare = Dataset("d", "vindr", Path(), tuple(images), (), "")
    return replace(bare, items=items or drawn_items(bare, PARAMS, 0).items)


def broken(dataset: Dataset, key: str) -> Dataset:
    """Return a data set of which one image cannot be read any more."""
    images = tuple(
        replace(i, defects={"*": "unreadable"}) if i.key == key else i
        for i in dataset.images
    )
    return replace(dataset, images=images)


def published(key: str, about: str, question: str, answer: str) -> Item:
    """Return a published row, whose patient has only this image."""
    return Item(
        *(key, f"patient of {about}", "closed", (about,)),
        facts={"question": question},
        reference={"answer": answer, "areas": []},
    )


@pytest.fixture
def images() -> tuple[DatasetImage, ...]:
    """Three images with a finding each, and a healthy one."""
    return (
        image("a", [("Left lung", "Pneumonia"), ("Heart", "Cardiomegaly")]),
        image("b", [("Right lung", "Pneumonia"), ("Left lung", "Edema")]),
        image("c", [("Left lung", "Pneumonia")]),
        image("d"),
    )


def of_question(trials: Sequence[Trial], key: str) -> list[Trial]:
    """Return the trials of one question and of its perturbations."""
    return [t for t in trials if t.item == key or t.item.startswith(f"{key}|")]


@pytest.mark.statement("E002-03", "E002-09", "E002-10")
def test_that_every_trial_about_an_image_that_cannot_be_read_is_excluded(
    images: tuple[DatasetImage, ...],
) -> None:
    whole = data(images)
    positive = next(
        i for i in whole.items if i.kind == Kind.POSITIVE and i.images == ("a",)
    )
    before = of_question(plan(whole, spec()), positive.key)
    after = of_question(plan(broken(whole, "a"), spec()), positive.key)
    assert {t.condition.name for t in after} == {"plain", *EVERY_TEST}
    assert {t.exclusion for t in after} == {"unreadable"}
    assert len({(t.item, t.condition) for t in after}) == len(after)
    assert {t.condition for t in before} == {t.condition for t in after}
    assert not all(t.exclusion for t in before)
    assert len(plan(broken(whole, "a"), spec())) >= len(whole.items)


@pytest.mark.statement("E002-10")
def test_that_an_image_that_cannot_be_read_gives_no_region(
    images: tuple[DatasetImage, ...],
) -> None:
    rows = (
        published("t#1", "a", "Does Left lung have Pneumonia", "Yes"),
        published("t#2", "b", "Does Left lung have Pneumonia", "No"),
        published("t#3", "d", "Does Left lung have Pneumonia", "No"),
    )
    bare = tuple(replace(one, boxes={}) for one in images)
    both = plan(data(bare, rows), spec())
    one = plan(broken(data(bare, rows), "d"), spec())
    none = plan(broken(broken(data(bare, rows), "d"), "b"), spec())
    given = [
        {t.item.rpartition("|")[2] for t in trials if t.condition.name == "vpt"}
        for trials in (both, one, none)
    ]
    assert given[0] <= {"b", "d"}
    assert given[1:] == [{"b"}, {"none"}]
    (without,) = (t for t in none if t.condition.name == "vpt")
    assert without.exclusion == "no_donor"


@pytest.mark.statement("E002-10")
def test_that_an_image_without_the_mask_gives_no_region(
    images: tuple[DatasetImage, ...],
) -> None:
    rows = (
        published("t#1", "a", "Does Left lung have Pneumonia", "Yes"),
        published("t#2", "d", "Does Left lung have Pneumonia", "No"),
    )
    bare = [replace(one, boxes={}) for one in images]
    bare[3] = replace(bare[3], anatomy={})
    (test,) = (t for t in plan(data(bare, rows), spec()) if t.condition.name == "vpt")
    assert test.item == "t#1|none"
    assert test.exclusion == "no_donor"


def test_that_the_name_of_a_trial_without_a_change_tells_none() -> None:
    for test in EVERY_TEST:
        assert change_of("t#1|none", test) == Change()
