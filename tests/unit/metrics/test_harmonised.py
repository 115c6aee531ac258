"""Any answer under any rule (X-03), against brute force and other libraries."""

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from pycocotools import mask as coco
from scipy.spatial.distance import cdist
from sklearn.metrics import f1_score, jaccard_score

from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    HeatMapAnswer,
    MaskAnswer,
    PointAnswer,
)
from viewer.domain.exchange import SentHeatMap
from viewer.domain.geometry import BoxPx, PointPx, PolygonPx, SizePx
from viewer.domain.grid import Cell, Grid
from viewer.domain.image_geometry import ImageGeometry, Spacing, SpacingMeaning
from viewer.domain.reference import Mask
from viewer.imaging.resample import FitMode
from viewer.metrics.coverage import column_segments
from viewer.metrics.harmonised import distance, holds, measures, overlap, target
from viewer.metrics.pointing import containing_cell, deepest_point, pointing_point
from viewer.metrics.regions import (
    above_otsu,
    mask_of_boxes,
    mask_of_polygon,
    region,
    stretched,
)
from viewer.studies.grid_localization.params import Params
from viewer.studies.grid_localization.reference import field_of

Bools = npt.NDArray[np.bool_]
GRID = Grid(8, 8)
SIZE = SizePx(64, 96)
FIELD = BoxPx(16, 0, 80, 64)
SPACING = Spacing(0.5, 0.2, SpacingMeaning.DETECTOR)
UNSPACED, SPACED = ImageGeometry(SIZE), ImageGeometry(SIZE, SPACING)


def masks(n: int) -> Iterator[Bools]:
    """Yield masks that are never empty: noise, and discs that may touch the edge."""
    rng = np.random.default_rng(4)
    for i in range(n):
        rows, columns = (int(v) for v in rng.integers(3, 30, 2))
        mask = rng.random((rows, columns)) < rng.choice([0.05, 0.5, 0.97])
        if i % 2:
            y, x = np.ogrid[:rows, :columns]
            cy, cx = rng.uniform(0, rows), rng.uniform(0, columns)
            mask = (y - cy) ** 2 + (x - cx) ** 2 <= rng.uniform(1, 12) ** 2
        mask[rng.integers(rows), rng.integers(columns)] = True
        yield mask


def deepest_by_hand(mask: Bools) -> PointPx:
    """Measure every set pixel against every pixel outside, one frame beyond."""
    padded = np.pad(mask, 1)
    inside, outside = np.argwhere(padded), np.argwhere(~padded)
    depths = cdist(inside, outside, "sqeuclidean").min(axis=1)
    y, x = inside[int(np.argmax(depths))]
    return PointPx(float(x) - 0.5, float(y) - 0.5)


def test_that_the_deepest_point_is_the_first_of_the_farthest_from_outside() -> None:
    for mask in masks(80):
        assert deepest_point(mask, 1.0) == deepest_by_hand(mask)


@pytest.mark.statement("X-03")
def test_that_a_ring_is_pointed_at_on_itself_where_its_centroid_is_not() -> None:
    y, x = np.ogrid[:41, :41]
    ring = (np.hypot(y - 20, x - 20) <= 18) & (np.hypot(y - 20, x - 20) >= 11)
    answer = MaskAnswer(Mask.of_array(ring))
    point = pointing_point(answer, GRID, BoxPx(0, 0, 41, 41), 1.0)
    assert holds(ring, point)
    assert not holds(ring, PointPx(20.5, 20.5))


def otsu_by_hand(values: npt.NDArray[np.float32]) -> Bools:
    """Try every threshold and weigh the variance between the classes."""
    wide = values.astype(float)
    grey = ((wide - wide.min()) / (wide.max() - wide.min()) * 255).astype(int)
    best, threshold = -1.0, 0
    for t in range(255):
        low, high = grey[grey <= t], grey[grey > t]
        if low.size and high.size:
            shares = low.size / grey.size, high.size / grey.size
            between = shares[0] * shares[1] * (low.mean() - high.mean()) ** 2
            if between > best + 1e-9:
                best, threshold = between, t
    return np.asarray(grey > threshold)


