"""A run's trials as a frame, and frames of other rows."""

from math import isnan

import numpy as np
import pytest

from viewer.domain.answer import UNREADABLE, Status
from viewer.domain.result import Score, TrialResult
from viewer.results.records import frame_of, frame_of_rows, number_names, records


def result(item: str, status: Status, **numbers: float) -> TrialResult:
    score = Score(status, "why", "A", numbers=tuple(numbers.items()))
    who = (item, f"p{item}", f"i{item}", "frontal", "Mass", "plain", 1, "m")
    return TrialResult(*who, score, request_sha256="abc", gold='{"yes": true}')


RESULTS = (
    result("2", Status.SCORED_CORRECT, judge=5.0),
    result("1", Status.SCORED_WRONG, share=0.5, judge=2.0),
    result("3", Status.PENDING),
)


def test_that_a_record_has_all_that_is_known_of_a_trial() -> None:
    assert records(RESULTS).to_dict("records")[1] == {
        "item": "1",
        "patient": "p1",
        "image": "i1",
        "finding": "Mass",
        "view": "frontal",
        "condition": "plain",
        "repeat": 1,
        "model": "m",
        "status": "scored_wrong",
        "reason": "why",
        "answer": "A",
        "gold": '{"yes": true}',
        "request_sha256": "abc",
        "counted": True,
        "answered": True,
        "right": False,
        "judge": 2.0,
        "share": 0.5,
    }


def test_that_records_come_in_the_order_planned_with_numbers_as_first_seen() -> None:
    found = records(RESULTS)
    assert found["item"].tolist() == ["2", "1", "3"]
    assert tuple(found.columns)[-2:] == number_names(RESULTS) == ("judge", "share")
    assert found["judge"].tolist()[:2] == [5.0, 2.0]
    assert isnan(found["judge"].iloc[2])
    assert np.isnan(found["share"]).tolist() == [True, False, True]
    assert records(()).empty
    assert tuple(records(()).columns) == tuple(found.columns)[:-2]


@pytest.mark.parametrize("status", Status)
def test_that_every_status_is_in_its_denominators(status: Status) -> None:
    (found,) = records([result("1", status)]).to_dict("records")
    scored = {Status.SCORED_CORRECT, Status.SCORED_WRONG}
    settled = {*scored, *UNREADABLE, Status.PROVIDER_ERROR, Status.REFUSED}
    assert found["status"] == status.value
    assert found["answered"] == (status in scored)
    assert found["counted"] == (status in settled)
    assert found["right"] == (status is Status.SCORED_CORRECT)


def test_that_no_value_of_a_frame_is_cast_to_another() -> None:
    columns: dict[str, list[object]] = {
        "whole": [1, 2],
        "some": [1, None],
        "mixed": [1, 0.5],
        "told": [True, None],
        "flags": [True, False],
        "words": ["a", ""],
        "labels": [("a", "b"), ()],
    }
    found = frame_of(columns)
    for name, values in columns.items():
        assert found[name].tolist() == values
        assert list(map(type, found[name].tolist())) == list(map(type, values))


def test_that_rows_make_a_frame_that_keeps_its_columns_without_any() -> None:
    found = frame_of_rows(("a", "b"), iter([(1, "x"), (2, "y")]))
    assert found.to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}
    empty = frame_of_rows(("a", "b"), ())
    assert (tuple(empty.columns), len(empty)) == (("a", "b"), 0)
