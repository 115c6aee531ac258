"""F1 of rows whose columns are label lists, predicted and true."""

from collections.abc import Sequence
from math import nan

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


def _takes(label: str, only: Sequence[str] | None, drop: Sequence[str]) -> bool:
    return label not in drop and (only is None or label in only)