def test_that_otsus_threshold_is_the_best_of_all_tried() -> None:
    rng = np.random.default_rng(5)
    for i in range(40):
        rows, columns = (int(v) for v in rng.integers(2, 24, 2))
        values = rng.normal(0, 1, (rows, columns)).astype(np.float32)
        values[: rows // 2] += np.float32(i % 5)
        assert np.array_equal(above_otsu(values), otsu_by_hand(values))


def test_that_a_map_without_contrast_covers_nothing() -> None:
    assert not above_otsu(np.full((4, 5), 0.25, np.float32)).any()


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_that_iou_and_dice_equal_other_libraries() -> None:
    rng = np.random.default_rng(6)
    for mask in masks(60):
        other = rng.random(mask.shape) < 0.4
        found = overlap(mask, other)
        flat, flat_other = mask.ravel(), other.ravel()
        assert found.iou == pytest.approx(
            jaccard_score(flat, flat_other, zero_division=0), abs=1e-12
        )
        assert found.dice == pytest.approx(
            f1_score(flat, flat_other, zero_division=0), abs=1e-12
        )
        coded = [
            coco.encode(np.asfortranarray(m.astype(np.uint8))) for m in (mask, other)
        ]
        assert found.iou == pytest.approx(
            float(coco.iou(coded[:1], coded[1:], [0])[0, 0]), abs=1e-12
        )


def test_that_two_empty_masks_do_not_agree() -> None:
    nothing = np.zeros((3, 3), bool)
    assert overlap(nothing, nothing).iou == 0.0
    assert overlap(nothing, nothing).dice == 0.0


def distance_by_hand(
    mask: Bools, point: PointPx, row_mm: float, column_mm: float
) -> float:
    """Measure to every pixel's square, one by one."""
    return min(
        math.hypot(
            max(x - point.x, 0, point.x - x - 1) * column_mm,
            max(y - point.y, 0, point.y - y - 1) * row_mm,
        )
        for y, x in np.argwhere(mask)
    )


def test_that_distance_equals_measuring_to_every_pixel() -> None:
    rng = np.random.default_rng(7)
    for mask in masks(60):
        segments = column_segments(Mask.of_array(mask))
        point = PointPx(*rng.uniform(-5, 35, 2))
        assert distance(segments, point, 1.0, 1.0) == pytest.approx(
            distance_by_hand(mask, point, 1, 1), abs=1e-9
        )
        assert distance(
            segments, point, SPACING.column_mm, SPACING.row_mm
        ) == pytest.approx(distance_by_hand(mask, point, 0.5, 0.2), abs=1e-9)


def test_that_boxes_cover_the_pixels_whose_centres_they_hold() -> None:
    rng = np.random.default_rng(8)
    for _ in range(60):
        x0, y0, x1, y1 = rng.uniform(-5, 40, 4)
        boxes = (BoxPx(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)),)
        mask = mask_of_boxes(boxes, SizePx(20, 30))
        for y in range(20):
            for x in range(30):
                inside = (
                    boxes[0].x0 <= x + 0.5 < boxes[0].x1
                    and boxes[0].y0 <= y + 0.5 < boxes[0].y1
                )
                assert mask[y, x] == inside


def test_that_a_stretched_map_gives_each_pixel_the_element_over_its_centre() -> None:
    small = np.random.default_rng(9).random((5, 7)) < 0.5
    field = BoxPx(3.3, -4.0, 25.1, 18.7)
    large = stretched(small, field, SizePx(20, 30))
    for y in range(20):
        for x in range(30):
            u = math.floor((x + 0.5 - field.x0) / (field.x1 - field.x0) * 7)
            v = math.floor((y + 0.5 - field.y0) / (field.y1 - field.y0) * 5)
            inside = 0 <= u < 7 and 0 <= v < 5
            assert large[y, x] == (inside and small[v, u])


@pytest.mark.parametrize(
    ("point", "cell"),
    [
        (PointPx(16, 0), Cell(0, 0)),
        (PointPx(23.999, 8), Cell(1, 0)),
        (PointPx(80, 64), Cell(7, 7)),
        (PointPx(15.999, 10), None),
        (PointPx(20, 64.001), None),
    ],
)
def test_that_the_containing_cell_holds_its_first_edges_and_the_grids_last(
    point: PointPx, cell: Cell | None
) -> None:
    assert containing_cell(point, GRID, FIELD) == cell


