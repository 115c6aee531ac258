"""Points, boxes, masks and heat maps over the image."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor

from tests.ui.canvas.conftest import MakeAnswer, MakeShown, pixels
from viewer.domain.answer import (
    BoxesAnswer,
    HeatMapAnswer,
    MaskAnswer,
    PlacedAnswer,
    PointAnswer,
)
from viewer.domain.exchange import SentHeatMap
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.image import Photometric, PixelImage
from viewer.domain.image_geometry import SpacingMeaning
from viewer.domain.reference import Mask
from viewer.domain.result import Measures
from viewer.services.inspecting.answers import StoredAnswer
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.overlays.answer_item import FILL_ALPHA, LINE_PX, provenance
from viewer.ui.canvas.overlays.color_map import OPACITY, colors_of
from viewer.ui.canvas.overlays.measure_words import measure_line, measure_rows
from viewer.ui.widgets import theme

ROWS, COLUMNS = 600, 500
FIELD = BoxPx(0, 50, 500, 550)


def a_mask() -> npt.NDArray[np.bool_]:
    """Return a disc with a hole."""
    y, x = np.ogrid[:ROWS, :COLUMNS]
    far = np.hypot(y - 300.0, x - 250.0)
    return np.asarray((far <= 90) & (far > 30))


def a_heat_map() -> SentHeatMap:
    """Return a bump of 20 × 20 elements with its peak in row 14, column 5."""
    y, x = np.mgrid[:20, :20]
    return SentHeatMap.of(np.exp(-(np.hypot(y - 14, x - 5) ** 2) / 8))


SAID: dict[str, PlacedAnswer] = {
    "point": PointAnswer(PointPx(250.0, 300.0)),
    "boxes": BoxesAnswer((BoxPx(150, 200, 350, 400), BoxPx(20, 80, 60, 120))),
    "mask": MaskAnswer(Mask.of_array(a_mask())),
    "heat_map": HeatMapAnswer(a_heat_map(), FIELD),
}
MEASURES = Measures(
    kind="boxes",
    point=PointPx(250, 300),
    cell_hit=True,
    pointing_hit=False,
    iou=0.25,
    dice=0.4,
    distance_px=3.5,
    distance_mm=0.7,
    mm_meaning=SpacingMeaning.DETECTOR,
)


@pytest.fixture
def make_placed(make_answer: MakeAnswer) -> Callable[[str], StoredAnswer]:
    def make(kind: str) -> StoredAnswer:
        found = replace(MEASURES, kind=kind)
        return replace(make_answer(), answer=SAID[kind], measures=found)

    return make


@pytest.fixture
def grey(view: ImageView, make_shown: MakeShown) -> ImageView:
    """Return a large view of an even, middling grey."""
    view.resize(900, 1000)
    values = np.full((ROWS, COLUMNS), 100, np.uint8)
    values[0, :2] = 0, 200
    view.show_image(make_shown(PixelImage(values, Photometric.MONOCHROME2)))
    return view


def color_at(view: ImageView, x: float, y: float) -> tuple[int, ...]:
    at = view.to_view(PointPx(x, y))
    return tuple(int(v) for v in pixels(view.viewport())[int(at.y()), int(at.x())])


def model_color() -> tuple[int, int, int]:
    color = QColor(theme.current().models[0])
    return color.red(), color.green(), color.blue()


@pytest.mark.parametrize("kind", SAID)
def test_that_hiding_overlays_hides_every_kind(
    grey: ImageView, make_placed: Callable[[str], StoredAnswer], kind: str
) -> None:
    before = pixels(grey.viewport())
    grey.set_answers((make_placed(kind),))
    drawn = pixels(grey.viewport())
    assert (drawn != before).any()
    grey.hide_overlays(True)
    assert np.array_equal(pixels(grey.viewport()), before)


@pytest.mark.parametrize("zoom", [1.0, 2.0])
def test_that_an_outline_is_as_wide_at_any_zoom(
    grey: ImageView, make_placed: Callable[[str], StoredAnswer], zoom: float
) -> None:
    plain = replace(make_placed("boxes"), measures=None)
    grey.zoom_at(grey.to_view(PointPx(150, 330)), zoom)
    grey.set_answers((plain,))
    at = grey.to_view(PointPx(150, 330))
    row = pixels(grey.viewport())[int(at.y())].astype(float)
    near = row[int(at.x()) - 6 : int(at.x()) + 7]
    outside, inside = near[0], near[-1]
    ink = np.array(model_color(), float)
    # How much of each pixel the line takes, against what lies on its own side of it.
    ground = np.where(np.arange(13)[:, None] < 6, outside, inside)
    taken = ((near - ground) @ (ink - outside)) / ((ink - outside) @ (ink - outside))
    assert taken.sum() == pytest.approx(LINE_PX, abs=0.35)


@pytest.mark.parametrize("kind", ["boxes", "mask"])
def test_that_a_fill_lets_the_image_through(
    grey: ImageView, make_placed: Callable[[str], StoredAnswer], kind: str
) -> None:
    ground = color_at(grey, 250, 240)
    grey.set_answers((make_placed(kind),))
    seen = color_at(grey, 250, 240)
    share = FILL_ALPHA / 255
    assert share <= 0.2
    for was, ink, now in zip(ground, model_color(), seen, strict=True):
        assert now == pytest.approx(was + share * (ink - was), abs=2)


def test_that_the_hole_of_a_mask_is_left_free(
    grey: ImageView, make_placed: Callable[[str], StoredAnswer]
) -> None:
    ground = color_at(grey, 262, 312)
    grey.set_answers((make_placed("mask"),))
    assert color_at(grey, 262, 312) == ground


def test_that_a_heat_map_is_strongest_on_its_peak_and_clear_where_it_is_least(
    grey: ImageView, make_placed: Callable[[str], StoredAnswer]
) -> None:
    ground = color_at(grey, 480, 80)
    grey.set_answers((make_placed("heat_map"),))
    pixels(grey.viewport())
    assert color_at(grey, 480, 80) == ground
    peak = PointPx(5.5 * 25, 50 + 14.5 * 25)
    red, green, blue = color_at(grey, peak.x + 4, peak.y + 4)
    assert min(red, green) > ground[0] > blue


def test_that_a_mask_that_was_moved_is_drawn_as_one_that_was_not(
    grey: ImageView, make_placed: Callable[[str], StoredAnswer]
) -> None:
    seen = []
    for steps in ((14, -8), (7, -4)):
        grey.fit()
        grey.set_answers((make_placed("mask"), make_placed("heat_map")))
        for _ in range(2):
            pixels(grey)
        for _ in range(14 // steps[0]):
            grey.pan_by(*steps)
            pixels(grey)
        seen.append(pixels(grey))
    np.testing.assert_array_equal(seen[0], seen[1])


@pytest.mark.parametrize(
    ("kind", "point"),
    [
        ("point", PointPx(250, 300)),
        ("boxes", PointPx(300, 250)),
        ("boxes", PointPx(40, 100)),
        ("mask", PointPx(250, 240)),
        ("heat_map", PointPx(5.5 * 25, 50 + 14.5 * 25)),
    ],
)
def test_that_one_hover_tells_provenance_and_measures(
    grey: ImageView,
    make_placed: Callable[[str], StoredAnswer],
    kind: str,
    point: PointPx,
) -> None:
    answer = make_placed(kind)
    grey.set_answers((answer,))
    items = grey.stage.items(grey.to_view(point))
    told = [item.toolTip() for item in items if item.toolTip()]
    assert told == [provenance(answer)]
    for part in ("Run: 3", "IoU: 0.2500000000", "Dice: 0.4000000000", "at detector"):
        assert part in told[0]


@pytest.mark.parametrize("kind", SAID)
def test_that_a_tag_stands_beside_its_answer(
    grey: ImageView, make_placed: Callable[[str], StoredAnswer], kind: str
) -> None:
    grey.set_answers((make_placed(kind),))
    (item,) = grey.answer_items
    assert grey.area.contains(item.tag)
    said = SAID[kind]
    if isinstance(said, BoxesAnswer):
        largest = QRectF(
            grey.to_view(PointPx(150, 200)), grey.to_view(PointPx(350, 400))
        )
        assert not item.tag.intersects(largest)
        assert item.tag.adjusted(-8, -8, 8, 8).intersects(largest)
    if isinstance(said, PointAnswer):
        at = grey.to_view(said.point)
        ring = QRectF(at - QPointF(9, 9), at + QPointF(9, 9))
        assert not item.tag.intersects(ring)


def test_that_heat_maps_lie_below_all_other_answers(
    grey: ImageView, make_placed: Callable[[str], StoredAnswer]
) -> None:
    kinds = ("heat_map", "point", "boxes")
    grey.set_answers(tuple(make_placed(kind) for kind in kinds))
    drawn = [type(item.answer.answer) for item in grey.answer_items]
    assert drawn == [HeatMapAnswer, BoxesAnswer, PointAnswer]


@pytest.mark.parametrize(
    ("kind", "said"),
    [("heat_map", True), ("mask", False), ("boxes", False)],
)
def test_that_the_badge_tells_a_map_that_is_coarser_than_the_image(
    grey: ImageView,
    make_placed: Callable[[str], StoredAnswer],
    kind: str,
    *,
    said: bool,
) -> None:
    grey.set_answers((make_placed(kind),))
    grey.grab()
    assert grey._annotations is not None
    lines = [line.text for line in grey._annotations._lines]
    assert any("heat map coarser" in text for text in lines) is said


def test_that_the_colours_of_a_map_grow_lighter_with_every_step() -> None:
    rgba = colors_of(np.linspace(-3, 5, 200, dtype=np.float32)).astype(float)
    coded = rgba[:, :3] / 255
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    luminance = linear @ (0.2126729, 0.7151522, 0.0721750)
    lightness = 116 * np.cbrt(luminance.clip(0.008856)) - 16
    assert (np.diff(lightness[::10]) > 1).all()
    assert rgba[0, 3] == 0
    assert rgba[-1, 3] == round(255 * OPACITY)
    assert (np.diff(rgba[:, 3]) >= 0).all()


def test_that_a_map_without_contrast_is_clear() -> None:
    assert not colors_of(np.full((3, 3), 7, np.float32))[..., 3].any()


def test_that_a_line_of_measures_prefers_millimetres_and_skips_what_is_none() -> None:
    assert measure_line(MEASURES) == "IoU 0.25 · Dice 0.40 · 0.7 mm"
    point = replace(MEASURES, iou=None, dice=None, distance_mm=None, mm_meaning=None)
    assert measure_line(point) == "3.5 px"
    assert measure_line(None) == ""


def test_that_the_overlap_of_all_pixels_is_told_where_it_differs() -> None:
    cropped = replace(MEASURES, iou_uncropped=0.125, dice_uncropped=0.2)
    assert dict(measure_rows(cropped))["IoU uncropped"] == "0.1250000000"
    same = replace(MEASURES, iou_uncropped=MEASURES.iou)
    assert "IoU uncropped" not in dict(measure_rows(same))
