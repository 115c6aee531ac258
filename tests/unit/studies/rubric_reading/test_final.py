import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.rubric import Dimension, Grade, Grades, dimensions_of
from viewer.studies.rubric_reading.final import (
    TESTED,
    Measure,
    final_scores,
    main_and_second,
    pairs,
)
from viewer.studies.rubric_reading.params import ContentOrder

BOTH = tuple(ContentOrder)
FIRST, SECOND = BOTH


def grade(
    reader: str, *scores: int, item: str = "s1", image: int | None = None
) -> Grade:
    of = dict(zip(dimensions_of(image), scores, strict=True))
    return Grade(reader, "o3", item, image, of)


@pytest.mark.statement("E001-12")
def test_that_minimum_and_average_are_taken_in_both_orders() -> None:
    (final,) = final_scores([grade("A", 5, 2, 4, 3), grade("B", 2, 5, 4, 4)])
    assert [final.content[order] for order in BOTH] == [3.5, 2.0]
    assert final.scores[Dimension.LANGUAGE] == 3.5
    assert final.value(Measure.CONTENT, SECOND) == 2
    assert final.value(Measure.EXECUTION, SECOND) == 3.5
    assert final.value(Measure.IMAGE_STYLE, FIRST) is None


@pytest.mark.statement("E001-11")
def test_that_content_is_the_least_of_the_three_and_language_is_not_in_it() -> None:
    (final,) = final_scores([grade("A", 5, 4, 3, 1)])
    assert set(final.content.values()) == {3}
    (image,) = final_scores([grade("A", 1, 5, image=2)])
    assert image.value(Measure.CONTENT, FIRST) is None
    assert image.value(Measure.IMAGE_CONTENT, FIRST) == 1
    assert (image.image, image.content) == (2, {})


@pytest.mark.statement("E001-12")
def test_that_outputs_of_one_reader_keep_his_scores() -> None:
    given = [grade("A", 5, 5, 5, 5), grade("A", 1, 1, 1, 1, item="s2")]
    finals = final_scores([*given, grade("B", 4, 5, 5, 5, item="s2")])
    assert [final.item for final in finals] == ["s1", "s2"]
    assert [final.content[FIRST] for final in finals] == [5, 2.5]


def test_that_the_main_reader_is_who_graded_most_unless_named() -> None:
    grades = Grades(
        (
            grade("B", 1, 1, 1, 1),
            grade("A", 1, 1, 1, 1, item="s2"),
            grade("A", 2, 2, 2, 2),
            grade("A", 1, 5, image=1),
            grade("B", 2, 4, image=1),
        )
    )
    assert main_and_second(grades) == ("A", "B")
    assert main_and_second(grades, "B") == ("B", "A")
    assert main_and_second(Grades(grades.grades[:1])) == ("B", None)
    assert [(a.reader, b.reader) for a, b in pairs(grades, "A", "B")] == [
        ("A", "B")
    ] * 2
    assert [(a.item, a.image) for a, _ in pairs(grades, "A", "B")] == [
        ("s1", None),
        ("s1", 1),
    ]
    with pytest.raises(WrongUseError, match="'C' has graded nothing"):
        main_and_second(grades, "C")
    with pytest.raises(WrongUseError, match="Nobody has graded"):
        main_and_second(Grades(()))


def test_that_five_measures_are_tested() -> None:
    assert [measure.words for measure in TESTED] == [
        "Content",
        "Language",
        "Process",
        "Execution",
        "Synthesis",
    ]
