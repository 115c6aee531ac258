"""Many outlines drawn at once, compared with Pillow, which draws one after another."""

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageDraw
from scipy.ndimage import binary_dilation

from viewer.domain.geometry import Affine, SizePx
from viewer.domain.slide_objects import SlideObjects
from viewer.imaging.outlines import DOT_PX, draw_outlines, pan_outlines

SIZE = SizePx(200, 300)
_MARGIN = 8
COLOURS = np.array([0xFFE69F00, 0xFF56B4E9], np.uint32)


def _stars(count: int, radius: float, seed: int = 3) -> SlideObjects:
    """Return stars of 11 corners, half of them off a screen of SIZE."""
    rng = np.random.default_rng(seed)
    angles = np.linspace(0, 2 * np.pi, 11, endpoint=False)
    reach = radius * rng.uniform(0.4, 1.0, (count, 11, 1))
    ways = np.stack((np.cos(angles), np.sin(angles)), axis=1)
    middles = rng.uniform((-100, -60), (400, 260), (count, 2))
    # Whole numbers, as those that Pillow draws from.
    points = (middles[:, None] + ways * reach).reshape(-1, 2).round().astype(np.float32)
    starts, kinds = np.arange(count + 1) * 11, np.arange(count) % 2
    return SlideObjects(points, starts, kinds, ("a", "b"), count)


def _by_pillow(objects: SlideObjects) -> npt.NDArray[np.bool_]:
    """Return the outlines on SIZE with a margin of _MARGIN pixels."""
    picture = Image.new("1", (SIZE.columns + 2 * _MARGIN, SIZE.rows + 2 * _MARGIN))
    draw = ImageDraw.Draw(picture)
    for first, last in zip(objects.starts, objects.starts[1:], strict=False):
        ring = [tuple(p) for p in (objects.points[first:last] + _MARGIN).tolist()]
        draw.line([*ring, ring[0]], fill=1)
    return np.asarray(picture)


@pytest.mark.parametrize("radius", [15.0, 90.0, 400.0])
def test_that_outlines_lie_where_pillow_draws_them(radius: float) -> None:
    objects = _stars(60, radius)
    drawn = draw_outlines(objects, SIZE, Affine.identity(), COLOURS) != 0
    expected, inside = _by_pillow(objects), slice(_MARGIN, -_MARGIN)
    near = np.ones((5, 5), bool)
    around = binary_dilation(expected, near)[inside, inside]
    assert not (drawn & ~around).any()
    assert expected.any()
    assert not (expected[inside, inside] & ~binary_dilation(drawn, near)).any()


def test_that_a_small_object_is_its_rectangle_and_a_tiny_one_a_dot() -> None:
    objects = _stars(1, 4.0)
    shift = Affine(
        1, 0, 50 - objects.points[:, 0].min(), 0, 1, 70 - objects.points[:, 1].min()
    )
    drawn = draw_outlines(objects, SIZE, shift, COLOURS)
    rows, columns = np.nonzero(drawn)
    x0, y0, x1, y1 = objects.boxes[0]
    assert (rows.min(), columns.min()) == (70, 50)
    assert rows.max() == pytest.approx(70 + (y1 - y0), abs=2)
    assert columns.max() == pytest.approx(50 + (x1 - x0), abs=2)
    assert (drawn[70, 50 : columns.max()] != 0).all()  # a whole side
    tiny = Affine(0.1, 0, 40, 0, 0.1, 40)
    assert (x1 - x0) * 0.1 < DOT_PX
    assert (draw_outlines(objects, SIZE, tiny, COLOURS) != 0).sum() == 4


def test_that_each_class_has_its_colour() -> None:
    drawn = draw_outlines(_stars(40, 30.0), SIZE, Affine.identity(), COLOURS)
    assert set(np.unique(drawn)) == {0, *COLOURS.tolist()}


def test_that_nothing_is_drawn_of_what_is_not_seen() -> None:
    away = Affine(1, 0, 5000, 0, 1, 0)
    assert not draw_outlines(_stars(40, 30.0), SIZE, away, COLOURS).any()
    assert draw_outlines(_stars(40, 30.0), SIZE, away, COLOURS).shape == (200, 300)


@pytest.mark.parametrize("radius", [2.0, 5.0, 15.0, 90.0])
@pytest.mark.parametrize("moved", [(7, 3), (-9, 0), (0, -5), (-1, 6), (250, -150)])
def test_that_a_moved_screen_is_as_one_drawn_anew(
    radius: float, moved: tuple[int, int]
) -> None:
    objects = _stars(200, radius)
    here = Affine(1.3, 0, 11, 0, 1.3, -17)
    there = Affine(1.3, 0, 11 + moved[0], 0, 1.3, -17 + moved[1])
    before = draw_outlines(objects, SIZE, here, COLOURS)
    panned = pan_outlines(before, moved, objects, there, COLOURS)
    anew = draw_outlines(objects, SIZE, there, COLOURS)
    # Drawn anew, the first rows and columns lack lines that begin beyond them.
    panned, anew = panned[2:, 2:], anew[2:, 2:]
    near = np.ones((3, 3), bool)
    for one, other in ((panned != 0, anew != 0), (anew != 0, panned != 0)):
        assert not (one & ~binary_dilation(other, near)).any()
    assert (panned == anew).mean() > 0.98
    assert set(np.unique(panned)) == {0, *COLOURS.tolist()}
