"""Perturbed questions and images of true positives."""

import numpy as np
import pytest

from tests.helpers.heal_trials import ANATOMIES, SIDE, block, image
from viewer.domain.case import DatasetImage, View
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx
from viewer.domain.image import Raster
from viewer.studies.grounded_vqa.params import DonorRule, Params, Swaps, Touching
from viewer.studies.grounded_vqa.questions import (
    Benchmark,
    Kind,
    Question,
    closed_text,
)
from viewer.studies.grounded_vqa.relations import chart
from viewer.studies.grounded_vqa.textual import (
    Swapped,
    plan_text_edits,
    valid_swaps,
)
from viewer.studies.grounded_vqa.visual import (
    Arm,
    donors,
    edited,
    plan_image_edits,
    region_of,
)

PARAMS = Params(anatomies=ANATOMIES)
IMAGES = (
    image("a", [("Left lung", "Pneumonia"), ("Heart", "Cardiomegaly")], patient="p1"),
    image("b", [("Right lung", "Pneumonia"), ("Left lung", "Edema")], patient="p2"),
    image("c", [("Left lung", "Pneumonia")], patient="p3"),
    image("d", patient="p4"),
    image("e", patient="p1"),
    image("f", patient="p5", view=View.LATERAL),
    image("g", patient="p6", anatomies=("Heart", "Right lung")),
)
BENCHMARK = Benchmark((), chart(IMAGES, PARAMS))


def positive(key: str, anatomy: str, finding: str) -> Question:
    text = closed_text(anatomy, finding, 0)
    patient = BENCHMARK.chart.image(key).patient
    return Question(
        *(f"{key}#q1", key, patient, Kind.POSITIVE, anatomy, finding, 0, text),
        (finding,),
    )


IN_LEFT = positive("a", "Left lung", "Pneumonia")


@pytest.mark.statement("E002-09")
def test_that_a_swap_occurs_in_the_data_set_and_is_absent_here() -> None:
    anatomy = valid_swaps(IN_LEFT, Swapped.ANATOMY, BENCHMARK, PARAMS)
    finding = valid_swaps(IN_LEFT, Swapped.FINDING, BENCHMARK, PARAMS)
    in_b = positive("b", "Right lung", "Pneumonia")
    other_lung = valid_swaps(in_b, Swapped.ANATOMY, BENCHMARK, PARAMS)
    assert anatomy == (("Right lung", "Pneumonia"),)
    assert finding == (("Left lung", "Edema"),)
    assert other_lung == (("Left lung", "Pneumonia"),)
    assert valid_swaps(in_b, Swapped.FINDING, BENCHMARK, PARAMS) == ()


@pytest.mark.statement("E002-09")
def test_that_a_present_pair_is_a_swap_only_where_that_is_wanted() -> None:
    both = image("x", [("Left lung", "Pneumonia"), ("Right lung", "Pneumonia")])
    loose = Params(anatomies=ANATOMIES, swap_absent_only=False)
    benchmark = Benchmark((), chart((both,), PARAMS))
    question = Question(
        *("x#q1", "x", "p", Kind.POSITIVE, "Left lung", "Pneumonia", 0, "?"),
        ("Pneumonia",),
    )
    assert valid_swaps(question, Swapped.ANATOMY, benchmark, PARAMS) == ()
    found = plan_text_edits([question], benchmark, loose, 0)
    swap = next(e for e in found.edits if e.swapped is Swapped.ANATOMY)
    assert (swap.anatomy, swap.finding) == ("Right lung", "Pneumonia")


@pytest.mark.statement("E002-09", "E002-11")
def test_that_the_textual_plan_has_one_swap_of_each_part_and_a_paraphrase() -> None:
    plan = plan_text_edits([IN_LEFT], BENCHMARK, PARAMS, 3)
    assert [e.swapped for e in plan.edits] == [
        Swapped.ANATOMY,
        Swapped.FINDING,
        None,
    ]
    swap = plan.edits[0]
    assert (swap.anatomy, swap.finding, swap.template) == ("Right lung", "Pneumonia", 0)
    sham = plan.edits[2]
    assert sham.sham
    assert (sham.anatomy, sham.finding) == IN_LEFT.pair
    assert sham.template != IN_LEFT.template
    assert plan.without_swap == ()


