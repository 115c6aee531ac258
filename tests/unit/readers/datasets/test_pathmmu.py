import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.helpers.small_datasets import write_picture
from viewer.domain.case import Dataset, Notice, View
from viewer.domain.errors import UnreadableInputError
from viewer.readers.datasets.catalog import formats_of, read_dataset
from viewer.readers.datasets.choice_rows import REJECTED

Entry = dict[str, object]
OPTIONS = ["A) Necrosis", "B) Fibrosis (old)", "C) Ki-67 (>20%)"]


def entry(number: object, image: object = "a.png", **changed: object) -> Entry:
    whole = {"No": number, "img": image, "question": "What is seen?"}
    return {**whole, "options": OPTIONS, "answer": OPTIONS[1], **changed}


def picture(shade: int) -> npt.NDArray[np.uint8]:
    return np.full((6, 8), shade, dtype=np.uint8)


def written(root: Path, table: object, *images: str) -> Dataset:
    """Write a table beside images of different greys, and read it."""
    for shade, name in enumerate(images or ("a.png",)):
        write_picture(root / "images" / name, picture(shade))
    (root / "data.json").write_text(json.dumps(table))
    return read_dataset("pathmmu", root, "tiles")


def rejected(dataset: Dataset) -> dict[str, str]:
    return {n.subject: n.text for n in dataset.notices if n.kind == REJECTED}


def notices(dataset: Dataset, kind: str) -> list[Notice]:
    return [notice for notice in dataset.notices if notice.kind == kind]


@pytest.mark.statement("E003-01")
def test_that_a_question_is_read_with_its_answers_place_and_all_its_words(
    tmp_path: Path,
) -> None:
    table = {"PubMed": {"val": [entry(7, explanation="Because.")]}}
    dataset = written(tmp_path, table)
    item = dataset.items[0]
    assert (item.key, item.kind, item.images) == ("PubMed-val-7", "PubMed", ("a.png",))
    assert item.patient == "a.png"
    assert item.facts == {
        "number": "7",
        "subset": "PubMed",
        "split": "val",
        "question": "What is seen?",
        "options": ["Necrosis", "Fibrosis (old)", "Ki-67 (>20%)"],
    }
    assert item.reference == {
        "option": 1,
        "answer": "B) Fibrosis (old)",
        "written": OPTIONS,
        "explanation": "Because.",
    }
    assert dataset.images[0].view is View.OTHER
    assert formats_of(tmp_path)[0] == "pathmmu"
    assert formats_of(tmp_path / "data.json")[0] == "pathmmu"
    assert not dataset.notices


@pytest.mark.statement("E003-01")
@pytest.mark.parametrize(
    ("answer", "option"),
    [
        ("C", 2),
        ("c", 2),
        ("(C) Ki-67 (>20%)", 2),
        ("Ki-67 (>20%)", 2),
        ("c) KI-67  (>20%)", 2),
        ("A)", 0),
    ],
)
def test_that_an_answer_may_be_a_letter_words_or_both(
    answer: str, option: int, tmp_path: Path
) -> None:
    dataset = written(tmp_path, {"Atlas": {"test": [entry(1, answer=answer)]}})
    assert dataset.items[0].reference["option"] == option


