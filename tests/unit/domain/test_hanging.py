"""Stages of hanging protocols, as they are written."""

import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.hanging import Place, Protocol, read_stage


def test_that_a_stage_is_read_row_by_row() -> None:
    stage = read_stage("right CC |left  cc / Prior right MLO| prior 2 left mlo")
    assert stage.words == "right CC | left  cc / Prior right MLO | prior 2 left mlo"
    assert stage.rows == (
        (Place("CC", 0, "R"), Place("CC", 0, "L")),
        (Place("MLO", 1, "R"), Place("MLO", 2, "L")),
    )
    assert stage.places == (*stage.rows[0], *stage.rows[1])


def test_that_any_of_the_words_may_stand_alone() -> None:
    words = ("frontal", "lateral", "series", "next", "tile")
    assert [read_stage(word).places for word in words] == [
        (Place(word),) for word in words
    ]


@pytest.mark.parametrize(
    "words",
    [
        "frontal | lateral / frontal",
        "tile | tile | tile | tile",
        "tile / tile / tile / tile",
    ],
)
def test_that_a_layout_has_rows_of_one_length_up_to_three(words: str) -> None:
    with pytest.raises(WrongUseError, match="is not a layout of at most 3 × 3"):
        read_stage(words)


@pytest.mark.parametrize(
    "cell", ["", "oblique", "prior", "prior 2", "left", "frontal lateral", "2 frontal"]
)
def test_that_a_word_that_names_no_image_is_refused(cell: str) -> None:
    with pytest.raises(WrongUseError, match=rf"'{cell}' in '.*' names no image"):
        read_stage(f"frontal | {cell}")


def test_that_a_protocol_is_for_its_modalities_or_for_all() -> None:
    some = Protocol("some", ("CR", ""), ())
    assert [some.is_for(m) for m in ("CR", "", "CT")] == [True, True, False]
    assert Protocol("all", ("*",), ()).is_for("CT")
