"""A run's trials as a frame, and frames of other rows."""

from dataclasses import replace
from math import isnan

import pytest

from viewer.domain.answer import UNREADABLE, Status
from viewer.domain.result import Score, TrialResult
from viewer.results.records import comparable, number_names, numbers_in, records


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
    found = records(RESULTS)
    assert {name: found[name][1] for name in found.columns} == {
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
        "correct": False,
        "chance": 0.5,
        "judge": 2.0,
        "share": 0.5,
    }


def test_that_records_come_in_the_order_planned_with_numbers_as_first_seen() -> None:
    found = records(RESULTS)
    assert found["item"] == ["2", "1", "3"]
    assert found.columns[-2:] == number_names(RESULTS) == ("judge", "share")
    assert found["judge"][:2] == [5.0, 2.0]
    assert isnan(found["judge"][2])
    assert [isnan(one) for one in found["share"]] == [True, False, True]
    assert not records(())
    assert records(()).columns == found.columns[:-2]


@pytest.mark.parametrize("status", Status)
def test_that_every_status_is_in_its_denominators(status: Status) -> None:
    found = records([result("1", status)])
    scored = {Status.SCORED_CORRECT, Status.SCORED_WRONG}
    settled = {*scored, *UNREADABLE, Status.PROVIDER_ERROR, Status.REFUSED}
    assert found["status"] == [status.value]
    assert found["answered"] == [status in scored]
    assert found["counted"] == [status in settled]
    assert found["correct"] == [status is Status.SCORED_CORRECT]


@pytest.mark.statement("X-01", "X-09")
def test_that_nothing_is_compared_with_a_side_whose_requests_all_failed() -> None:
    def asked(item: str, condition: str, status: Status) -> TrialResult:
        return replace(result(item, status), condition=condition)

    failed, wrong = Status.PROVIDER_ERROR, Status.SCORED_WRONG
    found = comparable(
        records(
            [
                asked("1", "noise", failed),
                asked("2", "noise", failed),
                asked("3", "noise", Status.EXCLUDED),
                asked("1", "plain", failed),
                asked("2", "plain", wrong),
                asked("3", "plain", Status.PENDING),
            ]
        ),
        "model",
        "condition",
    )
    # a failed request still counts as wrong where another one got a reply
    assert found["comparable"] == [False, False, False, True, True, False]


@pytest.mark.parametrize(
    ("gold", "chance"),
    [('{"yes": false}', 0.5), ('{"options": ["a", "b", "c", "d"], "right": 2}', 0.25)],
)
def test_that_chance_is_that_of_a_random_option(gold: str, chance: float) -> None:
    found = records([replace(RESULTS[0], gold=gold)])
    assert found["chance"] == [chance]


def test_that_an_answer_without_options_has_no_chance_level() -> None:
    golds = ('{"yes": true}', "", '{"options": []}', '{"number": 3}')
    found = records([replace(RESULTS[0], gold=gold) for gold in golds])
    assert [isnan(one) for one in found["chance"]] == [False, True, True, True]


def test_that_a_frame_tells_the_numbers_of_its_verdicts_from_its_columns() -> None:
    found = records(RESULTS)
    assert numbers_in(found) == number_names(RESULTS)
    assert numbers_in(found.having(view=["frontal"] * 3)) == number_names(RESULTS)
    assert numbers_in(records(())) == ()
