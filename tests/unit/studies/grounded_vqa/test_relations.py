"""Which finding is in which anatomy."""

import numpy as np
import pytest

from tests.helpers.heal_trials import ANATOMIES, SIDE, block, box_in, image
from viewer.domain.case import DatasetImage
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.reference import Mask
from viewer.studies.grounded_vqa.params import (
    Params,
    RelationRule,
    Touching,
    read_params,
)
from viewer.studies.grounded_vqa.relations import (
    CURVE,
    RuleLoss,
    chart,
    ends_of,
    overlap_of,
    rule_losses,
    threshold_curve,
)

PARAMS = Params(anatomies=ANATOMIES)


def _brute(box: BoxPx, mask: np.ndarray) -> tuple[float, float]:
    both = in_box = 0
    for y in range(SIDE):
        for x in range(SIDE):
            inside = box.x0 <= x + 0.5 < box.x1 and box.y0 <= y + 0.5 < box.y1
            in_box += inside
            both += inside and bool(mask[y, x])
    union = in_box + int(mask.sum()) - both
    return (both / union if union else 0.0, both / in_box if in_box else 0.0)


@pytest.mark.statement("E002-02")
def test_that_overlaps_equal_those_counted_pixel_by_pixel() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        corners = np.sort(rng.uniform(-5, SIDE + 5, (2, 2)), axis=0)
        box = BoxPx(*corners[0], *corners[1])
        mask = rng.random((SIDE, SIDE)) < rng.choice([0.0, 0.3, 1.0])
        ends = ends_of(Mask.of_array(mask))
        assert overlap_of(box, SizePx(SIDE, SIDE), ends) == pytest.approx(
            _brute(box, mask), abs=1e-15
        )


@pytest.mark.statement("E002-02")
def test_that_iou_must_exceed_its_threshold_and_ioa_may_equal_its() -> None:
    ten_by_ten = block(slice(0, 10), slice(0, 10))
    half = BoxPx(0, 0, 10, 20)
    one = image("a", boxes={"Nodule/Mass": [half]}, anatomies=())
    at_half = DatasetImage(
        **{
            **{name: getattr(one, name) for name in one.__dataclass_fields__},
            "anatomy": {"Heart": ten_by_ten},
        }
    )
    only = ("Heart",)
    by_iou = chart([at_half], Params(anatomies=only, iou_threshold=0.5))
    below = chart([at_half], Params(anatomies=only, iou_threshold=0.4999))
    by_ioa = chart([at_half], Params(anatomies=only, relation_rule=RelationRule.IOA))
    assert by_iou.related("a") == ()
    assert below.related("a") == (("Heart", "Nodule/Mass"),)
    assert by_ioa.related("a") == (("Heart", "Nodule/Mass"),)


@pytest.mark.statement("E002-02")
def test_that_the_curve_counts_relations_at_every_threshold() -> None:
    found = chart(
        [image("a", [("Heart", "Cardiomegaly")]), image("b", [("Heart", "Edema")])],
        PARAMS,
    )
    table = threshold_curve(found, RelationRule.IOU)
    counts = [int(str(row[2])) for row in table.rows]
    thresholds = [row[1] for row in table.rows]
    overlaps = [o.iou for i in found.images for o in i.overlaps]
    assert thresholds == list(CURVE)
    assert counts == [sum(v > t for v in overlaps) for t in CURVE]
    assert counts == sorted(counts, reverse=True)
    assert counts[50] == 2


@pytest.mark.statement("E002-02")
def test_that_a_small_box_inside_a_zone_is_lost_by_iou_and_not_by_containment() -> None:
    """A nodule of 2 × 2 in a lung of 30 × 14 has an IoU of .01."""
    nodule = {"Nodule/Mass": [BoxPx(26, 10, 28, 12)]}
    astride = {"Nodule/Mass": [BoxPx(15, 10, 19, 12)]}
    images = [
        image("a", boxes=nodule),
        image("b", boxes=astride),
        image("c", [("Heart", "Cardiomegaly")]),
    ]
    by_iou, by_share = rule_losses(chart(images, PARAMS), PARAMS)
    assert by_iou == RuleLoss(RelationRule.IOU, 0.1, 3, 1, 1, 1)
    assert by_share == RuleLoss(RelationRule.IOA, 0.5, 3, 2, 0, 0)
    params = read_params("recommended", {"anatomies": list(ANATOMIES)})
    assert chart(images, params).related("a") == (("Left lung", "Nodule/Mass"),)


