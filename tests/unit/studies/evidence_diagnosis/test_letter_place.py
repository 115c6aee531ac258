import pytest

from viewer.domain.exchange import TokenLogprob
from viewer.studies.evidence_diagnosis.beliefs import letter_place

NAMES = [
    before + letter for letter in "ABCD" for before in ("", " ", "(", " (", "\u2581")
]


def tokens(*texts: str) -> tuple[TokenLogprob, ...]:
    return tuple(TokenLogprob(text, -1.0) for text in texts)


@pytest.mark.statement("E004-17")
@pytest.mark.parametrize(
    ("said", "place"),
    [
        (("B",), 0),
        (("B", ")"), 0),
        ((" (C", ")", " mass"), 0),
        (("Answer", ":", " **", "D", "**"), 3),
        (("A", "cute", " cyst", ":", " A", "."), 4),
        (("A)", "nodule"), None),
        (("\u2581A",), 0),
        (("none",), None),
        (("E",), None),
        ((), None),
    ],
)
def test_that_the_first_token_that_is_a_letter_is_found(
    said: tuple[str, ...], place: int | None
) -> None:
    assert letter_place(tokens(*said), NAMES) == place
