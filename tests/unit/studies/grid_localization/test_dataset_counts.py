from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.tabled import Row, rows
from tests.unit.studies.grid_localization.cases import block, dataset, image, spec
from tests.unit.studies.grid_localization.runs import result
from viewer.domain.case import Dataset, DatasetImage, Notice, View
from viewer.domain.geometry import SizePx
from viewer.domain.reference import Mask
from viewer.studies.catalog import study_named
from viewer.studies.grid_localization.dataset_counts import (
    ALL_IMAGES,
    KNOWN_DEFECTS,
    PAIRS,
    dataset_frames,
    dataset_specs,
)
from viewer.studies.grid_localization.findings import NINE
from viewer.studies.protocol import ReportContext

MASK = Mask.of_array(block(0, 8, 0, 8))
STUDY = study_named("grid_localization")


def numbered(first: int) -> Dataset:
    """Return the mixed images with the numbers of CheXpert's patients."""
    images = mixed().images
    return replace(
        mixed(),
        images=tuple(
            replace(i, patient=f"patient{first + int(i.patient[1:])}") for i in images
        ),
    )


def mixed() -> Dataset:
    """Return four images of three patients whose labels and masks disagree."""
    return dataset(
        image("p1_a", {"Edema": MASK}, labels={"Edema": True, "Cardiomegaly": False}),
        image("p1_b", {}, labels={"Lung Opacity": True}, view=View.LATERAL),
        image("p2_a", {"Edema": MASK, "Airspace Opacity": MASK}, labels={}),
        image("p3_a", {"Nodule": MASK}, labels={"Edema": True, "Nodule": True}),
    )


def finding_counts(data: Dataset) -> list[Row]:
    return rows(dataset_specs(data)[0], dataset_frames(data))


def defects(data: Dataset) -> list[Row]:
    return rows(dataset_specs(data)[1], dataset_frames(data))


def count(counts: list[Row], finding: str, view: str) -> Row:
    (one,) = (c for c in counts if (c["finding"], c["view"]) == (finding, view))
    return one


def the_test_set(n_frontal: int = 579) -> Dataset:
    """Return 668 made-up images of 500 patients, as the test split has them."""
    images = [
        replace(
            plain(f"patient{64741 + i % 500}_study1_view{1 + i // 500}_frontal"),
            view=View.FRONTAL if i < n_frontal else View.LATERAL,
        )
        for i in range(668)
    ]
    return replace(dataset(*images), split="test")


def plain(key: str) -> DatasetImage:
    return image(key, {}, labels={})


@pytest.mark.statement("E000-04", "E000-06")
def test_that_labels_and_masks_are_counted_apart_by_finding_and_view() -> None:
    counts = finding_counts(mixed())
    edema = count(counts, "Edema", "all")
    assert (edema["images"], edema["patients"], edema["labels"], edema["masks"]) == (
        3,
        3,
        2,
        2,
    )
    assert (edema["label_without_mask"], edema["mask_without_label"]) == (1, 1)
    assert count(counts, "Edema", "lateral")["images"] == 0
    opacity = count(counts, "Airspace Opacity", "all")
    assert (opacity["labels"], opacity["masks"], opacity["images"]) == (1, 1, 2)
    whole = count(counts, ALL_IMAGES, "all")
    assert (whole["images"], whole["patients"]) == (4, 3)
    assert (whole["labels"], whole["masks"]) == (3, 3)
    assert (whole["label_without_mask"], whole["mask_without_label"]) == (1, 1)
    pairs = count(counts, PAIRS, "all")
    assert (pairs["images"], pairs["labels"], pairs["masks"]) == (5, 3, 3)
    assert pairs["patients"] == 3
    assert [c["finding"] for c in counts if c["view"] == "all"] == [
        ALL_IMAGES,
        "Airspace Opacity",
        "Edema",
        "Nodule",
        PAIRS,
    ]


@pytest.mark.statement("E000-06")
def test_that_views_add_up_to_all_in_every_row() -> None:
    counts = finding_counts(mixed())
    for name in {c["finding"] for c in counts}:
        parts = [c for c in counts if c["finding"] == name and c["view"] != "all"]
        whole = count(counts, name, "all")
        for field in ("images", "labels", "masks", "label_without_mask"):
            assert sum(c[field] for c in parts) == whole[field]