@pytest.mark.statement("E003-01")
@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"answer": "D) Else"}, "Its answer is not one of its options."),
        ({"answer": "D"}, "Its answer is not one of its options."),
        ({"answer": ""}, "It has no answer."),
        ({"answer": None}, "It has no answer."),
        ({"answer": "Else"}, "Its answer is not one of its options."),
        ({"answer": "B) Else"}, "Its answer is not one of its options."),
        (
            {"answer": "A) Fibrosis (old)"},
            "Its answer's letter is A, but its words are those of B.",
        ),
        (
            {"options": ["A) x", "B) X "], "answer": "x"},
            "Its answer's words are those of A and of B, and no letter decides.",
        ),
        ({"options": ["A) x"]}, "It has 1 option; 2 to 26 can be lettered"),
        ({"options": ["x"] * 27}, "It has 27 options; 2 to 26 can be lettered"),
        ({"options": None}, "It has 0 options"),
        ({"options": ["B) x", "A) y"]}, "Its options' letters are not in order."),
        ({"options": ["A) x", "B) "]}, "Its option B is empty."),
        ({"question": " "}, "It has no question."),
        ({"question": None}, "It has no question."),
    ],
)
def test_that_what_cannot_be_judged_is_left_out_with_one_sentence(
    changed: Entry, sentence: str, tmp_path: Path
) -> None:
    table = {"PubMed": {"test": [entry(1), entry(2, **changed)]}}
    dataset = written(tmp_path, table)
    assert [item.key for item in dataset.items] == ["PubMed-test-1"]
    (text,) = rejected(dataset).values()
    assert text.startswith(sentence)
    assert text.endswith(".")


@pytest.mark.statement("E003-01")
def test_that_options_without_letters_and_options_alike_are_kept_as_they_are(
    tmp_path: Path,
) -> None:
    plain = entry(1, options=["α-SMA", "A) odd", "desmin"], answer="desmin")
    alike = entry(2, options=["A) x", "B) X "], answer="B) X")
    lower = entry(3, options=["a) one", "b) two"], answer="b) two")
    dataset = written(tmp_path, {"PubMed": {"test": [plain, alike, lower]}})
    found = [(i.facts["options"], i.reference["option"]) for i in dataset.items]
    assert found == [
        (["α-SMA", "A) odd", "desmin"], 2),
        (["x", "X"], 1),
        (["one", "two"], 1),
    ]


@pytest.mark.statement("E003-01")
def test_that_a_question_that_comes_again_counts_once_and_with_the_tiny_test(
    tmp_path: Path,
) -> None:
    table = {
        "PubMed": {
            "test": [entry(1), entry(2, question="Else?"), entry(2)],
            "test_tiny": [entry(1)],
            "val": [entry(1, question="Third?")],
        },
        "Atlas": {"test": [entry(1)]},
    }
    dataset = written(tmp_path, table)
    assert {item.key for item in dataset.items} == {
        *("PubMed-test_tiny-1", "PubMed-test-2", "PubMed-val-1", "Atlas-test-1")
    }
    assert rejected(dataset) == {
        "PubMed-test-1": "It repeats PubMed-test_tiny-1.",
        "PubMed-test-2": (
            "Another question of PubMed, test, has the number 2; the first one is used."
        ),
    }


@pytest.mark.statement("E003-01")
def test_that_a_question_without_a_number_is_named_by_its_row(tmp_path: Path) -> None:
    dataset = written(tmp_path, {"PubMed": {"test": [entry(None), entry(None)]}})
    assert [i.key for i in dataset.items] == ["PubMed-test-row1", "PubMed-test-row2"]


@pytest.mark.statement("E003-01")
def test_that_a_missing_image_is_named_and_its_question_kept(tmp_path: Path) -> None:
    table = {"PubMed": {"test": [entry(1, "gone.png"), entry(2, None), entry(3)]}}
    dataset = written(tmp_path, table)
    assert len(dataset.items) == 3
    gone = next(image for image in dataset.images if image.key == "gone.png")
    assert gone.defects == {"*": "missing_file"}
    assert [n.subject for n in notices(dataset, "missing_file")] == ["gone.png"]
    assert [n.subject for n in notices(dataset, "no_image")] == ["PubMed-test-2"]


@pytest.mark.statement("E003-13")
def test_that_a_question_may_show_several_images(tmp_path: Path) -> None:
    table = {"PubMed": {"test": [entry(1, ["b.png", "a.png"])]}}
    dataset = written(tmp_path, table, "a.png", "b.png")
    assert dataset.items[0].images == ("b.png", "a.png")
    assert {image.key for image in dataset.images} == {"a.png", "b.png"}