@pytest.mark.statement("E002-01")
def test_that_anatomies_are_what_the_setting_says() -> None:
    images = [image("a", [("Heart", "Cardiomegaly"), ("Left lung", "Edema")])]
    all_three, heart = (
        chart(images, PARAMS),
        chart(images, Params(anatomies=("Heart",))),
    )
    assert all_three.image("a").anatomies == ANATOMIES
    assert heart.image("a").anatomies == ("Heart",)
    assert heart.related("a") == (("Heart", "Cardiomegaly"),)


def test_that_an_anatomy_without_any_mask_is_named() -> None:
    images = [image("a")]
    with pytest.raises(WrongUseError) as unknown:
        chart(images, Params(anatomies=("Trachea",)))
    with pytest.raises(WrongUseError) as miswritten:
        chart(images, Params(anatomies=("left_lung",)))
    with pytest.raises(WrongUseError) as nothing:
        chart([image("a", anatomies=())], Params(anatomies=("Heart",)))
    assert str(unknown.value) == (
        "No image of the data set has a mask of 'Trachea'. Name one that it has: "
        "Heart, Left lung, Right lung."
    )
    assert miswritten.value.how == "Name one that it has: Left lung."
    assert nothing.value.how == "Import masks of anatomies."


def test_that_anatomies_without_masks_are_told_once_and_the_rest_is_used() -> None:
    images = [image("a", [("Heart", "Edema")]), image("b")]
    found = chart(images, Params(anatomies=("Heart", "Aorta", "Right lung")))
    assert found.image("a").anatomies == ("Heart", "Right lung")
    assert found.related("a") == (("Heart", "Edema"),)
    (notice,) = found.notices
    assert (notice.kind, notice.subject) == ("anatomy_without_masks", "Aorta")
    also = "there are masks of Left lung."
    assert notice.text == f"No image has a mask of it, so it is not asked about; {also}"


def test_that_an_empty_mask_is_said_and_never_asked_about() -> None:
    empty = block(slice(0, 0), slice(0, 0))
    one = image("a", [("Left lung", "Edema")])
    gone = {**one.anatomy, "Heart": empty}
    broken = DatasetImage(
        **{
            **{name: getattr(one, name) for name in one.__dataclass_fields__},
            "anatomy": gone,
        }
    )
    found = chart(
        [broken, image("b", anatomies=("Heart", "Left lung"))],
        Params(anatomies=("Heart", "Left lung", "Right lung")),
    )
    assert found.image("a").anatomies == ("Left lung", "Right lung")
    assert [(n.kind, n.subject) for n in found.notices] == [
        ("empty_anatomy_mask", "a"),
        ("no_anatomy_mask", "b"),
    ]
    with pytest.raises(WrongUseError, match="Every mask of 'Heart' in the data set"):
        chart([broken], Params(anatomies=("Heart",)))


def test_that_an_image_that_cannot_be_read_has_no_relations() -> None:
    one = image("a", [("Heart", "Edema")])
    broken = DatasetImage(
        **{
            **{name: getattr(one, name) for name in one.__dataclass_fields__},
            "key": "broken",
            "defects": {"*": "unreadable"},
        }
    )
    found = chart([one, broken], PARAMS)
    assert [i.image for i in found.images] == ["a"]


def test_that_a_box_that_only_touches_is_absent_or_in_doubt() -> None:
    sliver = BoxPx(0, 0, 25, 40)  # IoU with the left lung 30 / 1390
    one = image("a", boxes={"Edema": [sliver]})
    absent = chart([one], PARAMS)
    doubted = chart([one], Params(anatomies=ANATOMIES, touching=Touching.LEFT_OUT))
    assert absent.unclear("a") == frozenset()
    assert absent.is_healthy("a", "Left lung")
    assert doubted.unclear("a") == {("Left lung", "Edema"), ("Heart", "Edema")}
    assert not doubted.is_healthy("a", "Left lung")
    assert not doubted.is_healthy("a", "Right lung")
    assert not doubted.is_healthy("a", "Trachea")


def test_that_of_several_boxes_the_one_that_covers_most_counts() -> None:
    far, near = BoxPx(0, 0, 2, 2), box_in("Heart")
    found = chart([image("a", boxes={"Edema": [far, near]})], PARAMS)
    heart = next(o for o in found.image("a").overlaps if o.anatomy == "Heart")
    assert (heart.iou, heart.ioa) == (1.0, 1.0)
    assert found.findings_in("a", "Heart") == ("Edema",)
