"""Regions as pieces of columns, against NumPy and SciPy on whole masks."""

import json
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from scipy.ndimage import distance_transform_edt, gaussian_filter, label

from viewer.domain.answer import HeatMapAnswer
from viewer.domain.answer_json import answer_as_json
from viewer.domain.exchange import SentHeatMap
from viewer.domain.geometry import BoxPx
from viewer.domain.reference import Mask
from viewer.writers.verify.pieces import (
    Region,
    above_threshold,
    cut_region,
    deepest_pixel,
    distance_to,
    overlap_of,
    parts_of,
    region_holds,
    region_of_boxes,
    region_of_map,
    region_of_mask,
)

Bools = npt.NDArray[np.bool_]


def masks(n: int) -> Iterator[tuple[Bools, Region]]:
    """Yield masks of noise and of blobs, at least a pixel in each."""
    rng = np.random.default_rng(7)
    for i in range(n):
        shape = rng.integers(1, 40, 2)
        noise = rng.random(shape)
        blobs = gaussian_filter(noise, 2) > rng.uniform(0.45, 0.55)
        mask = noise < rng.random() if i % 2 else blobs
        if mask.any():
            yield mask, region_of_mask(int(shape[0]), Mask.of_array(mask).counts)


def painted(region: Region, shape: tuple[int, ...]) -> Bools:
    whole = np.zeros(shape, bool)
    for column, spans in region.items():
        for start, stop in spans:
            assert not whole[start:stop, column].any()
            whole[start:stop, column] = True
    return whole


def centres(shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    return np.mgrid[: shape[0], : shape[1]] + 0.5


def within(box: tuple[float, ...], shape: tuple[int, ...]) -> Bools:
    (y, x), (x0, y0, x1, y1) = centres(shape), box
    return np.asarray((x0 <= x) & (x < x1) & (y0 <= y) & (y < y1))


def some_boxes(rng: np.random.Generator, n: int) -> list[tuple[float, ...]]:
    corners = np.round(np.sort(rng.uniform(-5, 45, (n, 2, 2)), axis=1) * 2) / 2
    return [(x0, y0, x1, y1) for (x0, y0), (x1, y1) in corners.tolist()]


def test_that_masks_are_counted_cut_and_compared_pixel_by_pixel() -> None:
    rng = np.random.default_rng(1)
    for mask, region in masks(120):
        assert (painted(region, mask.shape) == mask).all()
        (field,) = some_boxes(rng, 1)
        sent = mask & within(field, mask.shape)
        assert (painted(cut_region(region, field), mask.shape) == sent).all()  # type: ignore[arg-type]
        boxes = some_boxes(rng, 3)
        other = np.any([within(box, mask.shape) for box in boxes], axis=0)
        drawn = region_of_boxes(boxes, *mask.shape)
        assert (painted(drawn, mask.shape) == other).all()
        both, either = (mask & other).sum(), (mask | other).sum()
        dice = 2 * both / (mask.sum() + other.sum())
        assert overlap_of(region, drawn) == (both / either, dice)
    assert overlap_of({}, {}) == (0.0, 0.0)


def test_that_parts_have_the_boxes_and_order_of_scipy() -> None:
    for mask, region in masks(200):
        labels, n = label(mask, structure=np.ones((3, 3)))
        wanted = []
        for part in range(1, n + 1):
            y, x = np.nonzero(labels == part)
            wanted.append((x.min(), y.min(), x.max() + 1, y.max() + 1))
        assert parts_of(region) == wanted


@pytest.mark.parametrize("aspect", [1.0, 0.5, 1.3])
def test_that_the_deepest_pixel_is_that_of_scipy_s_distances(aspect: float) -> None:
    for mask, region in masks(200):
        depth = distance_transform_edt(np.pad(mask, 1), sampling=(aspect, 1))[
            1:-1, 1:-1
        ]
        y, x = np.argwhere(depth == depth.max())[0]
        assert deepest_pixel(region, aspect) == (x + 0.5, y + 0.5)


def test_that_distances_are_those_to_the_nearest_square() -> None:
    rng = np.random.default_rng(3)
    for mask, region in masks(60):
        x, y = rng.uniform(-3, 43, 2)
        rows, columns = np.nonzero(mask)
        across = np.maximum(np.maximum(columns - x, x - columns - 1), 0) * 0.3
        along = np.maximum(np.maximum(rows - y, y - rows - 1), 0) * 0.7
        wanted = np.hypot(across, along).min()
        assert distance_to(region, x, y, 0.3, 0.7) == pytest.approx(wanted)
        size = mask.shape
        inside = 0 <= x <= size[1] and 0 <= y <= size[0]
        at = min(int(y), size[0] - 1), min(int(x), size[1] - 1)
        assert region_holds(region, x, y, size) == (inside and bool(mask[at]))


def test_that_a_map_covers_what_lies_above_its_threshold() -> None:
    rng = np.random.default_rng(4)
    shape = (31, 37)
    y, x = centres(shape)
    for _ in range(40):
        values = rng.random(rng.integers(1, 9, 2))
        (field,) = some_boxes(rng, 1)
        if field[0] == field[2] or field[1] == field[3]:
            continue
        answer = HeatMapAnswer(SentHeatMap.of(values), BoxPx(*field))
        sent = answer.heat_map.values.astype(float)
        u = np.floor((x - field[0]) / (field[2] - field[0]) * values.shape[1])
        v = np.floor((y - field[1]) / (field[3] - field[1]) * values.shape[0])
        hot = np.reshape(above_threshold([*sent.ravel()]), values.shape)
        places = (
            np.clip(v, 0, values.shape[0] - 1).astype(int),
            np.clip(u, 0, values.shape[1] - 1).astype(int),
        )
        wanted = hot[places] & within(field, shape)
        found = region_of_map(json.loads(answer_as_json(answer)), *shape)
        assert (painted(found, shape) == wanted).all()


def test_that_the_threshold_parts_levels_as_otsu_s() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        values = rng.random(50)
        grey = ((values - values.min()) / np.ptp(values) * 255).astype(int)
        apart = [
            (grey <= t).mean()
            * (grey > t).mean()
            * (grey[grey <= t].mean() - grey[grey > t].mean()) ** 2
            for t in range(255)
        ]
        assert above_threshold([*values]) == [*(grey > int(np.argmax(apart)))]
    assert above_threshold([0.5, 0.5]) == [False, False]
