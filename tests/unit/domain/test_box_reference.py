from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy import ndimage

from viewer.domain.box_reference import (
    ANY,
    BY_RULE,
    MAJORITY,
    NO_MAJORITY,
    NOT_BY_READER,
    boxes_by_rule,
    boxes_to_find,
    check_rule,
    mask_by_rule,
    mask_of,
    readers_of,
    referenced,
)
from viewer.domain.case import Dataset, DatasetImage, ImageRef, ReferenceBox, View
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.metrics.regions import mask_of_boxes

SIZE = SizePx(30, 40)
FINDING = "Nodule"


def _image(*boxes: ReferenceBox, readers: tuple[str, ...] = ()) -> DatasetImage:
    return DatasetImage(
        key="a",
        patient="p",
        study="s",
        view=View.FRONTAL,
        ref=ImageRef(Path("a.png")),
        geometry=ImageGeometry(SIZE),
        sha256="0" * 64,
        labels={FINDING: True},
        boxes={FINDING: boxes},
        readers=readers,
    )


def _by_rule(image: DatasetImage, rule: str) -> DatasetImage:
    dataset = Dataset("d", "vindr", Path("root"), (image,), (), "f" * 64)
    return referenced(dataset, rule).images[0]


def _painted(
    image: DatasetImage, needed: int, reader: str = ""
) -> npt.NDArray[np.bool_]:
    """Count votes pixel by pixel, each reader's boxes painted by other code."""
    boxes = image.boxes[FINDING]
    votes = np.zeros((SIZE.rows, SIZE.columns), dtype=int)
    for name in {box.reader for box in boxes}:
        if reader in {"", name}:
            own = tuple(box.box for box in boxes if box.reader == name)
            votes += mask_of_boxes(own, SIZE)
    return np.asarray(votes >= needed)


def _random_image(rng: np.random.Generator) -> DatasetImage:
    n = int(rng.integers(1, 7))
    corners = rng.uniform(-4, 44, size=(n, 4)).round(int(rng.integers(0, 3)))
    boxes = tuple(
        ReferenceBox(
            BoxPx(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)),
            f"R{rng.integers(3)}",
        )
        for x0, y0, x1, y1 in corners.tolist()
    )
    return _image(*boxes, readers=("R0", "R1", "R2"))


def test_that_the_rules_leave_what_counting_votes_pixel_by_pixel_leaves() -> None:
    assert sum(map(_votes_checked, range(100))) > 0


@pytest.mark.proof
def test_that_the_rules_leave_what_counting_votes_leaves_in_10000_cases() -> None:
    assert sum(_votes_checked(seed) for seed in range(10_000, 20_000)) > 10_000


def _votes_checked(seed: int) -> int:
    """Compare each rule with counting votes; count the rules that left a mask."""
    left = 0
    image = _random_image(np.random.default_rng(seed))
    for rule, needed, reader in ((ANY, 1, ""), (MAJORITY, 2, ""), ("R1", 1, "R1")):
        expected = _painted(image, needed, reader)
        found = _by_rule(image, rule)
        alone = mask_by_rule(SIZE, image.boxes[FINDING], image.readers, rule)
        assert alone == found.masks.get(FINDING)
        if expected.any():
            mask = found.masks[FINDING]
            assert mask == Mask.of_array(expected)
            assert FINDING not in found.defects
            left += 1
        else:
            assert FINDING not in found.masks
            why = NO_MAJORITY if rule == MAJORITY else NOT_BY_READER
            assert found.defects == {FINDING: why}
    return left


def test_that_several_readers_boxes_are_those_around_the_connected_parts() -> None:
    assert sum(map(_parts_checked, range(40))) > 0


@pytest.mark.proof
def test_that_the_boxes_are_those_around_the_connected_parts_in_10000_cases() -> None:
    assert sum(_parts_checked(seed) for seed in range(10_000, 20_000)) > 10_000


def _parts_checked(seed: int) -> int:
    """Compare the boxes with connected parts; count them."""
    parts = 0
    image = _random_image(np.random.default_rng(1000 + seed))
    for rule, needed in ((ANY, 1), (MAJORITY, 2)):
        labels, _ = ndimage.label(_painted(image, needed), np.ones((3, 3)))
        expected = {
            (s[1].start, s[0].start, s[1].stop, s[0].stop)
            for s in ndimage.find_objects(labels)
        }
        found = boxes_by_rule(image, FINDING, rule)
        assert {(b.x0, b.y0, b.x1, b.y1) for b in found} == expected
        assert len(found) == len(expected)
        parts += len(found)
    return parts


