"""The verifier's average precision and FROC against pycocotools and the metrics."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.unit.metrics.test_detection import coco_precisions, random_images, untied
from viewer.metrics.boxes import ImageBoxes, best_iou, iou_matrix
from viewer.metrics.detection import (
    COCO_THRESHOLDS,
    FROC_RATES,
    average_precision,
    froc,
)
from viewer.writers.verify.estimators import Cell, Shared
from viewer.writers.verify.finding_boxes import (
    FOUND,
    best_overlap,
    froc_points,
    precision_at,
    shared_part,
)

OF = ("predicted", "confidence", "reference")
pytestmark = pytest.mark.filterwarnings(  # inside pycocotools, with NumPy 2
    "ignore:__array__ implementation:DeprecationWarning"
)


def seen(images: Sequence[ImageBoxes], **options: object) -> Cell:
    rows: list[dict[str, Any]] = [
        {
            "predicted": [tuple(box) for box in image.predicted.tolist()],
            "confidence": image.confidence.tolist(),
            "reference": [tuple(box) for box in image.reference.tolist()],
        }
        for image in images
    ]
    return Cell(rows, None, OF, options, Shared())


def test_that_overlaps_are_those_of_the_program() -> None:
    compared = 0
    for seed in range(60):
        for image in random_images(seed):
            one, other = (of.tolist() for of in (image.predicted, image.reference))
            wanted = iou_matrix(image.predicted, image.reference).tolist()
            found = [[shared_part(a, b) for b in other] for a in one]
            assert found == wanted
            assert best_overlap(one, other) == best_iou(image)
            compared += len(one) * len(other)
    assert compared > 500
    assert shared_part((0, 0, 0, 0), (0, 0, 0, 0)) == 0


def test_that_average_precision_is_that_of_pycocotools() -> None:
    compared = 0
    for seed in range(60):
        images = untied(random_images(seed), seed)
        found = [precision_at(seen(images), at) for at in COCO_THRESHOLDS]
        wanted = coco_precisions(images)
        if any(len(image.reference) for image in images):
            assert found == pytest.approx(wanted, abs=1e-12)
            compared += 1
        else:
            assert (found, wanted) == ([None] * 10, [-1.0] * 10)
    assert compared > 30


def test_that_ties_and_a_hundred_boxes_count_as_in_the_program() -> None:
    for seed in range(150):
        images = random_images(seed)
        wanted = average_precision(images, (0.3, 0.5, 1.0))
        found = [precision_at(seen(images), at) for at in (0.3, 0.5, 1.0)]
        assert found == [None if math.isnan(w) else w for w in wanted.at_thresholds]
    many = [image for seed in range(40) for image in random_images(seed)]
    columns = ([getattr(image, name) for image in many] for name in OF)
    whole = ImageBoxes(*map(np.concatenate, columns))
    assert len(whole.predicted) > 100
    assert precision_at(seen([whole]), 0.5) == average_precision([whole], (0.5,)).value


@pytest.mark.parametrize("overlap", [0.2, 0.5])
def test_that_the_curve_and_its_rates_are_those_of_the_program(overlap: float) -> None:
    for seed in range(150):
        images = random_images(seed)
        wanted = froc(images, overlap)
        false, found = froc_points(seen(images, overlap=overlap))
        assert false == list(wanted.false_positives)
        told = [None if math.isnan(one) else one for one in wanted.sensitivity]
        assert found == told
        for rates in (FROC_RATES, (1.0,)):
            of = seen(images, overlap=overlap, rates=rates)
            value, name = FOUND["froc"](of)
            score = np.mean(wanted.at(rates))
            assert value == (None if math.isnan(score) else score)
            assert str(name).startswith(wanted.method)


def test_that_boxes_without_an_order_have_none_and_say_why() -> None:
    box, far = (0.0, 0.0, 9.0, 9.0), (20.0, 20.0, 29.0, 29.0)
    rows = [
        {"predicted": [box], "confidence": (), "reference": [box]},
        {"predicted": [far, box], "confidence": (), "reference": [box]},
    ]
    cell = Cell(rows, None, OF, {"overlaps": (0.5,)}, Shared())
    value, why = FOUND["average precision"](cell)
    assert value is None
    assert str(why).startswith("none: all boxes have equal")
    assert FOUND["average precision by overlap"](cell)[:2] == ([], [])
