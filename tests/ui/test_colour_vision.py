"""Who-colours stay apart for colour-blind eyes.

Simulation: Machado, Oliveira and Fernandes, "A physiologically-based model for
simulation of color vision deficiency", IEEE TVCG 15(6), 2009: the matrices of severity
1.0, applied to linear RGB. Distance: CIE 1976 in L*a*b* (D65), where about 2.3 is the
least difference that is noticed (Mahy, Van Eycken and Oosterlinck 1994); 15 is seen at
a glance in lines of 1.5 pixels.
"""

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtGui import QColor

from viewer.ui.theme import DARK, LIGHT, Palette

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
    made = QColor(color)
    coded = np.array([made.redF(), made.greenF(), made.blueF()])
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


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda palette: palette.name)
def test_that_who_is_told_by_colour_for_every_kind_of_sight(
    palette: Palette, sight: str
) -> None:
    who = {"reference": palette.reference, "reader": palette.reader}
    who |= {f"model {n}": color for n, color in enumerate(palette.models)}
    seen = {name: lab(SIGHT[sight] @ linear(color)) for name, color in who.items()}
    apart = {
        (a, b): float(np.linalg.norm(seen[a] - seen[b]))
        for a, b in combinations(who, 2)
    }
    assert min(apart.values()) >= LEAST, apart
