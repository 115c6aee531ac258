"""Questions as items, drawn or published, and the names of trials."""

from pathlib import Path

import pytest

from tests.helpers.heal_trials import image
from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.item import Item
from viewer.studies.grounded_vqa.arms import (
    PERTURBED,
    SHAMS,
    Change,
    change_of,
    conditions,
    is_perturbed,
    is_sham,
    pair_change,
    perturbation_of,
    shows_region,
    way_of,
    wording_change,
)
from viewer.studies.grounded_vqa.benchmark import benchmarks_of, drawn_items
from viewer.studies.grounded_vqa.items import (
    About,
    Unreadable,
    area_of,
    asked_about,
    question_of,
)
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.questions import Kind, Question

PARAMS = Params(anatomies=("Left lung", "Right lung", "Heart"))
IMAGES = (
    image("a", [("Left lung", "Pneumonia"), ("Heart", "Cardiomegaly")]),
    image("b", [("Right lung", "Pneumonia")]),
)


def data(items: tuple[Item, ...], images: tuple = IMAGES) -> Dataset:  # type: ignore[type-arg]
    return Dataset("d", "vindr", Path(), images, (), "", items=items)


def published(question: str, answer: str, key: str = "t#1", image: str = "a") -> Item:
    reference = {"answer": answer, "areas": []}
    return Item(
        key, f"patient of {image}", "", (image,), {"question": question}, reference
    )


@pytest.mark.statement("E002-03")
def test_that_drawn_questions_come_back_from_their_items() -> None:
    drawn = drawn_items(data(()), PARAMS, 3)
    items, notices = drawn.items, drawn.notices
    (benchmark,) = benchmarks_of(data(items), PARAMS)
    assert [question_of(item) for item in items] == list(benchmark.questions)
    assert notices == ()
    for item, question in zip(items, benchmark.questions, strict=True):
        area = area_of(item)
        assert area is not None
        masks = {i.key: i.anatomy for i in IMAGES}
        assert area == masks[question.image][question.anatomy]


@pytest.mark.statement("E002-04", "E002-18")
@pytest.mark.parametrize(
    ("text", "about"),
    [
        (
            "Does Left lower lung have Pneumonia",
            About("Left lower lung", "Pneumonia", 0),
        ),
        ("does the heart have edema?", About("heart", "edema", 0)),
        (
            "Is there nodule/mass present in the aorta?",
            About("aorta", "nodule/mass", 1),
        ),
        ("Does heart suffer from Edema?", About("heart", "Edema", 2)),
        ("Are there any abnormalities in the heart?", About("heart", "", 0)),
        ("List all abnormalities in the Aorta", About("Aorta", "", 1)),
        (
            "Are there any abnormalities at the right lower lung?",
            About("right lower lung", "", 2),
        ),
        ("What is this?", None),
    ],
)
def test_that_a_question_s_words_tell_what_it_is_about(
    text: str, about: About | None
) -> None:
    assert asked_about(text) == about


@pytest.mark.statement("E002-04")
def test_that_published_rows_are_questions_with_the_truth_of_their_answers() -> None:
    rows = {
        "Yes, it does.": ("Does Heart have edema", Kind.POSITIVE, ("Edema",)),
        "No": ("Does Heart have edema", Kind.HALLUCINATED, ()),
        "The answer is opacity and nodule": (
            "List all abnormalities in the Heart",
            Kind.ABNORMALITY,
            ("Lung Opacity", "Nodule/Mass"),
        ),
        "There are no abnormalities": (
            "Are there any abnormalities in the Heart?",
            Kind.NORMAL,
            (),
        ),
    }
    for answer, (text, kind, labels) in rows.items():
        question = question_of(published(text, answer))
        assert isinstance(question, Question)
        assert (question.kind, question.labels, question.anatomy) == (
            kind,
            labels,
            "Heart",
        )
        assert question.text == text


