import pytest

from viewer.studies.rubric_reading.outputs import without_boxes

BOXES = '{"boxes": [{"image": 1, "label": "x", "box": [0, 0, 5, 5]}]}'


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
