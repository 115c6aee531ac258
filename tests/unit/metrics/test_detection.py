import contextlib
import io
import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import numpy.typing as npt
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from sklearn.metrics import precision_recall_curve

from viewer.domain.geometry import BoxPx
from viewer.metrics.boxes import ImageBoxes, Matching, image_boxes, iou_matrix, matched
from viewer.metrics.detection import (
    COCO_THRESHOLDS,
    FROC_RATES,
    average_precision,
    froc,
    tells_apart,
)

Floats = npt.NDArray[np.float64]
pytestmark = pytest.mark.filterwarnings(  # inside pycocotools, with NumPy 2
    "ignore:__array__ implementation:DeprecationWarning"
)


def random_images(seed: int) -> list[ImageBoxes]:
    """Return images whose boxes are near the references; some have none of either."""
    rng = np.random.default_rng(seed)
    images = []
    for _ in range(rng.integers(1, 6)):
        low = rng.integers(0, 12, (rng.integers(0, 4), 2))
        reference = np.hstack((low, low + rng.integers(2, 12, low.shape)))
        copies = np.repeat(reference, rng.integers(0, 3, len(reference)), axis=0)
        near = copies + rng.integers(-1, 2, copies.shape) * [1, 1, 0, 0]
        low = rng.integers(0, 30, (rng.integers(0, 3), 2))
        predicted = np.vstack((near, np.hstack((low, low + 5)))).astype(np.float64)
        sure = np.round(rng.random(len(predicted)), int(rng.integers(1, 4)))
        images.append(ImageBoxes(predicted, sure, reference.astype(np.float64)))
    return images


def xywh(box: Floats) -> list[float]:
    return [box[0], box[1], box[2] - box[0], box[3] - box[1]]


