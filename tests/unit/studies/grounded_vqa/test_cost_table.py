"""What 100 items cost, and where attention went, where not every number was told."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.helpers.heal_trials import YES, closed, heal_rows
from tests.helpers.tabled import Row
from viewer.domain.result import TrialResult

Cost = tuple[float, float | None]
"""Milliseconds, and MiB where they were told."""


def measured(numbers: Mapping[str, float], condition: str = "plain") -> TrialResult:
    one = closed("q", YES, condition=condition)
    return replace(one, score=replace(one.score, numbers=tuple(numbers.items())))


def cost(*answers: Cost) -> Row:
    results = [
        measured({"latency_ms": ms} | ({} if mib is None else {"peak_mib": mib}))
        for ms, mib in answers
    ]
    (row,) = heal_rows("table_6_cost", results)
    return row


@pytest.mark.statement("E002-13")
def test_that_lobas_row_is_had_from_its_answers() -> None:
    row = cost(*[(1012.0, 25254.0)] * 100)
    assert row["seconds_per_100"] == pytest.approx(101.2)
    assert (row["n"], row["peak_mib"]) == (100, 25254.0)


@pytest.mark.parametrize("first", [1.0, None])
def test_that_memory_that_was_not_told_for_every_answer_is_not_told(
    first: float | None,
) -> None:
    row = cost((10.0, first), (30.0, None))
    assert (row["n"], row["seconds_per_100"], row["peak_mib"]) == (2, 2.0, None)
    assert heal_rows("table_6_cost", [closed("q", YES)]) == []


@pytest.mark.statement("E002-17")
def test_that_attention_that_nobody_told_is_left_empty() -> None:
    lit = measured({"tower_attention_inside": 0.25}, "loba-3")
    (row,) = heal_rows("attention", [lit, closed("q", YES, condition="loba-3")])
    assert (row["n"], row["tower_attention_inside"]) == (1, 0.25)
    assert (row["attention_on_image"], row["attention_inside"]) == (None, None)
