import json
from pathlib import Path

import pytest

from viewer.domain.errors import UnreadableInputError
from viewer.domain.rubric import (
    CODE_WORDS,
    LEVELS,
    OF_TEXT,
    RUBRIC,
    Dimension,
    FailureCode,
    Grade,
)
from viewer.readers.grades import COLUMNS, read_grades

TEXT = {"process": 5, "execution": 2, "synthesis": 4, "language": 3}
IMAGE = {"image_content": 1, "image_style": 5}


def csv(path: Path, *rows: str, header: str = ",".join(COLUMNS)) -> Path:
    file = path / "grades.csv"
    file.write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")
    return file


def as_json(path: Path, document: object) -> Path:
    file = path / "grades.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


def entry(**change: object) -> dict[str, object]:
    return {
        "reader": "A",
        "model": "o3",
        "item": "s1",
        "scores": dict(TEXT),
        **change,
    }


@pytest.mark.statement("E001-10", "E001-11")
def test_that_texts_and_images_are_read_with_their_dimensions(tmp_path: Path) -> None:
    found = read_grades(csv(tmp_path, "A,o3,s1,,5,2,4,3,,", "A,o3,s1,1,,,,,1,5"))
    text, image = found.grades
    assert text == Grade(
        "A", "o3", "s1", None, {Dimension(k): v for k, v in TEXT.items()}
    )
    assert tuple(text.scores) == OF_TEXT
    assert text.content == 2
    assert image.image == 1
    assert image.scores == {Dimension(k): v for k, v in IMAGE.items()}
    assert image.content is None


def test_that_json_says_the_same_as_csv(tmp_path: Path) -> None:
    header = ",".join(COLUMNS) + ",codes,concerns,abstained,comment_language"
    table = csv(
        tmp_path,
        "A,o3,s1,,5,2,4,3,,,verbose; left_right_swap,wrong side;box 2 large,no,wordy",
        "B,o3,s1,2,,,,,1,5,,,,",
        header=header,
    )
    document = as_json(
        tmp_path,
        {
            "grades": [
                entry(
                    image=None,
                    codes=["verbose", "left_right_swap"],
                    concerns=["wrong side", "box 2 large"],
                    comments={"language": "wordy"},
                    abstained=False,
                ),
                entry(reader="B", image=2.0, scores=IMAGE),
            ]
        },
    )
    assert read_grades(table) == read_grades(document)
    first = read_grades(document).grades[0]
    assert first.codes == (FailureCode.VERBOSE, FailureCode.LEFT_RIGHT_SWAP)
    assert first.comments == {Dimension.LANGUAGE: "wordy"}
    assert first.abstained is False


def test_that_a_grade_names_its_repeat_and_a_comment_its_dimension(
    tmp_path: Path,
) -> None:
    header = ",".join(COLUMNS) + ",repeat,comment_image_style"
    rows = ("A,o3,s1,,5,2,4,3,,,,", "A,o3,s1,,5,2,4,3,,,1,", "A,o3,s1,2,,,,,1,5,2,neat")
    found = read_grades(csv(tmp_path, *rows, header=header)).grades
    assert [grade.repeat for grade in found] == [0, 1, 2]
    assert found[2].comments == {Dimension.IMAGE_STYLE: "neat"}
    assert found[1].output == ("o3", "s1", 1)
    listed = {"grades": [entry(repeat=1)]}
    assert read_grades(as_json(tmp_path, listed)).grades == found[1:2]
    with pytest.raises(UnreadableInputError) as caught:
        read_grades(csv(tmp_path, "A,o3,s1,,5,2,4,3,,,-1,", header=header))
    assert "'-1' as repeat is not the number of a repeat, 0" in caught.value.what
    with pytest.raises(UnreadableInputError) as caught:
        read_grades(csv(tmp_path, "A,o3,s1,,5,2,4,3,,,,wordy", header=header))
    assert caught.value.what == (
        "In line 2 of 'grades.csv', comment_image_style is about a dimension that "
        "is not graded there."
    )


def test_that_nothing_is_used_of_who_has_withdrawn(tmp_path: Path) -> None:
    table = csv(
        tmp_path,
        "A,o3,s1,,5,2,4,3,,,no",
        "B,o3,s1,,5,2,4,3,,,",
        "B,o3,s2,,5,2,4,3,,,yes",
        header=",".join(COLUMNS) + ",withdrawn",
    )
    found = read_grades(table)
    assert [grade.reader for grade in found.grades] == ["A"]
    assert found.withdrawn == ("B",)
    listed = {"grades": [entry(), entry(reader="B")], "withdrawn": ["B"]}
    assert read_grades(as_json(tmp_path, listed)) == found


