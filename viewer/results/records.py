"""A run's trials as a data frame, a row a trial, and frames that studies make of it."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from viewer.domain.answer import Status
from viewer.domain.result import TrialResult

if TYPE_CHECKING:
    import pandas as pd

Frame: TypeAlias = "pd.DataFrame"
Frames = Mapping[str, Frame]
NOT_COUNTED = frozenset({Status.EXCLUDED, Status.PENDING})
"""Trials that are in no denominator."""
_ANSWERED = frozenset({Status.SCORED_CORRECT, Status.SCORED_WRONG})
_Numbers = Iterable[tuple[str, float]]


def records(results: Sequence[TrialResult]) -> Frame:
    """Return every trial with its verdict, in the order planned."""
    return frame_of_trials(
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
        },
        [one.score.numbers for one in results],
    )


def frame_of_trials(
    columns: Mapping[str, Sequence[object]], numbers: Sequence[_Numbers]
) -> Frame:
    """Return trials with what follows from their column ``status``.

    ``counted`` trials are settled, ``answered`` ones have a verdict, ``right`` ones the
    best. A column follows for each named number that any verdict has, NaN where a
    verdict is without it.
    """
    statuses = columns["status"]
    own = [dict(one) for one in numbers]
    return frame_of(
        {
            **columns,
            "counted": [one not in NOT_COUNTED for one in statuses],
            "answered": [one in _ANSWERED for one in statuses],
            "right": [one == Status.SCORED_CORRECT for one in statuses],
            **{
                name: [one.get(name) for one in own]
                for name in dict.fromkeys(chain.from_iterable(own))
            },
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

    return pd.Series(values, dtype=_CASTS.get(frozenset(map(type, values)), object))


_CASTS: Final[Mapping[frozenset[type], Any]] = {
    frozenset({int}): "int64",
    frozenset({bool}): bool,
    frozenset({float}): float,
    frozenset({float, type(None)}): float,
}
"""What pandas makes of columns that have values of these types alone."""