def test_that_one_readers_boxes_stay_as_they_were_drawn_though_they_overlap() -> None:
    boxes = (BoxPx(1.25, 2, 12, 14), BoxPx(6, 6, 20, 20))
    image = _image(*(ReferenceBox(box, "R1") for box in boxes), readers=("R1",))
    assert boxes_by_rule(image, FINDING, ANY) == boxes
    assert boxes_by_rule(image, FINDING, "R1") == boxes
    assert boxes_by_rule(image, FINDING, "R2") == ()
    assert boxes_by_rule(image, "Mass", ANY) == ()


def test_that_a_reader_who_marked_nothing_counts_against_a_majority() -> None:
    box = ReferenceBox(BoxPx(2, 2, 9, 9), "R1")
    of_two = _by_rule(_image(box, readers=("R1", "R2")), MAJORITY)
    of_three = _by_rule(_image(box, readers=("R1", "R2", "R3")), MAJORITY)
    assert FINDING in of_two.masks
    assert of_three.defects == {FINDING: NO_MAJORITY}


def test_that_a_mask_of_the_same_finding_is_kept() -> None:
    exact = Mask.of_array(np.eye(30, 40, dtype=bool))
    image = replace(_image(ReferenceBox(BoxPx(2, 2, 9, 9))), masks={FINDING: exact})
    assert _by_rule(image, ANY).masks[FINDING] == exact
    assert len(_by_rule(image, ANY).masks) == 1


def test_that_a_data_set_without_boxes_is_itself() -> None:
    image = replace(_image(), boxes={})
    dataset = Dataset("d", "folder", Path("root"), (image,), (), "f" * 64)
    assert referenced(dataset, ANY) is dataset


def test_that_a_mask_nobody_asked_for_is_not_made() -> None:
    mask_of.cache_clear()
    found = _by_rule(_image(ReferenceBox(BoxPx(2, 2, 9, 9))), ANY)
    assert list(found.masks) == [FINDING]
    assert "Mass" not in found.masks
    assert mask_of.cache_info().misses == 0
    assert found.masks[FINDING].array().sum() == 49
    with pytest.raises(KeyError):
        found.masks["Mass"]


def test_that_the_readers_of_boxes_are_named_once_and_sorted() -> None:
    boxes = {
        "a": (ReferenceBox(BoxPx(0, 0, 1, 1), "R2"),),
        "b": (ReferenceBox(BoxPx(0, 0, 1, 1), "R1"),) * 2,
    }
    assert readers_of(boxes) == ("R1", "R2")


@pytest.mark.parametrize(
    ("readers", "known"),
    [((), "."), (("R2", "R1"), ", or one of its readers: R1, R2.")],
)
def test_that_a_reader_who_read_nothing_is_refused_as_a_rule(
    readers: tuple[str, ...], known: str
) -> None:
    image = _image(readers=readers)
    dataset = Dataset("d", "vindr", Path("root"), (image,), (), "f" * 64)
    check_rule(dataset, MAJORITY)
    with pytest.raises(WrongUseError, match="has no boxes by reader 'R9'") as raised:
        check_rule(dataset, "R9")
    assert str(raised.value).endswith(f"to {ANY} or {MAJORITY}{known}")


def test_that_nothing_is_to_be_found_of_what_is_absent() -> None:
    image = _image(readers=("R1", "R2"))
    assert boxes_to_find(image, FINDING, ANY) == {BY_RULE: (), "R1": (), "R2": ()}


def test_that_what_is_there_is_to_be_found_by_the_rule_and_by_each_reader() -> None:
    own = (BoxPx(2, 2, 10, 10), BoxPx(20, 20, 24, 24))
    other = BoxPx(6, 6, 14, 14)
    boxes = (*(ReferenceBox(box, "R1") for box in own), ReferenceBox(other, "R2"))
    image = _by_rule(_image(*boxes, readers=("R1", "R2", "R3")), MAJORITY)
    assert boxes_to_find(image, FINDING, MAJORITY) == {
        BY_RULE: (BoxPx(6, 6, 10, 10),),
        "R1": own,
        "R2": (other,),
        "R3": (),
    }
    alone = _by_rule(_image(ReferenceBox(other, "R1"), readers=("R1",)), ANY)
    assert boxes_to_find(alone, FINDING, ANY) == {BY_RULE: (other,)}


def test_that_an_image_without_boxes_is_itself_beside_one_with_some() -> None:
    boxed, bare = _image(ReferenceBox(BoxPx(2, 2, 9, 9))), replace(_image(), boxes={})
    dataset = Dataset("d", "vindr", Path("root"), (boxed, bare), (), "f" * 64)
    found = referenced(dataset, ANY).images
    assert FINDING in found[0].masks
    assert found[1] is bare