def coco_precisions(images: list[ImageBoxes]) -> list[float]:
    """Return pycocotools' average precision at each threshold, -1 without reference."""
    references = [(i, box) for i, image in enumerate(images) for box in image.reference]
    truth, found = COCO(), COCO()
    frames = [{"id": i} for i in range(len(images))]
    truth.dataset = {
        "images": frames,
        "categories": [{"id": 1}],
        "annotations": [
            {"id": n + 1, "image_id": i, "category_id": 1, "iscrowd": 0}
            | {"bbox": xywh(box), "area": 1.0}
            for n, (i, box) in enumerate(references)
        ],
    }
    boxes = [
        (i, box, score)
        for i, image in enumerate(images)
        for box, score in zip(image.predicted, image.confidence, strict=True)
    ]
    found.dataset = {
        "images": frames,
        "categories": [{"id": 1}],
        "annotations": [
            {"id": n + 1, "image_id": i, "category_id": 1, "score": score}
            | {"bbox": xywh(box), "area": 1.0}
            for n, (i, box, score) in enumerate(boxes)
        ],
    }
    with contextlib.redirect_stdout(io.StringIO()):
        truth.createIndex()
        found.createIndex()
        evaluation = COCOeval(truth, found, "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
    precision = evaluation.eval["precision"][:, :, 0, 0, -1]
    return [float(at.mean()) for at in precision]


def untied(images: list[ImageBoxes], seed: int) -> list[ImageBoxes]:
    """Return images whose boxes are all sure to another degree."""
    sizes = [len(image.predicted) for image in images]
    sure = np.random.default_rng(seed).permutation(sum(sizes)).astype(np.float64)
    parts = np.split(sure, np.cumsum(sizes)[:-1])
    pairs = zip(images, parts, strict=True)
    return [replace(image, confidence=part) for image, part in pairs]


def precision_with_ties(images: list[ImageBoxes], threshold: float) -> float:
    """Interpolate scikit-learn's curve, which takes equal confidences together."""
    hits = [matched(i, threshold, Matching.ONE_TO_ONE) >= 0 for i in images]
    sure = [image.confidence for image in images]
    hit = np.concatenate(hits)
    if not hit.any():
        return 0.0
    share = hit.sum() / sum(len(image.reference) for image in images)
    precision, recall, _ = precision_recall_curve(hit, np.concatenate(sure))
    curve = [*zip(precision[:-1], recall[:-1] * share, strict=True)]
    reached = [
        max((p for p, r in curve if r >= at - 1e-12), default=0.0)
        for at in np.linspace(0, 1, 101)
    ]
    return float(np.mean(reached))


def test_that_ties_count_together_as_scikit_learn_has_them() -> None:
    tied = 0
    for seed in range(80):
        images = random_images(seed)
        sure = np.concatenate([image.confidence for image in images])
        if any(len(image.reference) for image in images) and sure.size:
            ours = average_precision(images, [0.3, 0.5]).at_thresholds
            theirs = [precision_with_ties(images, at) for at in (0.3, 0.5)]
            assert ours == pytest.approx(theirs, abs=1e-12)
            tied += len(np.unique(sure)) < sure.size
    assert tied > 20


def test_that_the_order_of_images_changes_no_average_precision() -> None:
    box, away = BoxPx(0, 0, 10, 10), BoxPx(50, 50, 60, 60)
    both = [image_boxes([box], [box]), image_boxes([away], [box])]
    assert average_precision(both).value == average_precision(both[::-1]).value
    found = (average_precision(of).value for of in permutations(random_images(5)))
    assert len(set(found)) == 1


def test_that_boxes_are_told_apart_by_their_confidences_alone() -> None:
    box = BoxPx(0, 0, 10, 10)
    one, two = image_boxes([box], []), image_boxes([box, box], [box], [0.5, 0.4])
    assert not tells_apart([])
    assert not tells_apart([one, one])
    assert tells_apart([one, two])


def precision_checked(seed: int) -> bool:
    """Compare with pycocotools; tell whether there was anything to find."""
    images = untied(random_images(seed), seed)
    ours = average_precision(images)
    theirs = coco_precisions(images)
    if not sum(len(image.reference) for image in images):
        assert theirs == [-1.0] * 10
        assert all(math.isnan(at) for at in (ours.value, *ours.at_thresholds))
        return False
    assert np.abs(np.array(ours.at_thresholds) - theirs).max() <= 1e-12
    assert ours.value == pytest.approx(np.mean(theirs), abs=1e-12)
    return True


def test_that_average_precision_equals_pycocotools() -> None:
    assert sum(precision_checked(seed) for seed in range(60)) > 30


@pytest.mark.proof
def test_that_ten_thousand_average_precisions_equal_pycocotools() -> None:
    assert sum(precision_checked(seed) for seed in range(10_000)) > 5_000


def test_that_only_the_hundred_surest_boxes_of_an_image_count() -> None:
    box, away = BoxPx(0, 0, 10, 10), BoxPx(50, 50, 60, 60)
    sure = [*np.linspace(0.9, 0.5, 100), 0.4]
    images = [image_boxes([away] * 100 + [box], [box], sure)]
    assert average_precision(images).value == 0.0
    assert coco_precisions(images) == [0.0] * 10
    seen = [image_boxes([away] * 99 + [box], [box], sure[:100])]
    assert average_precision(seen).value == pytest.approx(0.01, abs=1e-12)
    assert froc(images).sensitivity[-1] == 1.0


def test_that_average_precision_says_what_it_is() -> None:
    box = BoxPx(0, 0, 10, 10)
    perfect = average_precision([image_boxes([box], [box])])
    assert perfect.value == 1.0
    assert perfect.thresholds == COCO_THRESHOLDS
    assert perfect.at_thresholds == (1.0,) * 10
    assert (
        perfect.method == "COCO average precision, 101 recalls, one to one, ties as one"
    )
    assert average_precision([image_boxes([box], [box])], [1.0]).value == 1.0
    assert math.isnan(average_precision([image_boxes([box], [box])], []).value)
    assert math.isnan(average_precision([]).value)
    assert average_precision([image_boxes([], [box])]).value == 0.0


def plain_curve(
    images: list[ImageBoxes], threshold: float
) -> tuple[list[float], list[float]]:
    """Cut all boxes below each confidence and match again from the start."""
    total = sum(len(image.reference) for image in images)
    cuts = sorted({c for image in images for c in image.confidence}, reverse=True)
    false, found = [0.0], [0.0 if total else math.nan]
    for cut in cuts:
        strays = hits = 0
        for image in images:
            kept = image.confidence >= cut
            left = ImageBoxes(
                image.predicted[kept], image.confidence[kept], image.reference
            )
            hits += int((matched(left, threshold, Matching.ONE_TO_ONE) >= 0).sum())
            iou = iou_matrix(left.predicted, left.reference)
            strays += sum(not any(o >= threshold for o in row) for row in iou)
        false.append(strays / len(images))
        found.append(hits / total if total else math.nan)
    return false, found


def curve_points_checked(seed: int) -> int:
    """Compare with matching anew at every cut; count the points of the curves."""
    points = 0
    images = random_images(seed)
    for threshold in (0.2, 0.5):
        false, found = plain_curve(images, threshold)
        ours = froc(images, threshold)
        assert ours.false_positives == pytest.approx(false, abs=1e-12)
        assert ours.sensitivity == pytest.approx(found, abs=1e-12, nan_ok=True)
        at = [
            max(y for x, y in zip(false, found, strict=True) if x <= rate)
            for rate in FROC_RATES
        ]
        assert ours.at(FROC_RATES) == pytest.approx(at, abs=1e-12, nan_ok=True)
        points += len(false)
    return points


def test_that_the_curve_equals_matching_anew_at_every_cut() -> None:
    assert sum(curve_points_checked(seed) for seed in range(150)) > 300


@pytest.mark.proof
def test_that_ten_thousand_curves_equal_matching_anew_at_every_cut() -> None:
    assert sum(curve_points_checked(seed) for seed in range(10_000)) > 20_000


def test_that_a_second_box_on_a_found_reference_counts_neither_way() -> None:
    box = BoxPx(0, 0, 10, 10)
    twice = image_boxes([box, BoxPx(0, 0, 10, 9)], [box], [0.9, 0.8])
    healthy = image_boxes([box], [], [0.5])
    curve = froc([twice, healthy])
    assert curve.false_positives == (0.0, 0.0, 0.0, 0.5)
    assert curve.sensitivity == (0.0, 1.0, 1.0, 1.0)
    assert curve.at(FROC_RATES) == (1.0,) * 7
    assert curve.method == "FROC, IoU ≥ 0.5, one to one, steps, n = 2"


def test_that_the_way_of_matching_decides_what_is_found() -> None:
    left, right = BoxPx(0, 0, 10, 10), BoxPx(4, 0, 14, 10)
    image = image_boxes([left, BoxPx(1, 0, 11, 10)], [left, right], [0.9, 0.8])
    assert froc([image]).sensitivity == (0.0, 0.5, 1.0)
    assert average_precision([image], [0.5]).value == 1.0
    greedy = froc([image], matching=Matching.GREEDY)
    assert greedy.sensitivity == (0.0, 0.5, 0.5)
    assert greedy.method == "FROC, IoU ≥ 0.5, greedy, steps, n = 1"


def test_that_a_curve_without_images_references_or_boxes_is_no_crash() -> None:
    assert froc([]).sensitivity == froc([]).false_positives == ()
    assert all(map(math.isnan, froc([]).at((0.5, 8))))
    assert froc([]).method == "FROC, IoU ≥ 0.5, one to one, steps, n = 0"
    nothing = froc([image_boxes([], [])])
    assert nothing.false_positives == (0.0,)
    assert all(map(math.isnan, nothing.at((0.5, 8))))
    silent = froc([image_boxes([], [BoxPx(0, 0, 1, 1)])])
    assert (silent.sensitivity, silent.at((8,))) == ((0.0,), (0.0,))
