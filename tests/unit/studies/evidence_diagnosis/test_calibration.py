from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from tests.helpers.evidence_cases import EVERY, frames_of, random_rows, table_of
from viewer.domain.item import Item
from viewer.domain.report import Table
from viewer.metrics.judging import prediction_powered
from viewer.studies.evidence_diagnosis.frames import labels_of
from viewer.studies.evidence_diagnosis.params import Task
from viewer.studies.evidence_diagnosis.rows import Row

ROWS = random_rows(8)
LEVELS = [5, 4, 3, 2, 1, 0]


def judged(model: str) -> list[Row]:
    return [
        r
        for r in ROWS
        if (r.model, r.task, r.showing.name) == (model, Task.DDX, "raw")
        and r.judge is not None
    ]


def labelled(model: str, every: int) -> list[Item]:
    """Return cases of which people scored every so many, one less than the judge."""
    return [
        replace(
            row.case.item(),
            reference={
                "judge_labels": [["ddx", model, max(0, int(row.judge or 0) - 1)]]
            },
        )
        for row in judged(model)[::every]
    ]


def calibrated(items: list[Item]) -> Table:
    frames = frames_of(ROWS, EVERY, labels_of(items))
    return table_of("judge_calibration", frames)


@pytest.mark.statement("E004-09")
def test_that_the_judge_is_corrected_by_what_people_scored() -> None:
    table = calibrated([*labelled("one", 2), ROWS[0].case.item()])
    (line,) = table.records()
    assert (line["model"], line["task"]) == ("one", "ddx")
    scores = [int(row.judge or 0) for row in judged("one")]
    human = [max(0, s - 1) if i % 2 == 0 else None for i, s in enumerate(scores)]
    expected = prediction_powered(
        [float(s) for s in scores], human, range(len(scores)), (0, 5)
    )
    assert line["first_score"] == pytest.approx(np.mean(scores), abs=1e-12)
    assert line["first_score_corrected"] == pytest.approx(expected.value, abs=1e-12)
    assert line["first_score_low"] == pytest.approx(expected.interval.low, abs=1e-12)
    covered = np.mean([s >= 4 for s in scores])
    assert line["first_coverage"] == pytest.approx(covered, abs=1e-12)
    pairs = [(s, h) for s, h in zip(scores, human, strict=True) if h is not None]
    kappa = cohen_kappa_score(*zip(*pairs, strict=True), labels=LEVELS)
    assert line["kappa"] == pytest.approx(kappa, abs=1e-12)
    assert (line["n_first_judged"], line["n_labelled"]) == (len(scores), len(pairs))


@pytest.mark.statement("E004-09")
def test_that_without_labels_there_is_nothing_to_calibrate() -> None:
    assert calibrated([ROWS[0].case.item()]).rows == ()


def test_that_one_label_leaves_the_interval_open() -> None:
    (found,) = calibrated(labelled("two", 999)).records()
    assert found["first_score_low"] is None
    assert found["n_labelled"] == 1