def hot(row: int, column: int) -> HeatMapAnswer:
    values = np.zeros((16, 16), np.float32)
    values[row, column] = 1.0
    return HeatMapAnswer(SentHeatMap.of(values), FIELD)


ANSWERS: dict[str, tuple[Answer, PointPx]] = {
    "cell": (CellAnswer(Cell(3, 4)), PointPx(52, 28)),
    "point": (PointAnswer(PointPx(17.25, 33.5)), PointPx(17.25, 33.5)),
    "boxes": (
        BoxesAnswer((BoxPx(0, 0, 2, 2), BoxPx(40, 10, 60, 30))),
        PointPx(50, 20),
    ),
    "heat_map": (hot(4, 9), PointPx(16 + 9.5 * 4, 4.5 * 4)),
}


@pytest.mark.statement("X-03")
@pytest.mark.parametrize("kind", ANSWERS)
def test_that_every_answer_has_its_point(kind: str) -> None:
    answer, point = ANSWERS[kind]
    assert pointing_point(answer, GRID, FIELD, 1.0) == point


def test_that_of_equal_elements_the_first_in_row_major_order_is_pointed_at() -> None:
    values = np.zeros((8, 8), np.float32)
    values[2, 6] = values[3, 1] = 5.0
    answer = HeatMapAnswer(SentHeatMap.of(values), BoxPx(0, 0, 8, 8))
    assert pointing_point(answer, GRID, FIELD, 1.0) == PointPx(6.5, 2.5)


def test_that_measures_are_those_of_each_rule_alone() -> None:
    reference = mask_of_boxes((BoxPx(10, 8, 60, 24),), SIZE)
    qualifying = (8, 9, 12, 28)
    goal = target(Mask.of_array(reference), GRID, FIELD, qualifying, SPACED)
    sent = reference & mask_of_boxes((FIELD,), SIZE)
    for kind, (answer, point) in ANSWERS.items():
        found = measures(answer, goal)
        assert found is not None
        cell = containing_cell(point, GRID, FIELD)
        assert cell is not None
        assert found.cell_hit == (cell.row * 8 + cell.column in qualifying)
        assert found.pointing_hit == bool(sent[int(point.y), int(point.x)])
        assert found.distance_px == pytest.approx(
            distance_by_hand(sent, point, 2.5, 1), abs=1e-9
        )
        assert (found.kind, found.point) == (kind, point)
        assert found.distance_mm == pytest.approx(
            distance_by_hand(sent, point, SPACING.row_mm, SPACING.column_mm), abs=1e-9
        )
        assert found.mm_meaning is SpacingMeaning.DETECTOR
        covered = region(answer, GRID, FIELD, SIZE)
        if covered is None:
            assert (kind, found.iou, found.dice, found.iou_hit) == (
                "point",
                None,
                None,
                None,
            )
        else:
            whole = jaccard_score(covered.ravel(), reference.ravel())
            assert found.iou_uncropped == pytest.approx(whole, abs=1e-12)
            covered &= mask_of_boxes((FIELD,), SIZE)
            expected = jaccard_score(covered.ravel(), sent.ravel())
            assert found.iou == pytest.approx(expected, abs=1e-12)
            assert found.iou_hit == (expected >= 0.5)
            dice = f1_score(covered.ravel(), sent.ravel())
            assert found.dice == pytest.approx(dice, abs=1e-12)


def _whole(size: SizePx) -> BoxPx:
    return BoxPx(0, 0, size.columns, size.rows)


