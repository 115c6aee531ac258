import pytest

from tests.unit.studies.grid_localization.cases import (
    block,
    condition,
    dataset,
    image,
    spec,
)
from viewer.domain.case import View
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import SizePx
from viewer.domain.reference import Mask
from viewer.studies.grid_localization.params import read_params
from viewer.studies.grid_localization.plan import plan
from viewer.studies.grid_localization.request import reference_counts

FULL = Mask.of_array(block(0, 32, 0, 32))
EDEMA, HEART = "Edema", "Cardiomegaly"


def exclusions(*images: object, **overrides: object) -> dict[str, str]:
    trials = plan(dataset(*images), spec(**overrides))  # type: ignore[arg-type]
    return {trial.item: trial.exclusion for trial in trials}


@pytest.mark.statement("E000-12")
def test_that_trials_come_by_image_finding_condition_repeat_and_model() -> None:
    data = dataset(image("p2", {EDEMA: FULL, HEART: FULL}), image("p1", {EDEMA: FULL}))
    trials = plan(data, spec(("b", "a"), repeats=2, grids=[16, 8]))
    order = [(t.item, t.condition.name, t.repeat, t.model) for t in trials]
    assert order == [
        (item, name, repeat, model)
        for item in ("p2|Cardiomegaly", "p2|Edema", "p1|Edema")
        for name in ("grid=16", "grid=8")
        for repeat in (0, 1)
        for model in ("b", "a")
    ]


def test_that_limit_keeps_the_first_items_with_all_their_trials() -> None:
    data = dataset(image("p2", {EDEMA: FULL, HEART: FULL}), image("p1", {EDEMA: FULL}))
    trials = plan(data, spec(("a", "b"), limit=2, grids=[8, 16]))
    assert {t.item for t in trials} == {"p2|Cardiomegaly", "p2|Edema"}
    assert len(trials) == 8


@pytest.mark.statement("E000-05")
def test_that_only_a_mask_or_a_positive_label_makes_an_item() -> None:
    found = exclusions(
        image("p1", {EDEMA: FULL}, labels={EDEMA: False}),
        image("p2", labels={EDEMA: True}),
        image("p3", labels={EDEMA: False}),
        image("p4", zero=(EDEMA,)),
        image("p5", labels={EDEMA: True}, zero=(EDEMA,)),
    )
    assert found == {"p1|Edema": "", "p2|Edema": "no_gt", "p5|Edema": "no_gt"}


def test_that_defects_exclude_with_their_reason() -> None:
    other_size = Mask.of_array(block(0, 9, 0, 9, 32))
    found = exclusions(
        image("p1", {EDEMA: FULL}, defects={"*": "missing_file"}),
        image("p2", {HEART: FULL}, defects={EDEMA: "mask_size"}),
        image("p3", {EDEMA: other_size}),
        image("p4", {EDEMA: FULL}, view=View.UNKNOWN),
        image("p5", {EDEMA: Mask(SizePx(64, 64), "1")}),
    )
    assert found == {
        "p1|Edema": "missing_file",
        "p2|Cardiomegaly": "",
        "p2|Edema": "mask_size",
        "p3|Edema": "mask_size",
        "p4|Edema": "unknown_view",
        "p5|Edema": "mask_unreadable",
    }


def test_that_a_mask_without_a_pixel_is_no_reference() -> None:
    empty = Mask.of_array(block(0, 0, 0, 0))
    assert exclusions(image("p1", {EDEMA: empty})) == {"p1|Edema": "no_gt"}


@pytest.mark.statement("E000-08")
def test_that_a_mask_of_which_nothing_is_sent_is_excluded_or_a_miss() -> None:
    size = SizePx(64, 128)
    wide = block(0, 64, 0, 8, 128)[:64]
    outside = image("p1", {EDEMA: Mask.of_array(wide)}, size=size)
    dot = block(1, 2, 1, 2, 1024)
    tiny = image("p2", {EDEMA: Mask.of_array(dot)}, size=SizePx(1024, 1024))
    inside = image("p3", {EDEMA: FULL})
    assert exclusions(outside, tiny, inside) == {
        "p1|Edema": "gt_outside_crop",
        "p2|Edema": "gt_too_small",
        "p3|Edema": "",
    }
    as_miss = exclusions(outside, tiny, inside, outside_crop="miss")
    assert set(as_miss.values()) == {""}


