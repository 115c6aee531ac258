"""What a region adds to F1, beside what the paper says that it adds."""

from collections.abc import Iterator, Sequence

import pytest

from tests.helpers.heal_trials import NO, YES, closed, heal_rows, opened, unsaid
from tests.helpers.tabled import Row
from viewer.domain.answer import LabelsAnswer, Status
from viewer.domain.result import TrialResult

YES_NO_F1 = {0.0: (0, 1), 0.5: (1, 2), 0.55: (11, 18), 0.6: (3, 4), 0.7: (7, 6)}
"""Positive questions answered yes and no: F1 is 2 yes / (2 yes + no)."""
OPEN_F1 = {0.2: (1, 4), 0.3: (3, 7), 0.4: (2, 3)}
"""One finding named rightly and wrongly: F1 is the share of right answers."""


def asked(
    model: str, condition: str, yes_no: float, open_: float | None
) -> Iterator[TrialResult]:
    """Yield answers that have these F1; without an open one they are yet to come."""
    for said, times in zip((YES, NO), YES_NO_F1[yes_no], strict=True):
        yield from times * [closed("c", said, condition=condition, model=model)]
    if open_ is None:
        yield unsaid("o", condition, Status.PENDING, model, view="abnormality")
        return
    for finding, times in zip(("Edema", "Mass"), OPEN_F1[open_], strict=True):
        named = LabelsAnswer((finding,))
        one = opened("o", named, ("Edema",), condition=condition, model=model)
        yield from times * [one]


def gains(*answers: Iterator[TrialResult]) -> Sequence[Row]:
    results = [one for of in answers for one in of]
    return heal_rows("relative_gain", results, {"o": ("Edema",)})


@pytest.mark.statement("E002-19", "E002-15")
def test_that_a_gain_is_held_against_the_model_s_own_plain_answers() -> None:
    rows = gains(
        asked("a", "plain", 0.5, 0.4),
        asked("a", "contour", 0.6, 0.3),
        asked("a", "loba-3", 0.55, None),
        asked("b", "plain", 0.0, 0.2),
        asked("b", "loba-3", 0.7, 0.2),
        asked("c", "loba-3", 0.7, 0.2),
    )
    own = [r for r in rows if r["source"] == "this run"]
    found = {(r["model"], r["condition"], r["questions"]): r for r in own}
    assert len(found) == len(own) == 6
    assert {r["model"] for r in own} == {"a", "b"}
    contour = found["a", "contour", "Yes/No"]
    assert (contour["f1_plain"], contour["f1"]) == (0.5, 0.6)
    assert contour["gain_percent"] == pytest.approx(20.0)
    assert contour["note"] == "LobA-approximation"
    assert found["a", "contour", "Open"]["gain_percent"] == pytest.approx(-25.0)
    assert found["a", "loba-3", "Yes/No"]["f1"] == 0.55
    assert found["a", "loba-3", "Open"]["gain_percent"] is None
    assert found["b", "loba-3", "Yes/No"]["gain_percent"] is None
    assert found["b", "loba-3", "Open"]["gain_percent"] == 0.0


@pytest.mark.statement("E002-19")
def test_that_the_paper_s_gains_stand_beside_where_there_are_any() -> None:
    plain = list(asked("a", "plain", 0.5, 0.4))
    rows = gains(iter(plain), asked("a", "crop", 0.5, 0.4))
    printed = {r["questions"]: r for r in rows if r["source"] != "this run"}
    told = {name: f"{r['gain_percent']:.2f}" for name, r in printed.items()}
    assert told == {
        "MIMIC Yes/No": "4.16",
        "MIMIC Open": "5.44",
        "VinDr Yes/No": "3.56",
        "VinDr Open": "3.63",
    }
    assert gains(iter(plain)) == []
