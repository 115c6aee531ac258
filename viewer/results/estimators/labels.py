"""F1 of rows whose columns are label lists, predicted and true."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import nan
from typing import NamedTuple

from viewer.metrics.estimate import Estimate
from viewer.metrics.proportions import f1_interval, mean_of_alike, patient_interval
from viewer.results.estimators.registry import Seen, estimator, ratio
from viewer.results.frame import Frame


@estimator("f1")
def f1(seen: Seen) -> Sequence[object]:
    """Return F1, precision and recall, micro-averaged over (row, label).

    The two columns are predicted and true labels; ``only`` are the labels that count,
    ``drop`` those that do not.
    """
    return _f1(seen.rows, seen)


@estimator("macro f1")
def macro_f1(seen: Seen) -> Sequence[object]:
    """Return the mean F1 of the ``only`` labels, NaN if any of them has no F1."""
    labels = seen.options["only"]
    ones = [
        _f1(seen.rows, Seen(seen.rows, None, seen.of, {"only": (one,)}))[0]
        for one in labels
    ]
    return (sum(ones) / len(ones),)


@estimator("interval of f1")
def interval_of_f1(seen: Seen) -> Sequence[object]:
    """Return the intervals of F1, precision and recall, each low, high and method.

    The columns are predicted and true labels, and each row's patient and item. A
    decision is a label of an item that is predicted or true.
    """
    decided = [*_decided(seen)]
    predicted = [one for one in decided if one.predicted]
    true = [one for one in decided if one.true]
    found = (_f1_interval(decided), _interval(predicted), _interval(true))
    return tuple(
        value
        for of in found
        for value in (of.interval.low, of.interval.high, of.method)
    )


@estimator("interval of macro f1")
def interval_of_macro_f1(seen: Seen) -> Sequence[object]:
    """Return the interval of the mean F1 of the ``only`` labels, and its method."""
    decided = [*_decided(seen)]
    each = [
        _f1_interval([one for one in decided if one.label == label])
        for label in seen.options["only"]
    ]
    found = mean_of_alike(each)
    return found.interval.low, found.interval.high, found.method


@estimator("gain in f1")
def gain_in_f1(seen: Seen) -> Sequence[object]:
    """Return the F1 compared with, the cell's F1, and the gain in per cent."""
    before = nan if seen.others is None else _f1(seen.others, seen)[0]
    after = _f1(seen.rows, seen)[0]
    gain = 100 * (after - before) / before if before else nan
    return before, after, gain


def _f1(rows: Frame, seen: Seen) -> tuple[float, float, float]:
    only, drop = seen.options.get("only"), seen.options.get("drop", ())
    hits = extra = missed = 0
    predicted, true = seen.of
    for answered, wanted in rows.each(predicted, true):
        one = {label for label in answered if _takes(label, only, drop)}
        other = {label for label in wanted if _takes(label, only, drop)}
        hits += len(one & other)
        extra += len(one - other)
        missed += len(other - one)
    return (
        ratio(2 * hits, 2 * hits + extra + missed),
        ratio(hits, hits + extra),
        ratio(hits, hits + missed),
    )


class _Decision(NamedTuple):
    """Whether a label of an item is predicted and whether it is true; not neither."""

    patient: str
    item: str
    label: str
    predicted: bool
    true: bool


def _decided(seen: Seen) -> Iterator[_Decision]:
    only, drop = seen.options.get("only"), seen.options.get("drop", ())
    for answered, wanted, patient, item in seen.rows.each(*seen.of):
        for label in dict.fromkeys((*answered, *wanted)):
            if _takes(label, only, drop):
                found, true = label in answered, label in wanted
                yield _Decision(patient, item, label, found, true)


def _interval(decided: Sequence[_Decision]) -> Estimate:
    """Return the share of decisions that are predicted and true, with its interval."""
    return patient_interval(*_sums(decided))


def _f1_interval(decided: Sequence[_Decision]) -> Estimate:
    return f1_interval(*_sums(decided))


def _sums(decided: Sequence[_Decision]) -> tuple[list[int], list[int], int]:
    """Return hits and decisions of each patient, and how many decisions differ."""
    of: dict[str, list[bool]] = defaultdict(list)
    for one in decided:
        of[one.patient].append(one.predicted and one.true)
    distinct = len({(one.item, one.label) for one in decided})
    return [*map(sum, of.values())], [*map(len, of.values())], distinct


def _takes(label: str, only: Sequence[str] | None, drop: Sequence[str]) -> bool:
    return label not in drop and (only is None or label in only)