@pytest.mark.statement("E002-09")
def test_that_items_without_a_swap_are_counted_and_all_swaps_can_be_asked() -> None:
    more = (*IMAGES, image("h", [("Left lung", "Nodule/Mass")]))
    benchmark = Benchmark((), chart(more, PARAMS))
    every = Params(anatomies=ANATOMIES, swaps=Swaps.ALL, sham=False)
    plan = plan_text_edits([IN_LEFT], benchmark, every, 3)
    one = plan_text_edits([IN_LEFT], benchmark, PARAMS, 3)
    lonely = plan_text_edits(
        [positive("a", "Heart", "Cardiomegaly")], BENCHMARK, PARAMS, 3
    )
    assert [e.finding for e in plan.edits] == ["Pneumonia", "Edema", "Nodule/Mass"]
    assert len(one.edits) == 3
    assert one == plan_text_edits([IN_LEFT], benchmark, PARAMS, 3)
    assert lonely.without_swap == (
        ("a#q1", Swapped.ANATOMY),
        ("a#q1", Swapped.FINDING),
    )
    assert [e.sham for e in lonely.edits] == [True]


@pytest.mark.statement("E002-10")
def test_that_a_donor_is_another_patient_s_same_view_with_the_anatomy() -> None:
    healthy = donors(IN_LEFT, Arm.DONOR, BENCHMARK.chart, DonorRule.HEALTHY)
    other = donors(IN_LEFT, Arm.DONOR, BENCHMARK.chart, DonorRule.NOT_QUERIED)
    same = donors(IN_LEFT, Arm.SAME, BENCHMARK.chart, DonorRule.HEALTHY)
    assert healthy == ("d",)
    assert other == ("b", "d")
    assert same == ("c",)


@pytest.mark.statement("E002-10")
def test_that_a_donor_in_doubt_gives_nothing() -> None:
    params = Params(anatomies=ANATOMIES, touching=Touching.LEFT_OUT)
    touched = image("t", boxes={"Pneumonia": [BoxPx(24, 5, 26, 7)]})
    found = chart((*IMAGES[:3], touched), params)
    for rule in DonorRule:
        assert "t" not in donors(IN_LEFT, Arm.DONOR, found, rule)


@pytest.mark.statement("E002-10", "E002-11")
def test_that_the_visual_plan_has_the_test_and_both_shams() -> None:
    plan = plan_image_edits([IN_LEFT], BENCHMARK, PARAMS, 3)
    alone = Params(anatomies=ANATOMIES, sham=False)
    assert [(e.arm, e.donor) for e in plan.edits] == [
        (Arm.DONOR, "d"),
        (Arm.OWN, "d"),
        (Arm.SAME, "c"),
    ]
    assert {(e.of, e.image) for e in plan.edits} == {("a#q1", "a")}
    assert [e.arm for e in plan_image_edits([IN_LEFT], BENCHMARK, alone, 3).edits] == [
        Arm.DONOR
    ]
    assert plan == plan_image_edits([IN_LEFT], BENCHMARK, PARAMS, 3)


@pytest.mark.statement("E002-10")
def test_that_items_without_a_donor_are_counted() -> None:
    lonely = Benchmark((), chart(IMAGES[:3], PARAMS))
    edema = positive("b", "Left lung", "Edema")
    heart = positive("a", "Heart", "Cardiomegaly")
    plan = plan_image_edits([IN_LEFT, edema, heart], lonely, PARAMS, 3)
    assert plan.without_donor == (
        ("a#q1", Arm.DONOR),
        ("b#q1", Arm.DONOR),
        ("a#q1", Arm.SAME),
    )
    assert {e.finding for e in plan.edits} == {"Cardiomegaly"}


def _raster(key: str, shade: int) -> Raster:
    rng = np.random.default_rng(len(key))
    noise = rng.integers(0, 20, (SIDE, SIDE))
    return Raster((noise + shade).astype(np.uint8))


@pytest.mark.statement("E002-10", "E002-11")
def test_that_an_edit_changes_its_region_and_nothing_far_from_it() -> None:
    plan = plan_image_edits([IN_LEFT], BENCHMARK, PARAMS, 3)
    by_key = {i.key: i for i in IMAGES}
    target = region_of(by_key["a"], _raster("a", 100), "Left lung")
    for edit in plan.edits:
        shade = 100 if edit.arm is Arm.OWN else 200
        donor = region_of(by_key[edit.donor], _raster("bb", shade), edit.anatomy)
        made = edited(edit.arm, target, donor, PARAMS)
        changed = made.raster.pixels != target.raster.pixels
        assert changed[target.mask].any(), edit.arm
        assert not changed[:, :20].any(), edit.arm


def test_that_a_region_without_a_mask_is_refused() -> None:
    plain = _raster("a", 0)
    empty = DatasetImage(
        **{
            **{n: getattr(IMAGES[0], n) for n in IMAGES[0].__dataclass_fields__},
            "anatomy": {"Heart": block(slice(0, 0), slice(0, 0))},
        }
    )
    with pytest.raises(WrongUseError, match="has no mask of 'Left lung'"):
        region_of(IMAGES[-1], plain, "Left lung")
    with pytest.raises(WrongUseError, match="has an empty mask of 'Heart'"):
        region_of(empty, plain, "Heart")
