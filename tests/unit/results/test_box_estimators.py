"""Average precision and FROC as cells of a table."""

from math import isnan
from typing import Any

import pytest

from tests.helpers.tabled import estimate
from viewer.domain.geometry import BoxPx
from viewer.metrics.boxes import image_boxes
from viewer.metrics.detection import COCO_THRESHOLDS, average_precision, froc

OF = ("predicted", "confidence", "reference")
Columns = dict[str, list[Any]]
TEN, NEAR, FAR = BoxPx(0, 0, 10, 10), BoxPx(0, 0, 10, 7), BoxPx(50, 50, 60, 60)
IMAGES: Columns = {
    "predicted": [(TEN, FAR), (NEAR,), (FAR,), ()],
    "confidence": [(0.9, 0.2), (0.6,), (0.8,), ()],
    "reference": [(TEN,), (TEN, FAR), (), (TEN,)],
}
ROWS = [
    image_boxes(predicted, reference, sure or None)
    for predicted, sure, reference in zip(*IMAGES.values(), strict=True)
]
HAVING = {name: [*of[:2], *of[3:]] for name, of in IMAGES.items()}
UNSURE: Columns = {**IMAGES, "confidence": [()] * 4}


def test_that_average_precision_is_coco_s_of_the_rows_boxes() -> None:
    found = average_precision(ROWS)
    value, name = estimate("average precision", IMAGES, of=OF, overlaps=COCO_THRESHOLDS)
    assert value == found.value
    assert name == f"{found.method}, IoU 0.5 to 0.95"
    by_overlap = estimate(
        "average precision by overlap", IMAGES, of=OF, overlaps=(0.5, 0.75)
    )
    at = average_precision(ROWS, (0.5, 0.75)).at_thresholds
    assert by_overlap == ([0.5, 0.75], list(at), found.method)


def test_that_boxes_that_nothing_orders_have_no_average_precision() -> None:
    value, why = estimate("average precision", UNSURE, of=OF, overlaps=(0.5, 0.75))
    assert isnan(value)
    assert why == "none: all boxes have equal or no confidence"
    lists = estimate("average precision by overlap", UNSURE, of=OF, overlaps=(0.5,))
    assert lists[:2] == ([], [])


def test_that_sensitivities_are_those_of_the_curve() -> None:
    found = froc(ROWS, 0.6)
    false, sensitivity = estimate("froc curve", IMAGES, of=OF, overlap=0.6)
    assert false == list(found.false_positives) == [0, 0, 0.25, 0.25, 0.5]
    assert sensitivity == list(found.sensitivity) == [0, 0.25, 0.25, 0.5, 0.5]
    value, name = estimate("froc", IMAGES, of=OF, overlap=0.6, rates=(0.25,))
    assert (value, name) == (0.5, found.method)
    value, _ = estimate("froc", IMAGES, of=OF, overlap=0.6, rates=(0.125, 8))
    assert value == pytest.approx((0.25 + 0.5) / 2)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("average precision", {"overlaps": (0.5, 0.75)}),
        ("average precision by overlap", {"overlaps": (0.5,)}),
        ("froc", {"overlap": 0.5, "rates": (1.0,)}),
    ],
)
def test_that_numbers_of_items_with_boxes_alone_say_so(
    name: str, options: dict[str, Any]
) -> None:
    assert "only" not in str(estimate(name, IMAGES, of=OF, **options)[-1])
    *_, alone = estimate(name, HAVING, of=OF, **options)
    assert str(alone).endswith(", only items with the finding")
