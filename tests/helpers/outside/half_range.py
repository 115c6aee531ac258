"""A metric of another distribution: half of what lies between two extremes."""

from collections.abc import Sequence

from viewer.results.estimators import Metric, Seen


def half_range(seen: Seen) -> Sequence[object]:
    values = seen.values()
    return ((max(values) - min(values)) / 2,)


METRIC = Metric("half range", 1, half_range)
