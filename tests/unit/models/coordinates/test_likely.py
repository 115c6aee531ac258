"""A reply in another convention names it, and one that is in none says nothing."""

import pytest

from viewer.domain.geometry import SizePx
from viewer.models.coordinates.conventions import CONVENTIONS
from viewer.models.coordinates.likely import other_convention, places_in_words

SIZE = SizePx(250, 200)


@pytest.mark.parametrize(
    ("reply", "named", "words"),
    [
        (
            '[{"bbox_2d": [100, 200, 300, 400]}]',
            "grid",
            "The reply gives a box in 0-1000 coordinates; set Coordinates to qwen3_vl.",
        ),
        (
            '[{"bbox_2d": [10, 20, 30, 40]}]',
            "grid",
            (
                "The reply gives a box in pixels; set Coordinates to qwen2_5_vl or "
                "qwen3_vl; Calibrate finds out which."
            ),
        ),
        (
            "<loc0100><loc0200><loc0300><loc0400> nodule",
            "qwen3_vl",
            (
                "The reply gives a box in 0-1024 coordinates; "
                "set Coordinates to paligemma."
            ),
        ),
        (
            '<point x="10.5" y="20.1" alt="nodule">nodule</point>',
            "grid",
            "The reply gives a point in percent; set Coordinates to molmo.",
        ),
        ("D4", "gemini", "The reply names a cell; set Coordinates to grid."),
        ("D4", "grid", ""),
        ("I cannot tell (1) or [2].", "grid", ""),
        ("", "grid", ""),
    ],
)
def test_that_the_likely_convention_is_named(
    reply: str, named: str, words: str
) -> None:
    assert other_convention(reply, named, SIZE) == words


def test_that_every_convention_is_put_in_words() -> None:
    words = {name: places_in_words(name) for name in CONVENTIONS}
    assert words["grid"] == "cells"
    assert words["qwen2_5_vl"] == "boxes in pixels"
    assert words["xyxy_1000"] == "boxes in 0-1000 coordinates"
    assert all(words.values())
