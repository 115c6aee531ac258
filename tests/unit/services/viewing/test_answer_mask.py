"""What an answer covers on a small picture of the field that was asked about."""

import numpy as np
import numpy.typing as npt
import pytest

from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    HeatMapAnswer,
    MaskAnswer,
    PointAnswer,
)
from viewer.domain.exchange import SentHeatMap
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.grid import Cell
from viewer.domain.reference import Mask
from viewer.services.viewing.answer_mask import answer_mask

FIELD = BoxPx(50, 0, 250, 200)
SIDE = 100


def quarter() -> npt.NDArray[np.bool_]:
    """Return the lower right quarter of the picture."""
    mask = np.zeros((SIDE, SIDE), bool)
    mask[50:, 50:] = True
    return mask


def native() -> MaskAnswer:
    mask = np.zeros((200, 300), bool)
    mask[100:, 150:] = True
    return MaskAnswer(Mask.of_array(mask))


@pytest.mark.parametrize(
    "answer",
    [
        BoxesAnswer((BoxPx(150, 100, 250, 200),)),
        native(),
        HeatMapAnswer(SentHeatMap.of([[0.0, 0.1], [0.1, 0.9]]), FIELD),
    ],
)
def test_that_an_area_lies_where_it_is_in_the_field(answer: Answer) -> None:
    found = answer_mask(answer, FIELD, SIDE)
    assert found is not None
    np.testing.assert_array_equal(found, quarter())


def test_that_a_point_is_a_cross_around_itself() -> None:
    found = answer_mask(PointAnswer(PointPx(150, 100)), FIELD, SIDE)
    assert found is not None
    ys, xs = np.nonzero(found)
    assert (xs.mean() + 0.5, ys.mean() + 0.5) == pytest.approx((50, 50), abs=0.5)
    assert 4 < found.sum() < 30


def test_that_a_cell_and_nothing_cover_nothing() -> None:
    assert answer_mask(CellAnswer(Cell(0, 0)), FIELD, SIDE) is None
    assert answer_mask(None, FIELD, SIDE) is None