def test_that_readers_stand_by_how_much_they_graded(tmp_path: Path) -> None:
    rows = [
        f"{r},o3,s{i},,5,2,4,3,,"
        for r, n in (("A", 1), ("C", 2), ("B", 2))
        for i in range(n)
    ]
    assert read_grades(csv(tmp_path, *rows)).readers == ("B", "C", "A")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            "A,o3,s1,,5,2,,3,,",
            (
                "In line 2 of 'grades.csv', the grade of 'A' of the text of 's1' has "
                "no synthesis."
            ),
        ),
        ("A,o3,s1,1,,,,,4,", "the grade of 'A' of image 1 of 's1' has no image_style."),
        ("A,o3,s1,,5,2,4,3,1,", "image_content is given for the text of 's1'"),
        ("A,o3,s1,,6,2,4,3,,", "'6' as process is not a score from 1 to 5 by 'A'."),
        ("A,o3,s1,,4.5,2,4,3,,", "'4.5' as process is not a score from 1 to 5"),
        ("A,o3,s1,,²,2,4,3,,", "'²' as process is not"),
        ("A,o3,s1,0,,,,,4,5", "'0' as image is not the number of an image from 1."),
        (",o3,s1,,5,2,4,3,,", "the grade names no reader."),
        ("A,o3,,,5,2,4,3,,", "the grade names no item."),
        ("A,o3,s1,,5,2,4,3,,,x", "there are more cells than columns."),
        (
            "A,o3,s1,,5,2,4,3,,\nA,o3,s1,,5,2,4,3,,",
            "In line 3 of 'grades.csv', 'A' grades the same output of 's1' twice.",
        ),
    ],
)
def test_that_a_bad_grade_is_told_in_one_sentence(
    tmp_path: Path, row: str, words: str
) -> None:
    with pytest.raises(UnreadableInputError) as caught:
        read_grades(csv(tmp_path, row))
    assert words in caught.value.what
    assert caught.value.how == "Correct it in the file and import it again."


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"grades": []}, "contains no list 'grades'"),
        ([], "contains no list 'grades'"),
        ({"grades": [3]}, "In grade 1 of 'grades.json', there is no grade."),
        ({"grades": [entry(codes=["sloppy"])]}, "'sloppy' is not one of the codes"),
        (
            {"grades": [entry(abstained="maybe")]},
            "'maybe' as abstained is not yes or no",
        ),
        ({"grades": [entry(scores=None)]}, "of the text of 's1' has no process."),
        ({"grades": [entry(scores={**TEXT, "language": 2.5})]}, "'2.5' as language"),
    ],
)
def test_that_a_bad_document_is_told_in_one_sentence(
    tmp_path: Path, document: object, words: str
) -> None:
    with pytest.raises(UnreadableInputError, match=words):
        read_grades(as_json(tmp_path, document))


def test_that_a_file_that_is_none_is_told_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="has no grade"):
        read_grades(csv(tmp_path))
    short = csv(tmp_path, "A,o3,s1,5", header="reader,model,item,process")
    with pytest.raises(UnreadableInputError, match="has no column 'image'"):
        read_grades(short)
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    with pytest.raises(UnreadableInputError, match="cannot be read as JSON"):
        read_grades(broken)
    with pytest.raises(UnreadableInputError, match="does not exist"):
        read_grades(tmp_path / "none.json")


@pytest.mark.statement("E001-10", "E001-23")
def test_that_every_dimension_has_a_heading_and_an_anchor_for_each_level() -> None:
    assert set(RUBRIC) == set(Dimension)
    assert len(Dimension) == 6
    anchors = [anchor for row in RUBRIC.values() for anchor in row.anchors]
    assert all(len(row.anchors) == len(LEVELS) for row in RUBRIC.values())
    assert len(set(anchors)) == 6 * 5
    assert Dimension.IMAGE_CONTENT.words == "Image Content"
    assert RUBRIC[Dimension.LANGUAGE].heading.startswith("Was the response clear, conc")
    assert set(CODE_WORDS) == set(FailureCode)
    assert len(FailureCode) == 10
