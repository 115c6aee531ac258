"""The two tables that every study about items has: its trials, and its rates."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Final

from viewer.domain.answer import UNREADABLE, Status
from viewer.domain.report import Table
from viewer.domain.result import TrialResult
from viewer.metrics.intervals import wilson

MICRO: Final = "(micro)"
"""The finding of rows that count trials of all findings."""
ALL_VIEWS: Final = "all"
"""The view of rows that count trials of all views."""
ITEMS_HEADER: Final = (
    *("item", "patient", "image", "finding", "view", "condition", "repeat", "model"),
    *("status", "reason", "answer", "gold", "request_sha256"),
)
RESULTS_HEADER: Final = (
    *("finding", "view", "condition", "model"),
    *("n_planned", "n_scored", "n_failed", "n_refused", "n_unparsed", "n_excluded"),
    *("n_pending", "k", "n", "hit_rate", "wilson_low", "wilson_high", "answered_rate"),
)
_NOT_COUNTED: Final = frozenset({Status.EXCLUDED, Status.PENDING})
_SCORED: Final = frozenset({Status.SCORED_CORRECT, Status.SCORED_WRONG})


def items_table(results: Sequence[TrialResult]) -> Table:
    """Return every trial with its verdict, in the order planned.

    A column follows for each named number that any verdict has, in the order in which
    they first appear; a verdict without it leaves it empty.
    """
    numbers = tuple(dict.fromkeys(n for one in results for n, _ in one.score.numbers))
    rows = tuple(
        (*_trial(one), *(one.score.number(name) for name in numbers)) for one in results
    )
    return Table("items", (*ITEMS_HEADER, *numbers), rows)


def _trial(one: TrialResult) -> tuple[object, ...]:
    return (
        *(one.item, one.patient, one.image, one.finding, one.view, one.condition),
        *(one.repeat, one.model, one.score.status.value, one.score.reason),
        *(one.score.answer, one.gold, one.request_sha256),
    )


def results_table(results: Sequence[TrialResult]) -> Table:
    """Return hit rates by finding, view, condition and model (X-01).

    Each condition and model has a row for all its trials, one for each finding, and,
    where there are several views, one for each of those. The primary rate counts every
    settled trial that is not right as wrong; ``answered_rate`` those with an answer.
    """
    numbers = tuple(dict.fromkeys(n for one in results for n, _ in one.score.numbers))
    header = (*RESULTS_HEADER, *(f"mean_{name}" for name in numbers))
    return Table("results", header, tuple(_rows(results, numbers)))


def _rows(
    results: Sequence[TrialResult], numbers: Sequence[str]
) -> Iterator[tuple[object, ...]]:
    conditions = tuple(dict.fromkeys(one.condition for one in results))
    models = tuple(dict.fromkeys(one.model for one in results))
    for condition, model in product(conditions, models):
        own = [r for r in results if (r.condition, r.model) == (condition, model)]
        for finding, view in _groups(own):
            chosen = [r for r in own if _is_in(r, finding, view)]
            key = (finding, view, condition, model)
            yield (*key, *rates_of(chosen), *_means(chosen, numbers))


def _groups(results: Sequence[TrialResult]) -> tuple[tuple[str, str], ...]:
    findings = tuple(dict.fromkeys(one.finding for one in results))
    views = tuple(dict.fromkeys(one.view for one in results))
    by_view = [(MICRO, view) for view in views] if len(views) > 1 else []
    by_finding = ((finding, ALL_VIEWS) for finding in findings)
    return ((MICRO, ALL_VIEWS), *by_finding, *by_view)


def _is_in(one: TrialResult, finding: str, view: str) -> bool:
    return finding in {MICRO, one.finding} and view in {ALL_VIEWS, one.view}


def rates_of(results: Iterable[TrialResult]) -> tuple[object, ...]:
    """Return the columns of RESULTS_HEADER from ``n_planned`` on.

    Rates are None where there is no trial that counts.
    """
    statuses = [one.score.status for one in results]
    k = statuses.count(Status.SCORED_CORRECT)
    scored = sum(status in _SCORED for status in statuses)
    n = sum(status not in _NOT_COUNTED for status in statuses)
    interval = wilson(k, n) if n else None
    return (
        *(len(statuses), scored, statuses.count(Status.PROVIDER_ERROR)),
        statuses.count(Status.REFUSED),
        sum(status in UNREADABLE for status in statuses),
        *(statuses.count(Status.EXCLUDED), statuses.count(Status.PENDING)),
        *(k, n, k / n if n else None),
        interval.low if interval else None,
        interval.high if interval else None,
        k / scored if scored else None,
    )


def _means(results: Sequence[TrialResult], numbers: Sequence[str]) -> Iterator[object]:
    for name in numbers:
        own = [n for one in results if (n := one.score.number(name)) is not None]
        yield sum(own) / len(own) if own else None
