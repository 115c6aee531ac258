"""The pattern has the values that it says, wherever it is drawn."""

import numpy as np
import pytest

from viewer.domain.geometry import SizePx
from viewer.imaging.display_pattern import (
    FAINT_PERCENT,
    LEAST,
    STEPS,
    DisplayPattern,
    PatternLabel,
    display_pattern,
    grey_value,
)

SIZES = (LEAST, SizePx(900, 1400), SizePx(1401, 903), SizePx(2161, 3840))


@pytest.fixture(params=SIZES, ids=str)
def pattern(request: pytest.FixtureRequest) -> DisplayPattern:
    return display_pattern(request.param)


def _side(pattern: DisplayPattern) -> int:
    rows, columns = pattern.pixels.shape
    side: int = min(rows // 10, columns // 13)
    return side


def _above(pattern: DisplayPattern, label: PatternLabel) -> int:
    """Return the value in the middle of the square that a label below names."""
    value: int = pattern.pixels[label.y - _side(pattern) // 2, label.x].item()
    return value


def _below(pattern: DisplayPattern, label: PatternLabel) -> int:
    value: int = pattern.pixels[label.y + _side(pattern), label.x].item()
    return value


def test_that_the_steps_go_from_black_to_white_as_labelled(
    pattern: DisplayPattern,
) -> None:
    steps = [label for label in pattern.labels if "%" not in label.text]
    upper, lower = steps[: STEPS // 2], steps[STEPS // 2 :]
    values = [_below(pattern, label) for label in upper]
    values += [_above(pattern, label) for label in lower]
    assert values == [round(255 * step / 17) for step in range(STEPS)]
    assert [round(100 * value / 255) for value in values] == [
        int(label.text) for label in steps
    ]


def test_that_faint_squares_differ_from_black_and_white_as_labelled(
    pattern: DisplayPattern,
) -> None:
    faint = [label for label in pattern.labels if "%" in label.text]
    dark, bright = faint[:5], faint[5:]
    assert [_below(pattern, label) for label in dark] == [3, 5, 8, 10, 13]
    assert [_above(pattern, label) for label in bright] == [252, 250, 247, 245, 242]
    assert [label.text for label in dark] == [f"{p} %" for p in FAINT_PERCENT]
    assert [label.text for label in bright] == [f"{100 - p} %" for p in FAINT_PERCENT]


def test_that_bars_are_single_pixels_and_pairs(pattern: DisplayPattern) -> None:
    side = _side(pattern)
    rows, columns = pattern.pixels.shape
    for top in (side // 2, (rows - side) // 2, rows - 3 * side // 2):
        for left in (side // 2, columns - 3 * side // 2):
            square = pattern.pixels[top : top + side, left : left + side].astype(int)
            quarter = side // 2 - 1
            single, pair = square[1, :quarter], square[-1, :quarter]
            assert set(np.abs(np.diff(single))) == {255}
            assert set(np.abs(pair[2:] - pair[:-2])) == {255}
            down = square[:quarter, -1]
            assert set(np.abs(np.diff(down))) == {255}


def test_that_the_outermost_pixels_are_white_lines(pattern: DisplayPattern) -> None:
    pixels = pattern.pixels
    for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
        assert set(edge) == {255}


def test_that_the_circle_is_round_and_has_no_gap() -> None:
    pixels = display_pattern(SizePx(901, 1201)).pixels
    y, x = np.ogrid[:901, :1201]
    radius = np.hypot(y - 450, x - 600)
    drawn = (pixels == 255) & (np.abs(radius - 448.5) < 0.75)
    half_degrees = np.rint(2 * np.degrees(np.arctan2(y - 450, x - 600)))[drawn]
    # elsewhere bars and squares lie over it
    clear = [a for a in range(-359, 360) if abs(np.sin(np.radians(a / 2))) > 0.8]
    assert set(clear) <= set(half_degrees.astype(int).tolist())
    beside = (np.abs(radius - 448.5) > 1) & (np.abs(radius - 448.5) < 3)
    assert (pixels[beside] != 255).mean() > 0.95


def test_that_the_ramp_has_every_grey_value_in_order() -> None:
    pixels = display_pattern(SizePx(900, 1400)).pixels
    side = 90
    ramp = pixels[450 + 3 * side - side // 4, 700 - 9 * side // 2 : 700 + 9 * side // 2]
    assert sorted(set(ramp)) == list(range(256))
    assert (np.diff(ramp.astype(int)) >= 0).all()


def test_that_too_small_an_area_is_refused() -> None:
    with pytest.raises(ValueError, match="240 x 240"):
        display_pattern(SizePx(239, 500))


def test_that_percent_are_rounded_to_a_grey_value() -> None:
    assert [grey_value(p) for p in (0, 1, 50, 99, 100)] == [0, 3, 128, 252, 255]