@pytest.mark.statement("X-03")
def test_that_the_reference_as_the_answer_agrees_with_itself_in_any_crop() -> None:
    rng, of_array = np.random.default_rng(12), Mask.of_array
    met = 0
    for i in range(200):
        size = SizePx(*(int(n) for n in rng.integers(5, 90, 2)))
        params = Params(side=int(rng.integers(8, 65)), fit_mode=list(FitMode)[i % 4])
        field = field_of(ImageGeometry(size), params)
        x, y = (np.sort(rng.uniform(0, n, (3, 2))) for n in (size.columns, size.rows))
        boxes = tuple(
            BoxPx(*c)
            for c in np.stack((x[:, 0], y[:, 0], x[:, 1], y[:, 1]), axis=1).tolist()
        )
        corners = rng.uniform(-2, 92, (int(rng.integers(3, 9)), 2))
        outline = PolygonPx(tuple(PointPx(*corner) for corner in corners))
        drawn = mask_of_boxes(boxes, size)
        traced = mask_of_polygon(outline, size)
        pairs: list[tuple[Bools, Answer]] = [
            *((drawn, a) for a in (BoxesAnswer(boxes), MaskAnswer(of_array(drawn)))),
            (traced, MaskAnswer(of_array(traced))),
            (traced, HeatMapAnswer(SentHeatMap.of(traced), _whole(size))),
        ]
        for mask, answer in pairs:
            goal = target(of_array(mask), GRID, field, (), ImageGeometry(size))
            found = measures(answer, goal)
            if found is not None:
                assert (found.iou, found.dice) == (1.0, 1.0)
                assert (found.iou_uncropped, found.dice_uncropped) == (1.0, 1.0)
                if not isinstance(answer, BoxesAnswer):
                    assert (found.pointing_hit, found.distance_px) == (True, 0.0)
                met += 1
    assert met > 400


def test_that_figures_of_the_whole_stand_beside_those_of_what_was_sent() -> None:
    reference = Mask.of_array(mask_of_boxes((BoxPx(0, 0, 32, 10),), SIZE))
    goal = target(reference, GRID, FIELD, (), UNSPACED)
    found = measures(BoxesAnswer((BoxPx(16, 0, 32, 10),)), goal)
    assert found is not None
    assert (found.iou, found.dice) == (1.0, 1.0)
    assert found.iou_uncropped == 0.5
    assert found.dice_uncropped == pytest.approx(2 / 3)


def test_that_without_a_spacing_nothing_is_in_millimetres() -> None:
    goal = target(Mask.of_array(np.ones((64, 96), bool)), GRID, FIELD, (0,), UNSPACED)
    found = measures(PointAnswer(PointPx(0, 0)), goal)
    assert found is not None
    assert (found.distance_px, found.distance_mm, found.mm_meaning) == (16, None, None)


def test_that_a_reference_of_which_nothing_was_sent_has_no_measures() -> None:
    outside = mask_of_boxes((BoxPx(0, 0, 5, 5),), SIZE)
    goal = target(Mask.of_array(outside), GRID, FIELD, (), UNSPACED)
    assert measures(PointAnswer(PointPx(20, 20)), goal) is None


def test_that_the_last_edges_belong_to_the_image_and_nothing_beyond_them() -> None:
    mask = np.ones((3, 4), bool)
    assert holds(mask, PointPx(4, 3))
    assert holds(mask, PointPx(0, 0))
    corner = np.zeros((3, 4), bool)
    corner[2, 3] = True
    assert holds(corner, PointPx(4, 3))
    assert holds(corner, PointPx(3, 2))
    assert not holds(corner, PointPx(2.9, 2))
    assert not holds(mask, PointPx(4.001, 1))
    assert not holds(mask, PointPx(1, -0.001))


@pytest.mark.statement("X-03")
def test_that_pointing_and_cell_rules_disagree_in_the_seven_of_twenty_set_up() -> None:
    # A strip a quarter of a cell high: no cell reaches 50 %, so any touched cell is a
    # hit by the cell rule, while only points on the strip itself hit by pointing.
    reference = mask_of_boxes((BoxPx(16, 0, 80, 2),), SIZE)
    goal = target(Mask.of_array(reference), GRID, FIELD, tuple(range(8)), UNSPACED)
    beside = [PointAnswer(PointPx(18.0 + 8 * i, 6.0)) for i in range(7)]
    on_it = [PointAnswer(PointPx(18.0 + 3 * i, 1.0)) for i in range(6)]
    away = [PointAnswer(PointPx(18.0 + 8 * i, 40.0)) for i in range(7)]
    found = [measures(a, goal) for a in (*beside, *on_it, *away)]
    differ = [m for m in found if m and m.cell_hit != m.pointing_hit]
    assert (len(found), len(differ)) == (20, 7)
