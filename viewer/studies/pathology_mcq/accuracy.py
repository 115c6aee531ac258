"""Accuracy by model, arm and part of the data set; two tables that never mix (X-02)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from viewer.domain.answer import UNREADABLE, Status
from viewer.domain.choice import letter_of
from viewer.domain.report import Table
from viewer.domain.result import TrialResult
from viewer.metrics.cluster_bootstrap import Resampling, cluster_bootstrap
from viewer.metrics.intervals import wilson
from viewer.studies.pathology_mcq.arms import arm_of
from viewer.studies.pathology_mcq.baselines import frequent_choice, random_rate
from viewer.studies.pathology_mcq.params import Arm, Params
from viewer.studies.pathology_mcq.questions import Mcq
from viewer.studies.pathology_mcq.scopes import Scope, scopes_of
from viewer.studies.tables import COUNTS, RATE

Key = tuple[str, str, Scope]
"""A model, a condition and a column."""
RATES: Final = (*COUNTS, *(name for cell in RATE for name in cell.names))
"""The columns that `rates_of` fills."""
_NOT_COUNTED: Final = frozenset({Status.EXCLUDED, Status.PENDING})
_SCORED: Final = frozenset({Status.SCORED_CORRECT, Status.SCORED_WRONG})


@dataclass(frozen=True, slots=True)
class Rate:
    """The verdicts of one key, counted; ``row`` are the columns of `rates_of`.

    ``items`` are the items that were asked, each once.
    """

    model: str
    condition: str
    scope: Scope
    row: Mapping[str, object]
    items: frozenset[str]

    @property
    def value(self) -> float | None:
        """Right answers over all settled trials, None without one."""
        k, n = self.row["k"], self.row["n"]
        return k / n if isinstance(k, int) and isinstance(n, int) and n else None


def accuracies(
    results: Sequence[TrialResult], mcqs: Sequence[Mcq]
) -> Mapping[Key, Rate]:
    """Return the rate of every model and condition in every column it has trials in."""
    grouped: dict[tuple[str, str], list[TrialResult]] = {}
    for one in results:
        grouped.setdefault((one.model, one.condition), []).append(one)
    found: dict[Key, Rate] = {}
    for (model, condition), own in grouped.items():
        for scope in scopes_of(mcqs):
            chosen = [one for one in own if scope.holds(one.finding, one.view)]
            if chosen:
                row = dict(zip(RATES, rates_of(chosen), strict=True))
                items = frozenset(one.item for one in chosen)
                key = (model, condition, scope)
                found[key] = Rate(model, condition, scope, row, items)
    return found


def paper_table(
    rates: Mapping[Key, Rate], mcqs: Sequence[Mcq], params: Params
) -> Table:
    """Return accuracies as the paper has them, with its two baselines.

    ``mcqs`` are all of the data set: the validation split tells the frequent letter
    whether or not it was asked.
    """
    validation = [mcq for mcq in mcqs if mcq.split == "val"]
    header = (
        *("model", "condition", "part", "subset", *COUNTS, "k", "n", "accuracy"),
        *("random", "frequent", "frequent_letter"),
    )
    chance: dict[frozenset[str], tuple[object, ...]] = {}
    for asked in {rate.items for rate in rates.values()}:
        own = [mcq for mcq in mcqs if mcq.key in asked]
        frequent = frequent_choice(own, validation, params.frequent_from)
        letter = "" if frequent.option is None else letter_of(frequent.option)
        chance[asked] = (random_rate(own), frequent.rate, letter)
    rows = tuple(
        (
            *_named(rate),
            *(rate.row[name] for name in (*COUNTS, "k", "n")),
            rate.value,
            *chance[rate.items],
        )
        for rate in rates.values()
    )
    return Table("accuracy_paper", header, rows)


def recommended_table(
    rates: Mapping[Key, Rate], results: Sequence[TrialResult], params: Params, seed: int
) -> Table:
    """Return accuracies with intervals: Wilson's, and over images (E003-18).

    Questions on one image are not independent; so images are drawn, with all of their
    questions. Repeats of a question stay with its image.
    """
    header = (
        *("model", "condition", "part", "subset", *COUNTS, "k", "n", "accuracy"),
        *("wilson_low", "wilson_high", "image_low", "image_high", "answered_rate"),
    )
    names = ("wilson_low", "wilson_high")
    rows = tuple(
        (
            *_named(rate),
            *(rate.row[name] for name in (*COUNTS, "k", "n")),
            rate.value,
            *(rate.row[name] for name in names),
            *interval,
            rate.row["answered_rate"],
        )
        for rate, interval in _with_intervals(rates, results, params, seed)
    )
    return Table("accuracy_recommended", header, rows)


def _with_intervals(
    rates: Mapping[Key, Rate], results: Sequence[TrialResult], params: Params, seed: int
) -> Iterator[tuple[Rate, tuple[float | None, float | None]]]:
    """Yield each rate with its interval over images, of uncorrupted questions only."""
    resampling = Resampling(params.replicates, seed)
    models = dict.fromkeys((model, condition) for model, condition, _ in rates)
    for model, condition in models:
        own = [
            r for r in rates.values() if (r.model, r.condition) == (model, condition)
        ]
        if arm_of(condition) is Arm.CORRUPTION:
            yield from ((rate, (None, None)) for rate in own)
            continue
        settled = [
            one
            for one in results
            if (one.model, one.condition) == (model, condition)
            and one.score.status not in _NOT_COUNTED
        ]
        yield from zip(own, _intervals(own, settled, resampling), strict=True)


def _intervals(
    rates: Sequence[Rate], settled: Sequence[TrialResult], resampling: Resampling
) -> list[tuple[float | None, float | None]]:
    images = {one: i for i, one in enumerate(sorted({r.patient for r in settled}))}
    totals = np.zeros((len(images), len(rates)), dtype=np.int64)
    trials = np.zeros_like(totals)
    for one in settled:
        for column, rate in enumerate(rates):
            if rate.scope.holds(one.finding, one.view):
                trials[images[one.patient], column] += 1
                right = one.score.status is Status.SCORED_CORRECT
                totals[images[one.patient], column] += right
    cells = cluster_bootstrap(totals, trials, resampling).cells
    bounds = (cell.percentile.interval for cell in cells)
    return [(_finite(b.low), _finite(b.high)) for b in bounds]


def _finite(value: float) -> float | None:
    return None if np.isnan(value) else value


def _named(rate: Rate) -> tuple[str, str, str, str]:
    return rate.model, rate.condition, rate.scope.part, rate.scope.subset


def rates_of(results: Iterable[TrialResult]) -> tuple[object, ...]:
    """Return the columns of RATES.

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
