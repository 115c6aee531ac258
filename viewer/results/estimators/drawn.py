"""Rates with intervals of a bootstrap."""

from collections.abc import Sequence
from math import nan

import numpy as np

from viewer.metrics.cluster_bootstrap import Resampling, cluster_bootstrap
from viewer.results.estimators.registry import Seen, estimator


@estimator("rate by cluster")
def rate_by_cluster(seen: Seen) -> Sequence[object]:
    """Return the percentile interval of a rate, ``cluster`` drawn with all its rows.

    Those that are drawn are the clusters of the rows it is held against.
    """
    name = seen.options["cluster"]
    every = sorted(set() if seen.others is None else set(seen.others[name]))
    if not every or not seen.rows:
        return nan, nan
    place = {cluster: i for i, cluster in enumerate(every)}
    own = [place[cluster] for cluster in seen.rows[name]]
    hits = np.bincount(own, np.array(seen.rows[seen.of[0]], float), len(every))
    trials = np.bincount(own, minlength=len(every))
    drawn = cluster_bootstrap(
        hits.astype(np.int64)[:, None],
        trials[:, None],
        Resampling(seen.options["replicates"], seen.options["seed"]),
    )
    interval = drawn.cells[0].percentile.interval
    return interval.low, interval.high