def test_that_what_is_no_question_says_why() -> None:
    unreadable = [
        (published("What is this?", "Yes"), "unknown_template"),
        (published("Does Heart have edema", "Perhaps"), "truth_unreadable"),
        (published("List all abnormalities in the Heart", "42"), "truth_unreadable"),
        (Item("x", "p", "", ("a",)), "no_question"),
        (Item("x", "p", "", (), {"question": "?"}), "no_question"),
    ]
    for item, reason in unreadable:
        assert question_of(item) == Unreadable(reason)
    assert area_of(unreadable[0][0]) is None


@pytest.mark.statement("E002-09")
def test_that_published_rows_tell_the_relations_where_there_are_no_boxes() -> None:
    bare = tuple(image(key) for key in "ab")
    items = (
        published("Does Heart have edema", "Yes", "t#1", "a"),
        published("Does Heart have edema", "No", "t#2", "b"),
        published("List all abnormalities in the Left lung", "pneumonia", "t#3", "b"),
        published("Why?", "No", "t#4", "b"),
    )
    (benchmark,) = benchmarks_of(data(items, bare), PARAMS)
    assert benchmark.chart.related("a") == (("Heart", "Edema"),)
    assert benchmark.chart.related("b") == (("Left lung", "Pneumonia"),)
    assert benchmark.chart.co_occurring == (
        ("Heart", "Edema"),
        ("Left lung", "Pneumonia"),
    )
    assert [(n.kind, n.subject) for n in benchmark.notices] == [
        ("unknown_template", "t#4")
    ]


def test_that_questions_of_another_threshold_are_refused() -> None:
    items = drawn_items(data(()), PARAMS, 3).items
    other = Params(anatomies=PARAMS.anatomies, iou_threshold=0.2)
    with pytest.raises(WrongUseError) as error:
        benchmarks_of(data(items), other)
    with pytest.raises(WrongUseError, match="has no questions about anatomies"):
        benchmarks_of(data(()), PARAMS)
    assert str(error.value) == (
        "The questions were drawn with iou above 0.1, but the run has iou above "
        "0.2. Draw them again, or set relation_rule and its threshold to match."
    )


def test_that_a_trial_s_name_tells_what_was_changed() -> None:
    pair = ("Left lung", "Nodule/Mass")
    named = f"a#q1|{pair_change(pair)}"
    assert change_of(named, "tpt-anatomy") == Change(pair=pair)
    assert change_of(f"a#q1|{wording_change(2)}", "tpt-sham") == Change(template=2)
    assert change_of("a#q1|b", "vpt-sham-same") == Change(donor="b")
    assert change_of("a#q1", "plain") == Change()


def test_that_arms_become_conditions() -> None:
    every = Params(
        arms=("loba", "vpt", "tpt", "plain", "crop", "contour"), weights=("0.5", "3")
    )
    bare = Params(arms=("tpt", "vpt"), sham=False)
    names = [c.name for c in conditions(every)]
    assert names == [
        *("plain", "tpt-anatomy", "tpt-disease", "tpt-sham"),
        *("vpt", "vpt-sham-own", "vpt-sham-same"),
        *("contour", "crop", "loba-0.5", "loba-3"),
    ]
    assert [c.name for c in conditions(bare)] == ["tpt-anatomy", "tpt-disease", "vpt"]
    assert [n for n in names if shows_region(n)] == names[-4:]
    assert SHAMS < PERTURBED


def test_that_a_perturbation_may_be_asked_with_a_region() -> None:
    both = Params(arms=("vpt", "contour"), sham=False, perturb_regions=True)
    names = [c.name for c in conditions(both)]
    assert names == ["vpt", "contour", "vpt/contour"]
    assert [(perturbation_of(n), way_of(n)) for n in names] == [
        ("vpt", "plain"),
        ("contour", "contour"),
        ("vpt", "contour"),
    ]
    assert [shows_region(n) for n in names] == [False, True, True]
    assert [is_perturbed(n) for n in names] == [True, False, True]
    assert is_sham("vpt-sham-own/crop")
    assert change_of("a#q1|b", "vpt/contour") == Change(donor="b")