@pytest.mark.statement("E003-01")
def test_that_the_same_image_in_two_splits_is_found_by_its_bytes(
    tmp_path: Path,
) -> None:
    write_picture(tmp_path / "images" / "copy.png", picture(0))
    table = {
        "PubMed": {
            "val": [entry(1, "a.png")],
            "test": [entry(1, "copy.png", question="Q?"), entry(2, "b.png")],
            "test_tiny": [entry(3, "b.png", question="R?")],
        }
    }
    dataset = written(tmp_path, table, "a.png", "b.png")
    (found,) = notices(dataset, "image_in_two_splits")
    assert "copy.png" in found.text
    assert {"val", "test"} <= set(found.text.rstrip(".").replace(",", "").split())


@pytest.mark.statement("E003-01")
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "data.json is not JSON."),
        ("[]", "data.json is not laid out as PathMMU's table."),
        ('{"PubMed": []}', "data.json is not laid out as PathMMU's table."),
        ('{"PubMed": {"test": {}}}', "data.json is not laid out as PathMMU's table."),
        ('{"PubMed": {"test": [1]}}', "data.json is not laid out as PathMMU's table."),
        ('{"PubMed": {"test": []}}', "data.json contains no usable question."),
    ],
)
def test_that_another_layout_gets_one_sentence(
    content: str, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "data.json").write_text(content)
    with pytest.raises(UnreadableInputError) as raised:
        read_dataset("pathmmu", tmp_path, "tiles")
    assert raised.value.what == sentence
    assert raised.value.how
    assert "pathmmu" not in formats_of(tmp_path)


EXPERTS = """group,reader,item,answer
I,ann,PubMed-test-1,B
I,ben,PubMed-test-1,c) Ki-67 (>20%)
II,cat,PubMed-test-1,Necrosis
II,cat,PubMed-test-1,A
II,dan,PubMed-test-1,Z
II,,PubMed-test-1,A
II,dan,PubMed-test-9,A
"""


@pytest.mark.statement("E003-11")
def test_that_experts_answers_are_read_and_odd_ones_named(tmp_path: Path) -> None:
    (tmp_path / "experts.csv").write_text(EXPERTS, encoding="utf-8-sig")
    dataset = written(tmp_path, {"PubMed": {"test": [entry(1), entry(2)]}})
    assert dataset.items[0].reference["experts"] == [
        ["I", "ann", 1],
        ["I", "ben", 2],
        ["II", "cat", 0],
    ]
    assert "experts" not in dataset.items[1].reference
    assert [n.text for n in notices(dataset, "expert_answer")] == [
        "Row 4 of experts.csv is not used: this reader has already answered the item.",
        "Row 5 of experts.csv is not used: Its answer is not one of its options.",
        "Row 6 of experts.csv is not used: it lacks a group or a reader.",
        "Row 7 of experts.csv is not used: there is no such item.",
    ]


@pytest.mark.statement("E003-11")
def test_that_experts_may_be_json_as_well(tmp_path: Path) -> None:
    row = {"group": "I", "reader": "ann", "item": "PubMed-test-1", "answer": "A"}
    (tmp_path / "experts.json").write_text(json.dumps([row]))
    dataset = written(tmp_path, {"PubMed": {"test": [entry(1)]}})
    assert dataset.items[0].reference["experts"] == [["I", "ann", 0]]


@pytest.mark.statement("E003-11")
@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("experts.csv", b"group,reader,item\nI,ann,x\n", "lacks one of group, reader"),
        ("experts.csv", b"group,reader,item,answer\nI,ann\n", "lacks one of group"),
        ("experts.json", b"[1]", "lacks one of group"),
        ("experts.json", b"{", "is not JSON"),
        ("experts.json", b"\xff\xfe\x00", "cannot be read as text"),
    ],
)
def test_that_a_table_of_experts_of_another_shape_gets_one_sentence(
    name: str, content: bytes, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UnreadableInputError, match=sentence) as raised:
        written(tmp_path, {"PubMed": {"test": [entry(1)]}})
    assert raised.value.how