def test_that_views_and_findings_select_the_items() -> None:
    images = (
        image("p1_frontal", {EDEMA: FULL, HEART: FULL}),
        image("p1_lateral", {EDEMA: FULL}, view=View.LATERAL),
    )
    assert set(exclusions(*images, views=["lateral"])) == {"p1_lateral|Edema"}
    assert set(exclusions(*images, findings=["cardiomegaly"])) == {
        "p1_frontal|Cardiomegaly"
    }


@pytest.mark.statement("E000-02")
def test_that_a_synonym_finds_a_reference_and_keeps_the_word_asked_with() -> None:
    images = (
        image("p1", {"Airspace Opacity": FULL}),
        image("p2", labels={"Lung Opacity": True}),
    )
    expected = {"p1|Airspace Opacity": "", "p2|Lung Opacity": "no_gt"}
    for word in ("Lung Opacity", "Airspace Opacity"):
        assert exclusions(*images, findings=[word]) == expected
        trials = plan(dataset(*images), spec(findings=[word]))
        assert {trial.finding for trial in trials} == {word}
    with pytest.raises(WrongUseError, match="more than once"):
        exclusions(*images, findings=["Lung Opacity", "Airspace Opacity"])


def test_that_findings_nobody_named_are_called_what_the_data_set_calls_them() -> None:
    data = dataset(image("p1", {"Lung Opacity": FULL}))
    assert {trial.finding for trial in plan(data, spec())} == {"Lung Opacity"}
    data = dataset(image("p1", {"Airspace Opacity": FULL}))
    assert {trial.finding for trial in plan(data, spec())} == {"Airspace Opacity"}


def test_that_a_folder_may_have_findings_of_its_own() -> None:
    data = image("p1", {"nodule": FULL})
    assert exclusions(data, findings=["Nodule"]) == {"p1|nodule": ""}
    with pytest.raises(WrongUseError, match="It has labels or outlines of nodule"):
        exclusions(data)
    with pytest.raises(WrongUseError, match="Did you mean 'nodule'"):
        exclusions(data, findings=["nodul"])


@pytest.mark.statement("E000-03")
def test_that_support_devices_are_left_out_unless_named() -> None:
    data = image("p1", {"Support Devices": FULL, EDEMA: FULL})
    assert set(exclusions(data)) == {"p1|Edema"}
    assert set(exclusions(data, findings=["Support Devices"])) == {"p1|Support Devices"}


def test_that_nothing_may_be_named_twice() -> None:
    with pytest.raises(WrongUseError, match="image 'p1'"):
        exclusions(image("p1", {EDEMA: FULL}), image("p1", {EDEMA: FULL}))
    with pytest.raises(WrongUseError, match="model 'm'"):
        plan(dataset(image("p1", {EDEMA: FULL})), spec(("m", "m")))


def test_that_counts_come_from_the_other_patients_of_the_whole_data_set() -> None:
    corner = Mask.of_array(block(0, 16, 0, 8))
    data = dataset(
        image("p1_a", {EDEMA: corner}),
        image("p1_b", {EDEMA: corner}),
        image("p2_a", {EDEMA: corner, HEART: FULL}),
        image("p3_a", {EDEMA: FULL}, view=View.LATERAL),
        image("p4_a", {EDEMA: corner}),
    )
    params = read_params("gosai2025", {"grids": [4], "findings": [EDEMA]})

    def counts(index: int, finding: str = EDEMA) -> tuple[tuple[int, ...], ...]:
        return reference_counts(data.images[index], finding, data, condition(4), params)

    assert counts(0)[0] == (2, 0, 0, 0)
    assert counts(2)[0] == (3, 0, 0, 0)
    assert sum(map(sum, counts(3))) == 0
    assert len(counts(0)) == 4
