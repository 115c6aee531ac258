"""results.csv: counts, rates and intervals by finding, view, condition and model."""

from collections.abc import Sequence

from viewer.domain.report import Table
from viewer.metrics.intervals import Interval
from viewer.studies.grid_localization.estimates import Row

HEADER = (
    "finding",
    "view",
    "condition",
    "model",
    "n_planned",
    "n_scored",
    "n_failed",
    "n_refused",
    "n_unparsed",
    "n_excluded",
    "n_pending",
    "k",
    "hit_rate",
    "bootstrap_sd",
    "wilson_low",
    "wilson_high",
    "random_baseline",
    "prior_baseline",
    "skill",
    "skill_low",
    "skill_high",
    "partial",
)


def results_table(rows: Sequence[Row]) -> Table:
    """Return the rows at full precision; what has no estimate is empty."""
    return Table("results", HEADER, tuple(_row(row) for row in rows))


def _row(row: Row) -> tuple[object, ...]:
    n, estimate = row.tally, row.estimate
    return (
        row.finding,
        row.view,
        row.arm.condition,
        row.arm.model,
        n.planned,
        n.scored,
        n.failed,
        n.refused,
        n.unparsed,
        n.excluded,
        n.pending,
        n.k,
        estimate.hit_rate,
        estimate.bootstrap_sd,
        *_bounds(estimate.wilson),
        estimate.random,
        estimate.prior,
        estimate.skill,
        *_bounds(estimate.skill_interval),
        n.partial,
    )


def _bounds(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)
