from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.unit.studies.grid_localization.cases import spec
from viewer.domain.answer import Status
from viewer.domain.box_reference import BY_RULE
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.image_geometry import SpacingMeaning
from viewer.domain.report import ReportData, Table
from viewer.domain.result import Measures, Score
from viewer.metrics.boxes import image_boxes
from viewer.metrics.detection import FROC_RATES, average_precision, froc
from viewer.studies.catalog import study_named
from viewer.studies.grid_localization.detection_table import (
    DETECTION,
    FROC,
    THRESHOLDS,
    box_frame,
)
from viewer.studies.grid_localization.placed import Detection, Placed, PlacedTrial
from viewer.studies.tables import MICRO

TEN = BoxPx(0, 0, 10, 10)
HALF = BoxPx(0, 0, 10, 5)
FAR = BoxPx(50, 50, 60, 60)
MEASURED = Measures(
    *("boxes", PointPx(5, 5), True, True, 0.5, 2 / 3, 0.0, 4.0),
    *(SpacingMeaning.DETECTOR, 0.25, 0.4),
)


def _result(
    item: str,
    detection: Detection | None,
    *,
    finding: str = "Nodule",
    model: str = "m",
    measures: Measures | None = None,
    status: Status = Status.SCORED_CORRECT,
) -> PlacedTrial:
    return PlacedTrial(
        item=f"{item}|{finding}",
        patient=item,
        image=item,
        view="frontal",
        finding=finding,
        condition="grid=8",
        repeat=0,
        model=model,
        score=Score(status),
        placed=Placed(64, measures=measures, detection=detection),
    )


def _report(results: list[PlacedTrial]) -> ReportData:
    return study_named("grid_localization").report(
        results, spec(replicates=2, paper_replicates=2)
    )


def _printed(results: list[PlacedTrial]) -> Table:
    title = "Boxes and masks against the reference's"
    return next(s.table for s in _report(results).appendix if s.title == title)


def _points(results: list[PlacedTrial]) -> Sequence[tuple[object, ...]]:
    (froc,) = (t for t in _report(results).tables if t.name == FROC)
    return froc.rows


def _cells(results: list[PlacedTrial]) -> dict[tuple[object, ...], tuple[object, ...]]:
    (table,) = (t for t in _report(results).tables if t.name == DETECTION)
    return {row[:6]: row[6:] for row in table.rows}


def test_that_hits_are_counted_at_every_threshold_over_every_settled_item() -> None:
    results = [
        _result("a", Detection((HALF,), (), (TEN,)), measures=MEASURED),
        _result("b", Detection((FAR, TEN), (), (TEN,))),
        _result("c", Detection((), (), (TEN,)), status=Status.UNPARSED),
        _result("d", Detection((), (), (TEN,)), status=Status.PENDING),
        _result("e", None, status=Status.EXCLUDED),
    ]
    cells = _cells(results)
    key = ("Nodule", "grid=8", "m", BY_RULE)
    for threshold in THRESHOLDS:
        k = 2 if threshold <= 0.5 else 1
        assert cells[(*key, "box_hit", threshold)][:2] == (k, 3)
        assert cells[(*key, "area_hit", threshold)][:2] == (threshold <= 0.5, 3)
    assert cells[(*key, "mean_iou", None)][1:3] == (3, pytest.approx(0.5 / 3))
    assert cells[(*key, "mean_dice", None)][1:3] == (3, pytest.approx(2 / 9))
    assert cells[(*key, "mean_iou_uncropped", None)][2] == pytest.approx(0.25 / 3)
    assert cells[(*key, "mean_dice_uncropped", None)][2] == pytest.approx(0.4 / 3)
    assert cells[(*key, "median_distance_mm", None)][1:3] == (1, 4.0)
    assert cells[(MICRO, *key[1:], "box_hit", 0.5)][:2] == (2, 3)


def test_that_each_reader_is_compared_with_on_the_images_that_he_read() -> None:
    readers = (("R1", (TEN,)), ("R2", (FAR,)), ("R3", ()))
    results = [
        _result("a", Detection((TEN,), (), (TEN,), readers)),
        _result("b", Detection((TEN,), (), (TEN,), readers[:1])),
    ]
    cells = _cells(results)
    at = {
        reader: cells[("Nodule", "grid=8", "m", reader, "box_hit", 0.5)][:2]
        for reader in ("R1", "R2", BY_RULE)
    }
    assert at == {"R1": (2, 2), "R2": (0, 1), BY_RULE: (2, 2)}
    assert ("Nodule", "grid=8", "m", "R3", "box_hit", 0.5) not in cells
    stray = cells[("Nodule", "grid=8", "m", "R3", "froc_score", None)]
    assert stray[2] is None
    assert ("Nodule", "grid=8", "m", "R1", "area_hit", 0.5) not in cells


def test_that_froc_and_precision_are_those_of_the_metrics() -> None:
    rng = np.random.default_rng(3)
    results, images = [], []
    for i in range(25):
        corners = rng.integers(0, 20, size=(6, 2)).astype(float)
        boxes = [BoxPx(x, y, x + 9, y + 8) for x, y in corners.tolist()]
        sure = tuple(rng.uniform(size=3).tolist())
        found = Detection(tuple(boxes[:3]), sure, tuple(boxes[3:]))
        results.append(_result(f"i{i:02d}", found))
        images.append(image_boxes(boxes[:3], boxes[3:], sure))
    cells = _cells(results)
    key = ("Nodule", "grid=8", "m", BY_RULE)
    curve, precision = froc(images, 0.5), average_precision(images)
    assert cells[(*key, "froc_score", None)][2] == np.mean(curve.at(FROC_RATES))
    assert (cells[(*key, "sensitivity_at_fp", 1.0)][2],) == curve.at((1.0,))
    assert cells[(*key, "ap", None)][2] == precision.value
    assert cells[(*key, "ap_at_iou", 0.5)][2] == precision.at_thresholds[0]
    points = [r for r in _points(results) if r[0] == "Nodule"]
    assert [r[4] for r in points] == list(curve.false_positives)
    assert [r[5] for r in points] == list(curve.sensitivity)


