from itertools import count

import pytest

from tests.helpers.reading_forms import DIFFERENTIAL
from viewer.domain.form_catalog import (
    ANATOMY,
    ERROR_REVIEW,
    POSITION,
    UNSURE,
    VERDICT,
)
from viewer.domain.form_values import Values
from viewer.domain.reading import Act, TaskState
from viewer.domain.reading_history import ReadingRow, Standing, standing_of

_ids = count(1)


def _did(act: Act, values: Values | None = None, stage: int = 0) -> ReadingRow:
    return ReadingRow(next(_ids), 0, act, stage, values or {}, "", 1000, "then")


def _said(act: Act, verdict: str) -> ReadingRow:
    return _did(act, {VERDICT: verdict})


def test_that_an_untouched_case_waits() -> None:
    assert standing_of([], ERROR_REVIEW) == Standing()


def test_that_the_last_row_holds() -> None:
    rows = [_said(Act.SAVED, POSITION), _said(Act.SAVED, ANATOMY)]
    standing = standing_of(rows, ERROR_REVIEW)
    assert standing.state is TaskState.STARTED
    assert standing.values == {VERDICT: ANATOMY}
    assert standing.active_ms == 2000


def test_that_undoing_nothing_leaves_nothing() -> None:
    assert standing_of([_did(Act.UNDONE)], ERROR_REVIEW).state is TaskState.WAITING


@pytest.mark.statement("E000-26")
def test_that_undoing_takes_back_one_row_and_keeps_the_time() -> None:
    rows = [
        _said(Act.SAVED, POSITION),
        _said(Act.SAVED, ANATOMY),
        _did(Act.UNDONE),
    ]
    standing = standing_of(rows, ERROR_REVIEW)
    assert standing.values == {VERDICT: POSITION}
    assert standing.active_ms == 3000
    nothing = standing_of([*rows, _did(Act.UNDONE)], ERROR_REVIEW)
    assert (nothing.state, nothing.values) == (TaskState.WAITING, {})
    assert nothing.active_ms == 4000


def test_that_a_lock_is_undone_until_something_is_revealed() -> None:
    rows = [_said(Act.LOCKED, POSITION)]
    assert standing_of(rows, ERROR_REVIEW).undoable
    seen = standing_of([*rows, _said(Act.REVEALED, POSITION)], ERROR_REVIEW)
    assert (seen.complete, seen.revealed, seen.undoable) == (True, True, False)


def test_that_a_lock_that_opened_another_stage_is_final() -> None:
    rows = [_did(Act.LOCKED, {"differential": ("edema",)})]
    standing = standing_of(rows, DIFFERENTIAL)
    assert standing.state is TaskState.STAGE_LOCKED
    assert standing.stage == 1
    assert not standing.undoable
    both = standing_of(
        [*rows, _did(Act.LOCKED, {"differential": ("edema",), "choice": "a"}, 1)],
        DIFFERENTIAL,
    )
    assert (both.state, both.stage) == (TaskState.LOCKED, 2)


@pytest.mark.statement("E000-26")
def test_that_unsure_stays_open_until_it_is_resolved_and_stays_on_record() -> None:
    rows = [_said(Act.LOCKED, UNSURE)]
    unsure = standing_of(rows, ERROR_REVIEW)
    assert unsure.state is TaskState.UNRESOLVED
    assert (unsure.complete, unsure.unresolved) == (True, True)
    resolved = standing_of([*rows, _said(Act.RESOLVED, ANATOMY)], ERROR_REVIEW)
    assert resolved.state is TaskState.LOCKED
    assert resolved.values == {VERDICT: ANATOMY}
    assert resolved.first == {VERDICT: UNSURE}
    assert resolved.resolved
    assert not resolved.undoable
