import numpy as np
import numpy.typing as npt
import pytest
from pycocotools import mask as coco

from viewer.domain.geometry import BoxPx, SizePx
from viewer.metrics.boxes import (
    ImageBoxes,
    Matching,
    best_iou,
    cut_to,
    image_boxes,
    iou_matrix,
    matched,
)
from viewer.metrics.regions import mask_of_boxes

Floats = npt.NDArray[np.float64]
pytestmark = pytest.mark.filterwarnings(  # inside pycocotools, with NumPy 2
    "ignore:__array__ implementation:DeprecationWarning"
)


def random_boxes(rng: np.random.Generator, n: int) -> Floats:
    """Return boxes with whole corners, x0 < x1 and y0 < y1, close to one another."""
    low = rng.integers(0, 12, (n, 2))
    return np.hstack((low, low + rng.integers(1, 10, (n, 2)))).astype(np.float64)


def as_coco(boxes: Floats) -> Floats:
    return np.hstack((boxes[:, :2], boxes[:, 2:] - boxes[:, :2]))


def iou_error(seed: int) -> float:
    rng = np.random.default_rng(seed)
    one, other = (random_boxes(rng, int(n)) for n in rng.integers(1, 6, 2))
    ours = iou_matrix(one, other)
    theirs = coco.iou(as_coco(one), as_coco(other), [0] * len(other))
    return float(np.abs(ours - theirs).max())


def test_that_overlaps_equal_those_of_pycocotools() -> None:
    assert max(iou_error(seed) for seed in range(300)) <= 1e-12


@pytest.mark.proof
def test_that_ten_thousand_overlaps_equal_those_of_pycocotools() -> None:
    assert max(iou_error(seed) for seed in range(10_000)) <= 1e-12


def test_that_boxes_without_area_or_turned_over_share_nothing() -> None:
    line, turned = [2.0, 2.0, 2.0, 5.0], [6.0, 6.0, 1.0, 1.0]
    square = [0.0, 0.0, 4.0, 4.0]
    boxes = np.array([line, turned, square])
    expected = [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert (iou_matrix(boxes, boxes) == expected).all()
    assert iou_matrix(np.zeros((0, 4)), boxes).shape == (0, 3)


def test_that_boxes_smaller_than_a_pixel_overlap_all_the_same() -> None:
    one, other = np.array([[0.1, 0.1, 0.5, 0.3]]), np.array([[0.3, 0.1, 0.7, 0.3]])
    assert iou_matrix(one, other)[0, 0] == pytest.approx(1 / 3)


def plain_matches(image: ImageBoxes, threshold: float, matching: Matching) -> list[int]:
    """Pair boxes with loops, as COCO's and VOC's papers tell."""
    iou = iou_matrix(image.predicted, image.reference).tolist()
    order = sorted(range(len(iou)), key=lambda i: -image.confidence[i])
    found, taken = [-1] * len(iou), set()
    for i in order:
        best = None
        for j, overlap in enumerate(iou[i]):
            if matching is Matching.ONE_TO_ONE and j in taken:
                continue
            better = best is None or overlap > iou[i][best]
            last = matching is Matching.ONE_TO_ONE
            if better or (last and best is not None and overlap == iou[i][best]):
                best = j
        if best is not None and iou[i][best] >= threshold and best not in taken:
            found[i] = best
            taken.add(best)
    return found


def same_matching(seed: int) -> bool:
    rng = np.random.default_rng(seed)
    predicted, reference = (random_boxes(rng, int(n)) for n in rng.integers(0, 7, 2))
    sure = np.round(rng.random(len(predicted)), 1)
    image = ImageBoxes(predicted, sure, reference)
    return all(
        matched(image, threshold, matching).tolist()
        == plain_matches(image, threshold, matching)
        for matching in Matching
        for threshold in (0.1, 0.5, 1.0)
    )


def test_that_both_matchings_equal_plain_loops_with_ties() -> None:
    assert all(same_matching(seed) for seed in range(300))


@pytest.mark.proof
def test_that_ten_thousand_matchings_equal_plain_loops() -> None:
    assert all(same_matching(seed) for seed in range(10_000))


def test_that_a_second_box_on_a_found_reference_goes_to_the_next_only_one_to_one() -> (
    None
):
    left, right = BoxPx(0, 0, 10, 10), BoxPx(4, 0, 14, 10)
    image = image_boxes([left, BoxPx(1, 0, 11, 10)], [left, right], [0.9, 0.8])
    assert matched(image, 0.5, Matching.ONE_TO_ONE).tolist() == [0, 1]
    assert matched(image, 0.5, Matching.GREEDY).tolist() == [0, -1]


def test_that_the_surest_box_chooses_first() -> None:
    box = BoxPx(0, 0, 10, 10)
    image = image_boxes([box, box], [box], [0.1, 0.9])
    assert matched(image, 0.5, Matching.ONE_TO_ONE).tolist() == [-1, 0]
    unsure = image_boxes([box, box], [box])
    assert unsure.confidence.tolist() == [1.0, 1.0]
    assert matched(unsure, 0.5, Matching.GREEDY).tolist() == [0, -1]


def test_that_an_overlap_of_exactly_the_threshold_matches() -> None:
    image = image_boxes([BoxPx(0, 0, 10, 10)], [BoxPx(0, 0, 10, 5)])
    assert best_iou(image) == 0.5
    for matching in Matching:
        assert matched(image, 0.5, matching).tolist() == [0]
        assert matched(image, 0.5 + 1e-9, matching).tolist() == [-1]


def test_that_the_best_overlap_is_that_of_any_pair() -> None:
    far, near = BoxPx(50, 50, 60, 60), BoxPx(0, 0, 10, 8)
    image = image_boxes([far, near], [BoxPx(0, 0, 10, 10)])
    assert best_iou(image) == 0.8
    assert best_iou(image_boxes([], [near])) == 0.0
    assert best_iou(image_boxes([near], [])) == 0.0


@pytest.mark.parametrize(
    "confidence", [[0.5], [0.5, float("nan")], [0.5, float("inf")]]
)
def test_that_boxes_without_a_finite_confidence_each_are_refused(
    confidence: list[float],
) -> None:
    boxes = [BoxPx(0, 0, 1, 1), BoxPx(1, 1, 2, 2)]
    words = r"^every predicted box needs one finite confidence$"
    with pytest.raises(ValueError, match=words):
        image_boxes(boxes, [], confidence)


def test_that_a_box_is_cut_to_the_pixels_that_it_shares_with_the_field() -> None:
    rng = np.random.default_rng(11)
    size, field = SizePx(30, 30), BoxPx(8, 6, 20, 25)
    cut = beside = 0
    for _ in range(300):
        x, y = np.sort(rng.integers(0, 31, (2, 2))).tolist()
        box = BoxPx(x[0], y[0], x[1] + 1, y[1] + 1)
        shared = mask_of_boxes((box,), size) & mask_of_boxes((field,), size)
        found = cut_to(box, field)
        assert np.array_equal(mask_of_boxes((found,) if found else (), size), shared)
        assert (found is None) == (not shared.any())
        cut, beside = cut + (found not in {None, box}), beside + (found is None)
    assert min(cut, beside) > 30
