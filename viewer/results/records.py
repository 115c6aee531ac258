"""A run's trials as a data frame, a row a trial, and frames that studies make of it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from viewer.domain.answer import Status
from viewer.domain.result import TrialResult

if TYPE_CHECKING:
    import pandas as pd

Frame: TypeAlias = "pd.DataFrame"
Frames = Mapping[str, Frame]
NOT_COUNTED = frozenset({Status.EXCLUDED, Status.PENDING})
"""Trials that are in no denominator."""
_ANSWERED = frozenset({Status.SCORED_CORRECT, Status.SCORED_WRONG})


def records(results: Sequence[TrialResult]) -> Frame:
    """Return every trial with its verdict, in the order planned.

    ``counted`` trials are settled, ``answered`` ones have a verdict, ``right`` ones the
    best. A column follows for each named number that any verdict has, NaN where a
    verdict is without it.
    """
    names = number_names(results)
    numbers = [dict(one.score.numbers) for one in results]
    return frame_of(
        {
            "item": [one.item for one in results],
            "patient": [one.patient for one in results],
            "image": [one.image for one in results],
            "finding": [one.finding for one in results],
            "view": [one.view for one in results],
            "condition": [one.condition for one in results],
            "repeat": [one.repeat for one in results],
            "model": [one.model for one in results],
            "status": [one.score.status.value for one in results],
            "reason": [one.score.reason for one in results],
            "answer": [one.score.answer for one in results],
            "gold": [one.gold for one in results],
            "request_sha256": [one.request_sha256 for one in results],
            "counted": [one.score.status not in NOT_COUNTED for one in results],
            "answered": [one.score.status in _ANSWERED for one in results],
            "right": [one.score.status is Status.SCORED_CORRECT for one in results],
            **{name: [own.get(name) for own in numbers] for name in names},
        }
    )


def number_names(results: Iterable[TrialResult]) -> tuple[str, ...]:
    """Return the names of all numbers of verdicts, in the order they first appear."""
    return tuple(dict.fromkeys(n for one in results for n, _ in one.score.numbers))


def frame_of(columns: Mapping[str, Sequence[object]]) -> Frame:
    """Return columns of the same length as a frame."""
    import pandas as pd

    return pd.DataFrame({name: _series(of) for name, of in columns.items()})


def frame_of_rows(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Frame:
    """Return rows under a header as a frame; without any it has the columns alone."""
    listed = [tuple(row) for row in rows]
    return frame_of({name: [row[i] for row in listed] for i, name in enumerate(header)})


def _series(values: Sequence[object]) -> "pd.Series":
    """Return values as they are; None becomes NaN where all others are floats."""
    import pandas as pd

    kinds = {type(value) for value in values}
    cast = kinds in ({int}, {bool}, {float}, {float, type(None)})
    return pd.Series(list(values), dtype=None if cast else object)
