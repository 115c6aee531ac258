import pytest

from viewer.domain.report import Table
from viewer.studies.rubric_reading.outputs import without_boxes
from viewer.studies.rubric_reading.page import card_sections

BOXES = '{"boxes": [{"image": 1, "label": "x", "box": [0, 0, 5, 5]}]}'
HEADER = (
    *("item", "task", "model", "reader", "image", "codes", "concerns", "excerpt"),
    *("comments", "repeat"),
)


@pytest.mark.statement("E001-17")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"An effusion. {BOXES}", "An effusion."),
        (f"An effusion.\n```json\n{BOXES}\n```\nNo more.", "An effusion.\n\nNo more."),
        ('Sizes {"left": 3} mm.', 'Sizes {"left": 3} mm.'),
        (BOXES, BOXES),
        ("", ""),
    ],
)
def test_that_a_card_shows_words_and_no_json_of_boxes(text: str, words: str) -> None:
    assert without_boxes(text) == words


@pytest.mark.statement("E001-17", "E001-23")
def test_that_the_page_has_the_first_cards_and_says_how_many_there_are() -> None:
    row = ("s|t", "Task.", "o3", "A", None, "box_too_large", "Wrong.", "Text", "", 0)
    assert list(card_sections(Table("error_cards", HEADER, ()))) == []
    (some,) = card_sections(Table("error_cards", HEADER, (row,) * 3))
    assert some.text.startswith("All graded outputs with a concern")
    assert some.table.rows[0] == (
        *("Task.", "o3", "A", "", "box too large; Wrong.", "", "Text"),
    )
    (many,) = card_sections(Table("error_cards", HEADER, (row,) * 30))
    assert many.text.startswith("12 of 30 graded outputs")
    assert len(many.table.rows) == 12
