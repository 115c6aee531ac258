import numpy as np
import numpy.typing as npt
import pytest

from viewer.domain.geometry import BoxPx
from viewer.metrics.parts import boxes_around


def _flooded(mask: list[list[bool]]) -> list[BoxPx]:
    """Flood each part from its first pixel, neighbour by neighbour."""
    left = {
        (r, c) for r, row in enumerate(mask) for c, is_set in enumerate(row) if is_set
    }
    boxes = []
    for start in sorted(left):
        if start not in left:
            continue
        part, open_ = {start}, [start]
        left.discard(start)
        while open_:
            r, c = open_.pop()
            near = {(r + i, c + j) for i in (-1, 0, 1) for j in (-1, 0, 1)} & left
            left -= near
            part |= near
            open_ += near
        rows, columns = [r for r, _ in part], [c for _, c in part]
        ends = (min(columns), min(rows), max(columns) + 1, max(rows) + 1)
        boxes.append(BoxPx(*map(float, ends)))
    return boxes


def test_that_the_boxes_are_those_of_a_flood() -> None:
    assert [*map(_boxes, range(60))] == [*map(_floods, range(60))]


@pytest.mark.proof
def test_that_the_boxes_are_those_of_a_flood_in_10000_cases() -> None:
    seeds = range(10_000, 20_000)
    assert all(_boxes(seed) == _floods(seed) for seed in seeds)


def _mask(seed: int) -> npt.NDArray[np.bool_]:
    rng = np.random.default_rng(seed)
    share = float(rng.choice([0.05, 0.2, 0.5]))
    return rng.random((9, 11)) < share


def _boxes(seed: int) -> list[BoxPx]:
    return list(boxes_around(_mask(seed)))


def _floods(seed: int) -> list[BoxPx]:
    return _flooded(_mask(seed).tolist())


def test_that_an_empty_mask_has_no_box_and_a_corner_joins() -> None:
    assert boxes_around(np.zeros((4, 5), dtype=bool)) == ()
    assert boxes_around(np.eye(3, dtype=bool)) == (BoxPx(0, 0, 3, 3),)
