"""Trials of a run as the tables count them."""

import json
from pathlib import Path

import pytest

from tests.helpers.evidence_cases import ENGLISH, EVERY
from viewer.domain.answer import Status
from viewer.domain.case import Dataset
from viewer.domain.result import Score, TrialResult
from viewer.studies.evidence_diagnosis.params import Task
from viewer.studies.evidence_diagnosis.rows import rows_of


@pytest.mark.statement("E004-07")
@pytest.mark.parametrize("status", [Status.PROVIDER_ERROR, Status.SCORED_WRONG])
def test_that_the_right_letter_is_known_whether_or_not_it_was_answered(
    status: Status,
) -> None:
    item = ENGLISH.item()
    data = Dataset("cases", "medsyn", Path(), (), (), "0" * 64, items=(item,))
    gold = {"order": [2, ENGLISH.answer, 3, 1], "right": ENGLISH.answer}
    known, unknown = (
        TrialResult(
            item=f"{item.key}|{task}",
            patient=item.key,
            image="",
            view="en",
            finding=task,
            condition="raw",
            repeat=0,
            model="m",
            score=Score(status),
            gold=text,
        )
        for task, text in ((Task.FDX, json.dumps(gold)), (Task.DDX, ""))
    )
    places = [row.place for row in rows_of([known, unknown], data, EVERY)]
    assert places == [1, None]
