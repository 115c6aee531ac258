import json
from pathlib import Path

import pytest

from viewer.domain.errors import UnreadableInputError
from viewer.domain.rubric import RUBRIC, Dimension, RubricRow
from viewer.readers.grades import grades_below
from viewer.readers.rubric_text import rubric_below

LEVELS = ["bad", "poor", "fair", "good", "best"]


def written(folder: Path, document: object) -> Path:
    (folder / "rubric.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


@pytest.mark.statement("E001-10")
def test_that_the_text_beside_the_grades_takes_the_place_of_ours(
    tmp_path: Path,
) -> None:
    assert rubric_below(tmp_path) == RUBRIC
    assert grades_below(tmp_path).rubric == RUBRIC
    written(tmp_path, {"language": {"heading": "Is it clear?", "levels": LEVELS}})
    own = grades_below(tmp_path).rubric
    assert own[Dimension.LANGUAGE] == RubricRow("Is it clear?", tuple(LEVELS))
    assert own[Dimension.PROCESS] == RUBRIC[Dimension.PROCESS]
    assert tuple(own) == tuple(Dimension)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ([], "'rubric.json' contains no dimensions."),
        ({"speed": {}}, "'speed' in 'rubric.json' is not one of the dimensions."),
        (
            {"process": []},
            "'process' in 'rubric.json' has no heading with five levels.",
        ),
        ({"process": {"heading": "x", "levels": LEVELS[1:]}}, "no heading with five"),
        ({"process": {"heading": "", "levels": LEVELS}}, "no heading with five"),
        ({"process": {"heading": "x", "levels": [*LEVELS[1:], 5]}}, "with five levels"),
    ],
)
def test_that_a_broken_text_is_told_in_one_sentence(
    tmp_path: Path, document: object, words: str
) -> None:
    with pytest.raises(UnreadableInputError) as caught:
        grades_below(written(tmp_path, document))
    assert words in caught.value.what


def test_that_a_text_that_is_no_json_is_told(tmp_path: Path) -> None:
    (tmp_path / "rubric.json").write_bytes(b"\xff{")
    with pytest.raises(UnreadableInputError, match=r"'rubric\.json' cannot be read"):
        rubric_below(tmp_path)
    (tmp_path / "rubric.json").unlink()
    (tmp_path / "rubric.json").mkdir()
    assert rubric_below(tmp_path) == RUBRIC
