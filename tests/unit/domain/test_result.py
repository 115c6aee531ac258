import pytest

from viewer.domain.geometry import PointPx
from viewer.domain.result import IOU_THRESHOLD, Measures


@pytest.mark.statement("X-03")
@pytest.mark.parametrize(
    ("iou", "hit"),
    [(0.0, False), (0.499, False), (IOU_THRESHOLD, True), (1.0, True), (None, None)],
)
def test_that_an_overlap_is_a_hit_from_one_half_on(
    iou: float | None, hit: bool | None
) -> None:
    at = PointPx(1, 2)
    measures = Measures("boxes", at, False, False, iou, None, 3.0, None, None)
    assert measures.iou_hit is hit
