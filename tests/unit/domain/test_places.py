"""Places, their masks, and what a reading of them counts."""

import numpy as np

from viewer.domain.answer import Status, Unparsed
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.places import BoxMask, Place, PlacesReading, ReplyStatus


def _mask_by_loops(box: BoxPx, map_: np.ndarray, size: SizePx) -> np.ndarray:
    out = np.zeros((size.rows, size.columns), dtype=bool)
    for row in range(size.rows):
        for column in range(size.columns):
            u = (column + 0.5 - box.x0) / (box.x1 - box.x0) * map_.shape[1]
            v = (row + 0.5 - box.y0) / (box.y1 - box.y0) * map_.shape[0]
            if 0 <= u < map_.shape[1] and 0 <= v < map_.shape[0]:
                out[row, column] = map_[int(v), int(u)] >= 128
    return out


def test_that_a_box_mask_is_what_a_loop_over_pixels_gives() -> None:
    rng = np.random.default_rng(0)
    size = SizePx(23, 31)
    for box in (BoxPx(2, 3, 20, 17), BoxPx(-4.5, 1.25, 40.75, 30.5), BoxPx(5, 5, 6, 6)):
        map_ = rng.integers(0, 256, (7, 5), dtype=np.uint8)
        mask = BoxMask(box, map_).mask(size)
        np.testing.assert_array_equal(mask.array(), _mask_by_loops(box, map_, size))


def test_that_a_box_mask_beside_the_image_is_empty() -> None:
    white = np.full((4, 4), 255, dtype=np.uint8)
    assert BoxMask(BoxPx(50, 50, 60, 60), white).mask(SizePx(10, 10)).is_empty


def test_that_only_a_whole_reply_is_scored() -> None:
    places = (Place(PointPx(1.0, 2.0)),)
    read = PlacesReading("raw", "claude", ReplyStatus.OK, places=places)
    cut = PlacesReading("raw", "claude", ReplyStatus.TRUNCATED, "length", places)
    assert read.scored == places
    assert cut.scored == ()


def test_that_an_empty_list_is_an_answer_and_an_unread_reply_is_none() -> None:
    empty = PlacesReading("[]", "claude", ReplyStatus.EMPTY, "empty_list")
    unread = PlacesReading("hm", "claude", ReplyStatus.UNPARSED, "no_coordinates")
    assert empty.unparsed() is None
    assert unread.unparsed() == Unparsed(Status.UNPARSED, "no_coordinates")


def test_that_every_status_of_a_reply_but_two_is_a_trials_status() -> None:
    words = {status.value for status in Status}
    others = {status.value for status in ReplyStatus} - words
    assert others == {"ok", "empty"}
