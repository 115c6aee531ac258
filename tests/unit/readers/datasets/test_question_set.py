"""A benchmark of anybody's, read from its table and its TOML file."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.small_datasets import write_picture
from viewer.domain.case import Dataset
from viewer.domain.errors import OverreadError
from viewer.readers.datasets.catalog import formats_of, read_dataset
from viewer.readers.datasets.naming import patient_key

COLUMNS = {"question": "question", "answer": "answer", "image": "image"}
Rows = Sequence[Mapping[str, object]]


def toml(
    of: str = "yes_no", more: str = "", answer: str = "", **columns: object
) -> str:
    """Return the text of a TOML file; a column set to None is left out."""
    named = {**COLUMNS, **columns}
    lines = [f"{n} = {json.dumps(v)}" for n, v in named.items() if v is not None]
    head = "\n".join(lines)
    return f'[columns]\n{head}\n[answer]\nkind = "{of}"\n{answer}\n{more}\n'


def write(root: Path, text: str, rows: Rows, name: str = "rows.jsonl") -> Path:
    for i, image in enumerate("abc"):
        grey = np.full((6, 8), 40 * i, dtype=np.uint8)
        write_picture(root / "images" / f"{image}.png", grey)
    (root / "question_set.toml").write_text(text, encoding="utf-8")
    if name.endswith(".jsonl"):
        data = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        stream = io.StringIO()
        table = csv.DictWriter(stream, list(dict.fromkeys(n for r in rows for n in r)))
        table.writeheader()
        table.writerows(rows)
        data = stream.getvalue()
    (root / name).write_text(data, encoding="utf-8")
    return root


def read(root: Path, text: str, rows: Rows, name: str = "rows.jsonl") -> Dataset:
    return read_dataset("question-set", write(root, text, rows, name), "set")


def told(dataset: Dataset) -> dict[str, str]:
    """Return what was said of each question that is not as its table has it."""
    quiet = {"unknown_patient", "not_in_tables", "single_patient"}
    return {n.subject: n.text for n in dataset.notices if n.kind not in quiet}


def row(
    question: str = "Is it?", answer: object = "yes", **more: object
) -> dict[str, object]:
    return {"question": question, "answer": answer, "image": "a.png", **more}


CHOICES = toml(
    "choice",
    '[report]\ngroups = ["sex", "organ"]\nmetrics = ["accuracy"]\n'
    '[prompts]\nchoice = "{question} {options}"',
    item="id",
    patient="who",
    options=["A", "B", "C"],
)


def test_that_a_row_is_an_item_with_its_groups_and_its_prompt(tmp_path: Path) -> None:
    options = {"A": "this", "B": "that", "C": ""}
    asked = row("Which?", "B", id="q1", who="Ann", sex="F", organ="lung", **options)
    dataset = read(tmp_path, CHOICES, [asked], "rows.csv")
    assert formats_of(tmp_path)[0] == "question-set"
    (item,) = dataset.items
    assert (item.key, item.kind, item.images) == ("q1", "F", ("a.png",))
    assert item.patient == patient_key("Ann", "")
    assert item.facts == {
        "question": "Which?",
        "answer_kind": "choice",
        "groups": '{"sex": "F", "organ": "lung"}',
        "options": ["this", "that"],
        "prompt": "{question} {options}",
    }
    assert item.reference == {"option": 1, "measured": []}
    assert told(dataset) == {}


@pytest.mark.parametrize(
    ("listed", "answer", "right"),
    [
        (["this", "that"], "that", 1),
        (["A) this", "B) that"], "A", 0),
        ("this | that", "B. that", 1),
        ('["this", "that"]', "this", 0),
        ({"A": "this", "B": "that"}, "B", 1),
    ],
)
def test_that_options_in_one_column_are_read_however_they_are_listed(
    tmp_path: Path, listed: object, answer: str, right: int
) -> None:
    text = toml("choice", options="options")
    (item,) = read(tmp_path, text, [row(answer=answer, options=listed)]).items
    assert item.facts["options"] == ["this", "that"]
    assert item.reference["option"] == right


@pytest.mark.parametrize(("first", "right"), [(0, 1), (1, 0)])
def test_that_answers_may_count_options(tmp_path: Path, first: int, right: int) -> None:
    text = toml("choice", answer=f"first_option = {first}", options="options")
    (item,) = read(tmp_path, text, [row(answer=1, options=["x", "y"])]).items
    assert item.reference["option"] == right


@pytest.mark.parametrize(
    ("kind", "answer", "written", "gold"),
    [
        ("yes_no", "", "No", {"yes": False}),
        ("yes_no", "", True, {"yes": True}),
        ("number", "tolerance = 0.5", "12.5", {"number": 12.5, "off": 0.5}),
        ("number", "relative = 0.1", 20, {"number": 20.0, "off": 2.0}),
        ("text", "", " Pleura ", {"text": "Pleura", "match": "normalised"}),
        ("text", 'match = "judged"', "x", {"text": "x", "match": "judged"}),
        ("cell", "", "D4, d05", {"cells": ["D4", "D5"]}),
        ("point", "within = 3", "1 2", {"point": [1.0, 2.0], "within": 3.0}),
        ("point", "", [1, 2, 3, 4], {"point_in": [1.0, 2.0, 3.0, 4.0]}),
        ("box", "", "1,2,3,4", {"boxes": [[1.0, 2.0, 3.0, 4.0]], "iou": 0.5}),
        ("box", 'units = "fraction"', [0, 0, 0.5, 1], {"boxes": [[0, 0, 4.0, 6.0]]}),
        ("boxes", "iou = 0.3", "[[1,2,3,4],[5,1,6,2]]", {"iou": 0.3}),
        ("boxes", "", [], {"boxes": []}),
    ],
)
def test_that_an_answer_is_read_as_its_kind(
    tmp_path: Path, kind: str, answer: str, written: object, gold: dict[str, object]
) -> None:
    (item,) = read(tmp_path, toml(kind, answer=answer), [row(answer=written)]).items
    assert {name: item.reference[name] for name in gold} == gold
    assert ("grid" in item.facts) is (kind == "cell")


BAD = {
    "no question": (row(""), "It has no question."),
    "no answer": (row(answer=""), "It has no answer."),
    "no yes": (row(answer="maybe"), "Its answer is neither yes nor no."),
    "two": (row(answer=["yes", "no"]), "It has 2 right answers."),
    "kind": (
        row(kind="essay"),
        (
            "Its answer is of the unknown kind 'essay'; the kinds are choice, yes_no, "
            "number, text, cell, point, box, boxes."
        ),
    ),
    "no number": (row(kind="number"), "Its answer is not a number: yes."),
    "no cell": (row(kind="cell"), "Its answer is not a cell, such as D4."),
    "out": (row(kind="cell", answer="K9"), "Its grid has no cell K9."),
    "no point": (
        row(kind="point", answer="1 2 3"),
        "Its answer is not a point, x and y, nor a box.",
    ),
    "no radius": (
        row(kind="point", answer="1 2"),
        (
            "Its answer is a point, and answer.within does not say how many pixels "
            "another one may be off."
        ),
    ),
    "no box": (
        row(kind="box", answer="3 3 1 1"),
        (
            "Its answer is not a box: x and y of the upper left corner, then of the "
            "lower right one."
        ),
    ),
    "two boxes": (
        row(kind="box", answer="[[1,2,3,4],[5,1,6,2]]"),
        "It has 2 boxes, but asks for one.",
    ),
    "nowhere": (
        row(kind="point", answer="1 2 3 4", image=""),
        "It asks for a place but names no image.",
    ),
    "one option": (
        row(kind="choice", options="only", answer="A"),
        "It has 1 option; 2 to 26 can be lettered.",
    ),
    "no option": (
        row(kind="choice", options="x|y", answer="z"),
        "Its answer is not one of its options.",
    ),
}


def test_that_each_bad_row_is_told_in_a_sentence_and_the_rest_is_used(
    tmp_path: Path,
) -> None:
    text = toml(item="id", kind="kind", options="options")
    rows = [{"id": name, **bad} for name, (bad, _) in BAD.items()]
    good = {"id": "good", **row("Good?"), "kind": "", "options": ""}
    dataset = read(tmp_path, text, [good, *rows])
    assert [item.key for item in dataset.items] == ["good"]
    assert told(dataset) == {name: said for name, (_, said) in BAD.items()}


def test_that_a_name_that_comes_again_is_told_and_the_first_row_is_used(
    tmp_path: Path,
) -> None:
    rows = [row(id="q"), row("Another?", id="q"), row("Third?", id="")]
    dataset = read(tmp_path, toml(item="id"), rows)
    assert [item.key for item in dataset.items] == ["q", "rows#3"]
    assert told(dataset) == {"q": "Another row has its name; the first one is used."}


def test_that_a_question_with_two_right_answers_is_left_out_and_a_copy_once(
    tmp_path: Path,
) -> None:
    rows = [
        *(row(id="yes"), row(id="no", answer="no")),
        *(row("Once?", id="one"), row("Once?", id="copy")),
    ]
    dataset = read(tmp_path, toml(item="id"), rows)
    assert [item.key for item in dataset.items] == ["one"]
    text = "{} asks the same but has another right answer; neither is used."
    assert told(dataset) == {
        "yes": text.format("no"),
        "no": text.format("yes"),
        "copy": "It repeats one.",
    }


def test_that_a_text_may_have_the_line_separators_of_unicode(tmp_path: Path) -> None:
    text, path = "First?\u2028Second?\u0085Third?", tmp_path / "rows.jsonl"
    write(tmp_path, toml(item="id"), [])
    path.write_text(json.dumps(row(text, id="q"), ensure_ascii=False), encoding="utf-8")
    (item,) = read_dataset("question-set", tmp_path, "set").items
    assert item.facts["question"] == text


def test_that_a_missing_image_keeps_its_question_and_is_told(tmp_path: Path) -> None:
    rows = [row(id="q", image="gone.png"), row(id="t", image="")]
    dataset = read(tmp_path, toml(item="id"), rows)
    assert [item.images for item in dataset.items] == [("gone.png",), ()]
    assert dataset.images[0].defects["*"] == "missing_file"
    assert told(dataset) == {
        "gone.png": "Its file gone.png is not in the folder.",
        "t": "It has no image, so it can only be asked as text.",
    }


def test_that_rows_of_one_image_with_two_patients_are_told(tmp_path: Path) -> None:
    rows = [row(who="Ann"), row("Again?", who="Ben")]
    dataset = read(tmp_path, toml(patient="who"), rows)
    assert len({item.patient for item in dataset.items}) == 1
    said = "Its rows name different patients; the first one is used."
    assert told(dataset)["a.png"] == said


def test_that_a_table_may_choose_items_and_an_unknown_one_is_told(
    tmp_path: Path,
) -> None:
    (tmp_path / "needs_image.csv").write_text("model,item\nm,q2\nm,q9\n")
    rows = [row(id="q1"), row("Second?", id="q2")]
    text = toml(
        item="id", more='[data]\ntable = "rows.jsonl"\nonly = "needs_image.csv"'
    )
    dataset = read(tmp_path, text, rows)
    assert [item.key for item in dataset.items] == ["q2"]
    assert told(dataset) == {
        "q9": "needs_image.csv names it, but no question that can be used has it.",
        "needs_image.csv": "It leaves out 1 question.",
    }


WRONG = {
    "is not valid TOML": "[columns\n",
    "'columns' is missing in question_set.toml": '[answer]\nkind = "text"\n',
    "'answer.kind' in question_set.toml cannot be 'essay'": toml("essay"),
    "lacks the placeholder {question}": toml(more='[prompts]\nyes_no = "Well?"'),
    "unknown placeholder {quest}": toml(
        more='[prompts]\nyes_no = "{question} {quest}"'
    ),
    "There is no prompt named 'yesno'. Did you mean 'yes_no'": toml(
        more='[prompts]\nyesno = "{question}"'
    ),
    "no column 'imge'. Did you mean 'image'": toml(image="imge"),
    "'column' in question_set.toml is not known. Did you mean": toml(
        more="[column]\nx = 1"
    ),
    "names 'accurate', which is not a metric": toml(
        more='[report]\nmetrics = ["accurate"]'
    ),
    "'columns.options' is missing": toml("choice"),
    "'answer.tolerance' in question_set.toml must be 0 or more": toml(
        "number", answer="tolerance = -1"
    ),
    "'answer.iou' in question_set.toml must be above 0": toml("box", answer="iou = 0"),
    "cannot be named with letters": toml("cell", answer='grid = "40"'),
    "names the table 'x.csv', which is not in its folder": toml(
        more='[data]\ntable = "x.csv"'
    ),
    "lies outside the folder of its TOML file": toml(
        more='[data]\ntable = "../rows.jsonl"'
    ),
    "'question_set.toml' is not a table": toml(
        more='[data]\ntable = "question_set.toml"'
    ),
    "No table beside question_set.toml has the columns asked, answer": toml(
        question="asked"
    ),
    "'none.csv' names no item": toml(more='[data]\nonly = "none.csv"'),
}


@pytest.mark.parametrize("said", WRONG)
def test_that_a_wrong_description_is_refused_in_a_sentence(
    said: str, tmp_path: Path
) -> None:
    with pytest.raises(OverreadError) as refused:
        read(tmp_path, WRONG[said], [row()])
    assert said in str(refused.value)


def test_that_no_usable_question_and_no_toml_file_are_one_sentence_each(
    tmp_path: Path,
) -> None:
    with pytest.raises(OverreadError, match=r"No question of .* can be .*rows#1: It"):
        read(tmp_path / "bad", toml(), [row(answer="maybe")])
    with pytest.raises(OverreadError, match=r"There is no question_set\.toml in"):
        read_dataset("question-set", tmp_path, "set")


def png(grey: int) -> bytes:
    stream = io.BytesIO()
    Image.new("L", (8, 6), grey).save(stream, "PNG")
    return stream.getvalue()


def test_that_parquet_of_a_hugging_face_folder_is_read_with_its_images(
    tmp_path: Path,
) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    from pyarrow import parquet

    (tmp_path / "data").mkdir()
    cells = [{"bytes": png(9), "path": "x.png"}, {"bytes": png(99), "path": "x.png"}]
    for split in ("train", "test"):
        rows = [row(f"{split} {i}?", image=cell) for i, cell in enumerate(cells)]
        path = tmp_path / "data" / f"{split}-00000-of-00001.parquet"
        parquet.write_table(pa.Table.from_pylist(rows), path)
    more = '[data]\ntable = "data/test-*.parquet"'
    (tmp_path / "question_set.toml").write_text(toml(more=more))
    dataset = read_dataset("question-set", tmp_path, "set")
    assert [i.facts["question"] for i in dataset.items] == ["test 0?", "test 1?"]
    assert len({image.sha256 for image in dataset.images}) == 2
    assert not any(image.defects for image in dataset.images)
    assert told(dataset) == {}


def test_that_metadata_beside_images_is_read(tmp_path: Path) -> None:
    for i, name in enumerate("ab"):
        path = tmp_path / "test" / f"{name}.png"
        write_picture(path, np.full((6, 8), i, dtype=np.uint8))
    rows = ("file_name,question,answer", "a.png,One?,yes", "b.png,Two?,no")
    (tmp_path / "test" / "metadata.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "set.toml").write_text(toml(image="file_name"))
    dataset = read_dataset("question-set", tmp_path / "set.toml", "set")
    assert [i.key for i in dataset.items] == ["test/metadata#1", "test/metadata#2"]
    assert not any(image.defects for image in dataset.images)
