"""Answers as JSON: what is written is read back equal."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    ChoiceAnswer,
    HeatMapAnswer,
    LabelledBox,
    LabelsAnswer,
    MaskAnswer,
    PointAnswer,
    RankedAnswer,
    ReportAnswer,
    Status,
    Unparsed,
    WordedAnswer,
    YesNoAnswer,
)
from viewer.domain.answer_json import (
    NOTHING,
    PLACED_START,
    answer_as_json,
    answer_of_json,
    any_answer_of_json,
    type_of,
)
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import SentHeatMap
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.grid import Cell
from viewer.domain.reference import Mask

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SIDES = st.tuples(st.integers(1, 12), st.integers(1, 12))
POINTS = st.builds(PointAnswer, st.builds(PointPx, NUMBERS, NUMBERS))
BOXES = st.builds(BoxPx, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
MASKS = SIDES.flatmap(lambda shape: arrays(np.bool_, shape)).map(
    lambda mask: MaskAnswer(Mask.of_array(mask))
)
HALVES = st.floats(allow_nan=False, allow_infinity=False, width=16)
HEAT_MAPS = st.builds(
    HeatMapAnswer,
    SIDES.flatmap(lambda shape: arrays(np.float16, shape, elements=HALVES)).map(
        SentHeatMap.of
    ),
    BOXES,
)
ANSWERS = (
    POINTS
    | st.lists(BOXES, min_size=1, max_size=4).map(lambda b: BoxesAnswer(tuple(b)))
    | st.lists(st.tuples(BOXES, NUMBERS), min_size=1, max_size=4).map(
        lambda b: BoxesAnswer(tuple(x for x, _ in b), tuple(n for _, n in b))
    )
    | MASKS
    | HEAT_MAPS
)


@given(ANSWERS)
def test_that_an_answer_read_back_equals_the_one_written(answer: Answer) -> None:
    written = answer_as_json(answer)
    assert answer_of_json(written) == answer
    assert written.startswith(PLACED_START)
    assert json.loads(written)["type"] == type_of(answer)


def test_that_a_cell_and_a_reason_are_written_without_a_tag() -> None:
    cell = CellAnswer(Cell(3, 4), "whole")
    unparsed = Unparsed(Status.AMBIGUOUS, "list")
    assert answer_as_json(cell) == '{"cell": [3, 4], "tier": "whole"}'
    assert answer_as_json(unparsed) == '{"status": "ambiguous", "reason": "list"}'
    assert answer_of_json(answer_as_json(cell)) == cell
    assert answer_of_json(answer_as_json(unparsed)) == unparsed
    assert answer_of_json(NOTHING) is None


@pytest.mark.parametrize("answer", [CellAnswer(Cell(0, 0))])
def test_that_a_cell_is_told_from_a_place_by_its_first_characters(
    answer: CellAnswer,
) -> None:
    assert not answer_as_json(answer).startswith(PLACED_START)
    assert type_of(answer) == "cell"


TEXTS = st.text(max_size=20)
WORDED = (
    st.builds(ChoiceAnswer, st.integers(0, 30), TEXTS)
    | st.builds(YesNoAnswer, st.booleans(), TEXTS)
    | st.lists(TEXTS).map(lambda names: LabelsAnswer(tuple(names)))
    | st.lists(TEXTS).map(lambda names: RankedAnswer(tuple(names)))
    | st.builds(
        ReportAnswer,
        TEXTS,
        st.lists(st.builds(LabelledBox, BOXES, TEXTS, st.integers(0, 5))).map(tuple),
    )
)


@given(WORDED)
def test_that_an_answer_in_words_read_back_equals_the_one_written(
    answer: WordedAnswer,
) -> None:
    written = answer_as_json(answer)
    assert any_answer_of_json(written) == answer
    assert written.startswith(f'{{"words": "{type_of(answer)}"')
    assert not written.startswith(PLACED_START)


@given(ANSWERS)
def test_that_any_answer_read_back_may_be_a_place(answer: Answer) -> None:
    assert any_answer_of_json(answer_as_json(answer)) == answer


def test_that_any_answer_read_back_may_be_none_or_nothing() -> None:
    unread = Unparsed(Status.AMBIGUOUS, "two_options")
    assert any_answer_of_json(answer_as_json(unread)) == unread
    assert any_answer_of_json(NOTHING) is None


def test_that_words_are_no_place() -> None:
    with pytest.raises(WrongUseError, match="the answer"):
        answer_of_json(answer_as_json(ChoiceAnswer(0)))
