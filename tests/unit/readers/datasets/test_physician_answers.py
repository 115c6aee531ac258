import json
from pathlib import Path

import pytest

from tests.helpers.evidence_cases import CHINESE, ENGLISH
from viewer.domain.errors import UnreadableInputError
from viewer.domain.physician import Physician
from viewer.readers.datasets.physician_answers import read_physician_answers

CASES = (ENGLISH, CHINESE)
HEADER = "reader,case,differential,option,flag,explanation,version,withdrawn,years"
FIRST = "both,case-1,Sarcoidosis; Tuberculosis,A,,,1,,35"


def table(folder: Path, *lines: str) -> Path:
    path = folder / "answers.csv"
    path.write_text("\n".join((HEADER, *lines)) + "\n", encoding="utf-8")
    return path


def document(folder: Path, content: object) -> Path:
    path = folder / "answers.json"
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path


@pytest.mark.statement("E004-20")
def test_that_answers_are_read_from_a_table(tmp_path: Path) -> None:
    found = read_physician_answers(
        table(tmp_path, FIRST, "both,case-2,骨转移癌,骨转移癌,yes,No scan,,,"), CASES
    )
    one, two = found.answers
    assert one.differential == ("Sarcoidosis", "Tuberculosis")
    assert (one.option, two.option) == (0, 1)
    assert (two.flagged, two.explanation) == (True, "No scan")
    assert found.physicians == (Physician("both", years=35),)


@pytest.mark.statement("E004-20", "E004-24")
def test_that_answers_and_profiles_are_read_from_json(tmp_path: Path) -> None:
    answer = {"reader": "r1", "case": "case-1", "differential": ["Gout"], "option": "c"}
    people = [{"name": "r1", "board": "CH", "years": 41, "language": "English"}]
    path = document(tmp_path, {"answers": [answer], "physicians": people})
    found = read_physician_answers(path, CASES)
    assert found.answers[0].option == 2
    assert found.physicians == (Physician("r1", "CH", 41, "English"),)


@pytest.mark.statement("E004-20")
def test_that_the_differential_before_the_options_were_seen_counts(
    tmp_path: Path,
) -> None:
    later = "both,case-1,Lymphoma,C,,,2,,"
    found = read_physician_answers(table(tmp_path, later, FIRST), CASES)
    assert [a.version for a in found.answers] == [1]
    assert [a.version for a in found.versions] == [1, 2]


@pytest.mark.statement("E004-20")
def test_that_who_withdrew_is_left_out(tmp_path: Path) -> None:
    lines = (FIRST, "gone,case-1,Gout,,,,,yes,", "gone,case-2,Gout,,,,,,")
    found = read_physician_answers(table(tmp_path, *lines), CASES)
    assert {a.reader for a in found.versions} == {"both"}
    assert found.withdrawn == ("gone",)
    assert {p.name for p in found.physicians} == {"both"}


BAD = {
    "no_case": ("both,case-9,Gout,A,,,,,", "there is no case 'case-9'"),
    "no_reader": (",case-1,Gout,A,,,,,", "no reader is named"),
    "no_list": ("both,case-1,,A,,,,,", "there is no differential"),
    "no_option": (
        "both,case-1,Gout,E,,,,,",
        "'E' is not one of the options of 'case-1'",
    ),
    "odd_flag": (
        "both,case-1,Gout,A,maybe,,,,",
        "flag is 'maybe' instead of yes or no",
    ),
    "odd_years": ("both,case-1,Gout,A,,,,,old", "years is 'old'"),
    "too_wide": ("both,case-1,Gout,A,,,,,3,4", "there are more cells than columns"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.statement("E004-20")
def test_that_a_wrong_line_is_named(tmp_path: Path, name: str) -> None:
    line, sentence = BAD[name]
    with pytest.raises(UnreadableInputError) as raised:
        read_physician_answers(table(tmp_path, line), CASES)
    assert "In line 2 of 'answers.csv'" in str(raised.value)
    assert sentence in str(raised.value)


def test_that_an_answer_that_comes_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match=r"In line 3 .* again"):
        read_physician_answers(table(tmp_path, FIRST, FIRST), CASES)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"answers": []}, "contains no list 'answers'"),
        ([], "contains no list 'answers'"),
        ({"answers": [3]}, "In answer 1 of 'answers.json', there is nothing to read"),
        (
            {"answers": [{"reader": "r", "case": "case-1", "differential": "Gout"}]},
            "there is no differential",
        ),
    ],
)
def test_that_json_of_another_shape_is_told(
    tmp_path: Path, content: object, sentence: str
) -> None:
    with pytest.raises(UnreadableInputError) as raised:
        read_physician_answers(document(tmp_path, content), CASES)
    assert sentence in str(raised.value)


def test_that_files_that_are_none_are_told(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("reader,case\n")
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(UnreadableInputError, match="no column 'differential'"):
        read_physician_answers(tmp_path / "x.csv", CASES)
    with pytest.raises(UnreadableInputError, match="cannot be read as JSON"):
        read_physician_answers(tmp_path / "x.json", CASES)
    with pytest.raises(UnreadableInputError, match="does not exist"):
        read_physician_answers(tmp_path / "none.json", CASES)
