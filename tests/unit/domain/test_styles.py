"""Colours stay apart for colour-blind eyes, and are those of codes, not of words.

Simulation: Machado, Oliveira and Fernandes, "A physiologically-based model for
simulation of color vision deficiency", IEEE TVCG 15(6), 2009: the matrices of severity
1.0, applied to linear RGB. Distance: CIE 1976 in L*a*b* (D65), where about 2.3 is the
least difference that is noticed (Mahy, Van Eycken and Oosterlinck 1994); 15 is seen at
a glance in lines of 1.5 pixels.
"""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from viewer.domain.styles import (
    DARK,
    LIGHT,
    MODELS,
    READER,
    REFERENCE,
    STYLES,
    Ground,
    contrast,
    in_order,
    ink_on,
    looks_of,
    luminance,
    model_style,
    style_of,
)
from viewer.studies.grid_localization.errors_by_class import CLASSES

SIGHT = {
    "all cones": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
SRGB_TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
"""IEC 61966-2-1, D65."""
LEAST = 15.0
Vector = npt.NDArray[np.float64]


def linear(color: str) -> Vector:
    """Return linear RGB, 0-1 (IEC 61966-2-1)."""
    coded = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)


def lab(rgb: Vector) -> Vector:
    """Return L*a*b* of linear RGB under D65 (CIE 15)."""
    xyz = SRGB_TO_XYZ @ rgb.clip(0, 1) / SRGB_TO_XYZ.sum(axis=1)
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_that_the_simulation_leaves_grey_grey_and_white_white() -> None:
    for matrix in SIGHT.values():
        np.testing.assert_allclose(matrix.sum(axis=1), 1.0, atol=2e-6)
    np.testing.assert_allclose(lab(linear("#FFFFFF")), [100, 0, 0], atol=1e-3)
    np.testing.assert_allclose(lab(linear("#FF0000")), [53.24, 80.09, 67.2], atol=0.05)


def least_apart(colors: Mapping[str, str], sight: str) -> float:
    """Return the distance of the two colours that are most alike to a kind of sight."""
    seen = {name: lab(SIGHT[sight] @ linear(color)) for name, color in colors.items()}
    pairs = combinations(seen.values(), 2)
    return min(float(np.linalg.norm(a - b)) for a, b in pairs)


@pytest.mark.parametrize("sight", SIGHT)
def test_that_who_is_told_by_colour_for_every_kind_of_sight(sight: str) -> None:
    who = {"reference": REFERENCE, "reader": READER}
    who |= {f"model {n}": color for n, color in enumerate(MODELS)}
    assert least_apart(who, sight) >= LEAST


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("ground", [DARK, LIGHT], ids=lambda ground: ground.name)
def test_that_classes_of_error_are_told_by_colour_or_hatch_for_every_kind_of_sight(
    ground: Ground, sight: str
) -> None:
    styles = {code: style_of(code) for code in CLASSES}
    plain = {c: s.colour_on(ground) for c, s in styles.items() if not s.hatch}
    assert least_apart(plain, sight) >= LEAST
    hatches = [style.hatch for style in styles.values() if style.hatch]
    assert len(set(hatches)) == len(hatches) == len(CLASSES) - len(plain)


@pytest.mark.parametrize("ground", [DARK, LIGHT], ids=lambda ground: ground.name)
def test_that_text_is_read_on_every_ground_and_colour(ground: Ground) -> None:
    assert contrast(ground.paper, ground.ink) >= 7
    assert contrast(ground.paper, ground.soft) >= 4.5
    colors = {style.colour_on(ground) for style in STYLES.values()}
    assert min(contrast(color, ink_on(color)) for color in colors) >= 4.5


def test_that_luminance_is_that_of_the_guidelines() -> None:
    assert luminance("#FFFFFF") == pytest.approx(1)
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


def test_that_what_a_code_is_called_does_not_colour_it() -> None:
    assert style_of("full").words == "full hit"
    assert style_of("full hit").colour == style_of("other_tasks").colour == LIGHT.soft


def test_that_codes_stand_in_the_order_of_the_table() -> None:
    assert in_order(reversed(CLASSES)) == CLASSES
    assert in_order(["made_up", "refused", "answered", "refused"]) == (
        *("answered", "refused", "made_up"),
    )


def test_that_further_models_repeat_the_colours_hatched() -> None:
    first, sixth = model_style(0), model_style(5)
    assert (first.colour, first.hatch) == (MODELS[0], "")
    assert (sixth.colour, bool(sixth.hatch)) == (MODELS[0], True)
    assert len({(s.colour, s.hatch) for s in map(model_style, range(15))}) == 15


def test_that_models_of_one_colour_differ_in_marker_and_sign() -> None:
    for first, sixth in ((model_style(n), model_style(n + 5)) for n in range(5)):
        assert first.colour == sixth.colour
        assert first.marker != sixth.marker
        assert first.sign != sixth.sign
    drawn = looks_of([f"model {n}" for n in range(10)]).values()
    assert len({look.marker for look in drawn}) == 10