REVIEWS = """reader,item,answerable_without_image,inferable,wrong_answer,atypical
ann,PubMed-test-1,no,yes,no,no
ben,PubMed-test-1,Yes,no,no,no
ben,PubMed-test-1,no,yes,no,no
cat,PubMed-test-1,maybe,yes,no,no
,PubMed-test-1,no,yes,no,no
ann,PubMed-test-9,no,yes,no,no
"""


@pytest.mark.statement("E003-12")
def test_that_reviews_are_read_and_odd_ones_named(tmp_path: Path) -> None:
    (tmp_path / "reviews.csv").write_text(REVIEWS)
    dataset = written(tmp_path, {"PubMed": {"test": [entry(1), entry(2)]}})
    assert dataset.items[0].reference["reviews"] == [
        ["ann", []],
        ["ben", ["answerable_without_image", "inferable"]],
    ]
    assert "reviews" not in dataset.items[1].reference
    assert [n.text for n in notices(dataset, "item_review")] == [
        "Row 3 of reviews.csv is not used: this reader has already reviewed the item.",
        "Row 4 of reviews.csv is not used: every criterion must be yes or no.",
        "Row 5 of reviews.csv is not used: it names no reader.",
        "Row 6 of reviews.csv is not used: there is no such item.",
    ]


@pytest.mark.statement("E003-12")
def test_that_a_review_without_a_criterion_gets_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "reviews.json").write_text('[{"reader": "ann", "item": "x"}]')
    with pytest.raises(UnreadableInputError, match="lacks one of reader, item, answer"):
        written(tmp_path, {"PubMed": {"test": [entry(1)]}})


@pytest.mark.statement("E003-11", "E003-12")
def test_that_tables_about_other_questions_are_told_once(tmp_path: Path) -> None:
    asked = {"question": "What?", "options": ["A) x", "B) y"], "answer": "A"}
    table = {"PubMed": {"test": [{"No": 1, "img": None, **asked}]}}
    (tmp_path / "data.json").write_text(json.dumps(table))
    (tmp_path / "images").mkdir()
    experts = "group,reader,item,answer\nI,a,Atlas-val-1,A\nI,a,Atlas-val-2,B\n"
    (tmp_path / "experts.csv").write_text(experts)
    criteria = "answerable_without_image,inferable,wrong_answer,atypical"
    review = f"reader,item,{criteria}\na,Atlas-val-1,no,yes,no,no\n"
    (tmp_path / "reviews.csv").write_text(review)
    dataset = read_dataset("pathmmu", tmp_path, "tiles")
    told = {n.subject: n.text for n in dataset.notices}
    assert told["experts.csv"] == "Its 2 rows are about other questions; none is used."
    assert told["reviews.csv"] == "Its 1 row is about other questions; none is used."
    assert "experts" not in dataset.items[0].reference


@pytest.mark.statement("E003-12")
def test_that_explanations_of_some_options_only_are_none(tmp_path: Path) -> None:
    asked = {"question": "What?", "options": ["A) x", "B) y"], "answer": "A"}
    rows = [
        {"No": 1, "img": None, **asked, "explanations": ["yes", "no"]},
        {"No": 2, "img": None, **asked, "explanations": ["yes"]},
        {"No": 3, "img": None, **asked, "explanations": "yes"},
    ]
    (tmp_path / "data.json").write_text(json.dumps({"PubMed": {"test": rows}}))
    items = read_dataset("pathmmu", tmp_path, "tiles").items
    assert [item.reference.get("explanations") for item in items] == [
        *(["yes", "no"], None, None)
    ]
