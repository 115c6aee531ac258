"""What a model's answers do to readers: gain, automation bias and over-trust.

Over-trust is following wrong advice (M-29): a reader who always follows has 1, one who
never looks has 0. Intervals allow for cases that share patients.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from viewer.metrics.estimate import Estimate
from viewer.metrics.pairing import grouped_difference
from viewer.metrics.proportions import patient_interval


@dataclass(frozen=True, slots=True)
class AidedCase:
    """A case that was read with advice.

    ``first_right`` is whether the answer without advice was right, None if there was
    none; ``agreed`` whether it was the advice already. ``followed`` is whether the
    final answer is the advice.
    """

    patient: str
    item: str
    advice_right: bool
    final_right: bool
    followed: bool
    first_right: bool | None = None
    agreed: bool = False


def gain(cases: Sequence[AidedCase]) -> Estimate:
    """Return the paired difference of right answers with advice and without it."""
    return _difference(cases)


def automation_bias(cases: Sequence[AidedCase]) -> Estimate:
    """Return the same difference where the advice was wrong: below 0, it did harm."""
    return _difference([one for one in cases if not one.advice_right])


def over_trust(cases: Sequence[AidedCase]) -> Estimate:
    """Return the share of wrong advice that was followed, from 0 to 1.

    Cases whose answer without advice was the same already are left out.
    """
    wrong = tempted(cases)
    return _share(wrong, [one.followed for one in wrong])


def under_trust(cases: Sequence[AidedCase]) -> Estimate:
    """Return the share of right advice that was not followed, from 0 to 1.

    Cases whose answer without advice was right already are left out.
    """
    right = helpable(cases)
    return _share(right, [not one.final_right for one in right])


def tempted(cases: Iterable[AidedCase]) -> tuple[AidedCase, ...]:
    """Return the cases whose wrong advice was not the reader's own answer already."""
    return tuple(one for one in cases if not one.advice_right and not one.agreed)


def helpable(cases: Iterable[AidedCase]) -> tuple[AidedCase, ...]:
    """Return the cases whose advice was right, and whose answer without it was not."""
    return tuple(one for one in cases if one.advice_right and not one.first_right)


def _difference(cases: Iterable[AidedCase]) -> Estimate:
    groups: dict[str, list[float]] = defaultdict(list)
    for one in cases:
        if one.first_right is not None:
            groups[one.patient].append(float(one.final_right) - float(one.first_right))
    return grouped_difference(tuple(groups.values()))


def _share(cases: Sequence[AidedCase], counted: Sequence[bool]) -> Estimate:
    hits: dict[str, int] = defaultdict(int)
    trials: dict[str, int] = defaultdict(int)
    for one, counts in zip(cases, counted, strict=True):
        hits[one.patient] += counts
        trials[one.patient] += 1
    patients = tuple(trials)
    return patient_interval(
        [hits[one] for one in patients],
        [trials[one] for one in patients],
        len({one.item for one in cases}),
    )
