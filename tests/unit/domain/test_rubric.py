"""Readers' grades of outputs."""

from dataclasses import replace

import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.item import Item
from viewer.domain.plain import plain
from viewer.domain.rubric import (
    GRADES,
    LEVELS,
    OF_IMAGE,
    OF_TEXT,
    RUBRIC,
    Dimension,
    Grade,
    Grades,
    dimensions_of,
    grades_in,
    missing_dimensions,
)

TEXT = Grade("A", "o3", "s1", None, dict(zip(OF_TEXT, (4, 2, 5, 1), strict=True)))
IMAGE = Grade("A", "o3", "s1", 1, dict.fromkeys(OF_IMAGE, 3), repeat=2)


def test_that_every_dimension_has_a_heading_and_a_meaning_for_each_level() -> None:
    assert set(RUBRIC) == set(Dimension)
    assert {len(row.anchors) for row in RUBRIC.values()} == {len(LEVELS)}
    assert Dimension.IMAGE_CONTENT.words == "Image Content"


@pytest.mark.statement("E001-11")
def test_that_content_is_the_least_of_three_and_an_image_has_none() -> None:
    assert TEXT.content == 2
    assert IMAGE.content is None
    assert (TEXT.output, IMAGE.output) == (("o3", "s1", 0), ("o3", "s1", 2))


def test_that_a_grade_lacks_what_its_kind_of_output_is_graded_by() -> None:
    assert dimensions_of(None) == OF_TEXT
    assert dimensions_of(1) == OF_IMAGE
    assert missing_dimensions(None, TEXT.scores) == []
    given = [Dimension.LANGUAGE, Dimension.PROCESS]
    assert missing_dimensions(None, given) == [
        Dimension.EXECUTION,
        Dimension.SYNTHESIS,
    ]
    assert missing_dimensions(2, given) == list(OF_IMAGE)


def test_that_grades_come_back_from_the_reference_of_an_item() -> None:
    item = Item("s1", "p1")
    assert grades_in(item) == ()
    listed = [plain(grade) for grade in (TEXT, IMAGE)]
    assert grades_in(replace(item, reference={GRADES: listed})) == (TEXT, IMAGE)
    with pytest.raises(WrongUseError, match="the grades of 's1'"):
        grades_in(replace(item, reference={GRADES: [{"reader": "A"}]}))


def test_that_readers_come_by_their_number_of_grades_and_then_by_name() -> None:
    names = ("C", "B", "B", "A")
    grades = Grades(tuple(replace(TEXT, reader=name) for name in names))
    assert grades.readers == ("B", "A", "C")
