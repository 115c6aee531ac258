"""A run's trials as a frame, one row per trial."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.result import TrialResult
from viewer.results.frame import Frame, frame_of
from viewer.results.item_columns import ITEM_KINDS

NOT_COUNTED = frozenset({Status.EXCLUDED, Status.PENDING})
"""Trials that are in no denominator."""
_ANSWERED = frozenset({Status.SCORED_CORRECT, Status.SCORED_WRONG})
_FOLLOWING: Final[Mapping[str, Mapping[object, bool]]] = {
    "counted": {one: one not in NOT_COUNTED for one in Status},
    "answered": {one: one in _ANSWERED for one in Status},
    "correct": {one: one is Status.SCORED_CORRECT for one in Status},
}
"""What follows from each status."""
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
    """Return trials with columns derived from ``status``.

    ``counted`` trials are settled, ``answered`` ones have a verdict, ``correct`` ones
    the best. ``chance`` is the probability that a random option is right, NaN if the
    right answer (``gold``, as JSON) has no options. Last comes a column for each named
    number of any verdict, NaN for verdicts without it.
    """
    statuses = columns["status"]
    names = {name: None for pairs in numbers for name, _ in pairs}
    by_name = [dict(one) for one in numbers] if names else []
    return frame_of(
        {
            **columns,
            **{
                # A StrEnum equals its text and hashes like it: the store has texts.
                name: list(map(follows.__getitem__, statuses))
                for name, follows in _FOLLOWING.items()
            },
            "chance": _chances(columns["gold"]),
            **{name: [one.get(name) for one in by_name] for name in names},
        }
    )


def comparable(trials: Frame, *by: str) -> Frame:
    """Return trials with whether each can be ``comparable`` with another.

    It is settled, and any settled trial with the same ``by`` got a reply. A failed
    request counts as wrong (X-01), but where every request of a side failed, its rate
    says nothing of the model and there is no difference (X-09).
    """
    failed = Status.PROVIDER_ERROR.value
    replied = {
        tuple(of)
        for counted, status, *of in trials.each("counted", "status", *by)
        if counted and status != failed
    }
    settled = zip(trials["counted"], trials.each(*by), strict=True)
    return trials.having(comparable=[one and of in replied for one, of in settled])


def _chances(golds: Sequence[object]) -> list[float | None]:
    known = {gold: _chance(str(gold)) for gold in dict.fromkeys(golds)}
    return [known[gold] for gold in golds]


def _chance(gold: str) -> float | None:
    """Return the chance level of a random option, one half for yes or no."""
    truth = json.loads(gold) if gold else {}
    if truth.get("options"):
        return 1 / len(truth["options"])
    return 0.5 if "yes" in truth else None


def numbers_in(trials: Frame) -> tuple[str, ...]:
    """Return the names of the numbers in a frame of :func:`frame_of_trials`."""
    after = trials.columns[trials.columns.index("chance") + 1 :]
    return tuple(name for name in after if name not in ITEM_KINDS)


def number_names(results: Iterable[TrialResult]) -> tuple[str, ...]:
    """Return the names of all numbers of verdicts, in order of first occurrence."""
    return tuple(dict.fromkeys(n for one in results for n, _ in one.score.numbers))