@pytest.mark.statement("E000-04")
def test_that_what_the_paper_says_stands_beside_the_test_split_alone() -> None:
    counts = finding_counts(numbered(64740))
    assert count(counts, "Edema", "all")["expected_images"] == 85
    assert count(counts, "Edema", "frontal")["expected_images"] is None
    assert count(counts, "Nodule", "all")["expected_images"] is None
    whole = count(counts, ALL_IMAGES, "all")
    assert (whole["expected_images"], whole["expected_patients"]) == (668, 500)
    assert count(counts, PAIRS, "all")["expected_images"] == 1225
    validation = finding_counts(numbered(64540))
    whole = count(validation, ALL_IMAGES, "all")
    assert (whole["expected_images"], whole["expected_patients"]) == (234, 200)
    assert count(validation, "Edema", "all")["expected_images"] is None
    for other in (mixed(), numbered(64739), replace(mixed(), split="test")):
        assert all(c["expected_images"] is None for c in finding_counts(other))


@pytest.mark.statement("E000-05")
def test_that_the_known_defects_of_the_test_set_are_listed_by_name() -> None:
    first, *others = KNOWN_DEFECTS
    notice = Notice("image_without_masks", first, "Labelled Edema, but no entry.")
    other = Notice("no_labels", "patient64800_study1_view1_frontal", "No row.")
    found = defects(replace(the_test_set(), notices=(notice, other)))
    assert [(d["subject"], d["known"]) for d in found[:2]] == [
        (first, True),
        (other.subject, False),
    ]
    assert [d["subject"] for d in found[2:]] == others
    assert {d["kind"] for d in found[2:]} == {"known_defect_not_met"}
    assert [d["known"] for d in defects(replace(mixed(), notices=(notice,)))] == [False]
    part = replace(numbered(64740), notices=(notice,))
    assert [(d["subject"], d["known"]) for d in defects(part)] == [(first, True)]


@pytest.mark.statement("E000-04", "E000-05")
def test_that_a_report_holds_the_counts_and_defects_of_its_data_set() -> None:
    context = ReportContext(the_test_set())
    data = STUDY.report([result("p1_a", "Edema", 0, (0,))], spec(), context)
    tables = {table.name: table for table in data.tables}
    (whole,) = (r for r in tables["counts"].rows if r[:2] == (ALL_IMAGES, "all"))
    assert whole[2:4] == (668, 500) == whole[8:10]
    assert len(tables["defects"].rows) == len(KNOWN_DEFECTS)
    titles = [section.title for section in data.appendix]
    assert "Images and findings" in titles
    assert "Known defects of the data set" in titles
    (section,) = (s for s in data.appendix if s.title == "Images and findings")
    assert "its split is test" in section.text
    assert section.table.rows[-1][2] == 0


def test_that_no_data_set_has_no_counts() -> None:
    data = STUDY.report([result("p1_a", "Edema", 0, (0,))], spec())
    assert "counts" not in [table.name for table in data.tables]
    empty = Dataset("e", "folder", Path(), (), (), "0" * 64)
    assert [c["images"] for c in finding_counts(empty)] == [0, 0]


def test_that_a_finding_keeps_the_data_set_s_name_and_is_one_of_the_nine() -> None:
    labelled = image("p1_a", {}, labels={"Lung Opacity": True}, size=SizePx(4, 4))
    counts = finding_counts(dataset(labelled))
    assert count(counts, "Lung Opacity", "all")["labels"] == 1
    assert count(counts, PAIRS, "all")["labels"] == 1
    assert "Airspace Opacity" in NINE


def test_that_a_normal_image_has_no_finding_without_a_mask() -> None:
    normal = image("p1_a", {}, labels={"No Finding": True, "Edema": False})
    counts = finding_counts(dataset(normal))
    assert {c["finding"] for c in counts} == {ALL_IMAGES, PAIRS}
    whole = count(counts, ALL_IMAGES, "all")
    assert (whole["images"], whole["labels"], whole["label_without_mask"]) == (1, 0, 0)