def test_that_a_model_that_draws_nothing_is_in_no_row_and_alone_makes_no_part() -> None:
    cell = [_result("a", None, model="cells"), _result("b", None, model="cells")]
    silent = [_result("a", Detection((), (), (TEN,)), model="silent")]
    assert len(box_frame([*cell, *silent])) == 0
    boxes = [_result("a", Detection((TEN,), (), (TEN,)))]
    assert set(box_frame([*cell, *silent, *boxes])["model"]) == {"m"}


def test_that_findings_come_by_name_the_rule_first_and_all_pooled_last() -> None:
    found = Detection((TEN,), (), (TEN,), (("R1", (TEN,)), ("R2", ())))
    one = _result("a", found)
    cells = _cells([replace(one, finding="Mass"), one])
    assert [
        *dict.fromkeys((finding, reader) for finding, _, _, reader, *_ in cells)
    ] == [
        *(("Mass", BY_RULE), ("Mass", "R1"), ("Mass", "R2")),
        *(("Nodule", BY_RULE), ("Nodule", "R1"), ("Nodule", "R2")),
        *((MICRO, BY_RULE), (MICRO, "R1"), (MICRO, "R2")),
    ]
    printed = _printed([one])
    assert printed.rows[0][:8] == (
        *("Nodule", "8", "m", "by rule", 1, "none asked", 1, 1),
    )
    assert all(len(row) == len(printed.header) for row in printed.rows)


@pytest.mark.statement("E000-32")
def test_that_boxes_on_images_without_the_finding_are_false_positives() -> None:
    sure = (0.9,)
    there = [_result("a", Detection((TEN,), (0.5,), (TEN,)), measures=MEASURED)]
    absent = [
        replace(_result(name, found), condition="grid=8 absent")
        for name, found in {
            "b": Detection((FAR,), sure, ()),
            "c": Detection((), (), ()),
            "d": Detection((TEN, FAR), (0.8, 0.1), ()),
        }.items()
    ]
    images = [
        image_boxes((TEN,), (TEN,), (0.5,)),
        image_boxes((FAR,), (), sure),
        image_boxes((), (), None),
        image_boxes((TEN, FAR), (), (0.8, 0.1)),
    ]
    cells = _cells([*there, *absent])
    key = ("Nodule", "grid=8", "m", BY_RULE)
    assert cells[(*key, "ap", None)][2] == average_precision(images).value
    assert cells[(*key, "ap", None)][2] == pytest.approx(1 / 3)
    score = np.mean(froc(images).at(FROC_RATES))
    assert cells[(*key, "froc_score", None)][2] == score
    at_quarter = cells[(*key, "sensitivity_at_fp", 0.25)][2]
    at_half = cells[(*key, "sensitivity_at_fp", 0.5)][2]
    assert (at_quarter, at_half) == (0.0, 1.0)
    for metric in ("ap", "froc_score"):
        assert cells[(*key, metric, None)][1] == 4
        assert cells[(*key, metric, None)][-2:] == (1, 3)
    assert cells[(*key, "box_hit", 0.5)][:2] == (1, 1)
    assert cells[(*key, "mean_iou", None)][1:3] == (1, 0.5)
    assert {c[1] for c in cells} == {"grid=8"}
    assert _printed([*there, *absent]).rows[0][4:6] == (1, 3)


@pytest.mark.parametrize("sure", [(), (0.7,)])
def test_that_boxes_that_nothing_orders_have_no_average_precision(
    sure: tuple[float, ...],
) -> None:
    hit = _result("a", Detection((TEN,), sure, (TEN,)), measures=MEASURED)
    miss = _result("b", Detection((FAR,), sure, (TEN,)), measures=MEASURED)
    cells = _cells([hit, miss])
    key = ("Nodule", "grid=8", "m", BY_RULE)
    assert cells[(*key, "ap", None)][2] is None
    assert "all boxes have equal" in str(cells[(*key, "ap", None)][5])
    assert not [cell for cell in cells if cell[4] == "ap_at_iou"]
    printed = _printed([hit, miss])
    assert printed.rows[0][printed.header.index("AP")] == "-"


@pytest.mark.statement("E000-32")
def test_that_curves_of_images_with_the_finding_alone_say_so() -> None:
    there = [_result("a", Detection((TEN, FAR), (0.9, 0.8), (TEN,)))]
    cells = _cells(there)
    key = ("Nodule", "grid=8", "m", BY_RULE)
    for metric in ("ap", "froc_score"):
        method, having, without = cells[(*key, metric, None)][-3:]
        assert (having, without) == (1, 0)
        assert str(method).endswith("only items with the finding")
    assert _printed(there).rows[0][5] == "none asked"


def test_that_an_answer_without_a_reference_is_no_false_positive_by_itself() -> None:
    results = [
        _result("a", Detection((TEN,), (), (TEN,))),
        _result("b", Detection((FAR,), (), ())),
    ]
    frame = box_frame(results)
    assert [*frame.each("item", "having")] == [("a|Nodule", True)]
