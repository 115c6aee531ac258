"""Results of error reviews of a run's misses (E000-24 to E000-27, M-18)."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from viewer.domain.case import View
from viewer.domain.form_catalog import ANATOMY, PARTIAL, POSITION, UNSURE, VERDICT
from viewer.domain.reading import Forecast, SessionId, SessionKind
from viewer.metrics.capped_review import CappedReview, capped_review, review_plan
from viewer.services.readings.verdicts import (
    Scope,
    Stratum,
    TrialVerdicts,
    scope_of,
    unread_of,
    verdicts_of,
)
from viewer.services.sessions.ground import Ground, ground_of
from viewer.services.sessions.standings import standings_of
from viewer.store import readings, runs
from viewer.store.database import Store, open_store
from viewer.studies.catalog import study_named

KINDS: Final[Mapping[str, str]] = {
    PARTIAL: "partial",
    POSITION: "position",
    ANATOMY: "anatomy",
    UNSURE: "unsure",
}
"""The options of the verdict, and the kinds of miss that they stand for."""
HALF_WIDTH: Final = 0.05
"""± 5 points."""


@dataclass(frozen=True)
class ErrorCounts:
    """The numbers of a model's complete misses of a finding, by kind.

    ``found`` counts the ``reviewed`` ones by kind, as adjudicated or by the first
    reader; ``disputed`` of them await adjudication. ``unread`` were drawn but are not
    reviewed yet.
    """

    model: str
    finding: str
    condition: str
    views: tuple[str, ...]
    misses: int
    reviewed: int
    found: Mapping[str, int]
    disputed: int = 0
    unread: int = 0

    @property
    def finished(self) -> bool:
        """Whether everything that was drawn for review has been reviewed."""
        return bool(self.reviewed) and not self.unread

    def estimate(self, kind: str, confidence: float = 0.95) -> CappedReview | None:
        """Return N·k/n misses of a kind with its exact interval; None unreviewed."""
        if not self.reviewed:
            return None
        return capped_review(self.misses, self.reviewed, self.found[kind], confidence)

    def estimated(self, kind: str) -> float:
        """Return N·k/n misses of a kind; in an unfinished review those found so far."""
        estimate = self.estimate(kind) if self.finished else None
        return estimate.count if estimate else float(self.found[kind])


def error_counts(store: Store, run: int) -> dict[Stratum, ErrorCounts]:
    """Return readers' verdicts on the misses of a run, by model and finding.

    They cover the run's first condition in frontal views, as in Gosai 2025; if nobody
    reviewed those the result is empty, whatever else was reviewed.
    """
    scope = Scope(conditions_of_run(store, run)[0], (View.FRONTAL.value,))
    return counts_by_scope(store, run).get(scope, {})


def conditions_of_run(store: Store, run: int) -> tuple[str, ...]:
    """Return the names of a run's conditions, its first one first."""
    spec = runs.run_spec(store, run)
    study = study_named(spec.study)
    params = study.read_params(spec.preset, dict(spec.params))
    return tuple(condition.name for condition in study.conditions(params))


def counts_by_scope(store: Store, run: int) -> dict[Scope, dict[Stratum, ErrorCounts]]:
    """Return the readers' verdicts on the misses of a run, by scope of the review."""
    verdicts, first = verdicts_of(store, run), conditions_of_run(store, run)[0]

    def place(scope: Scope) -> tuple[bool, bool]:
        return scope.condition != first, scope.views != (View.FRONTAL.value,)

    unread = unread_of(store, run)
    return {
        scope: _counts(store, run, scope, verdicts[scope], unread[scope])
        for scope in sorted(verdicts, key=place)
    }


def _counts(
    store: Store,
    run: int,
    scope: Scope,
    verdicts: Sequence[TrialVerdicts],
    unread: Mapping[Stratum, int],
) -> dict[Stratum, ErrorCounts]:
    by_stratum: dict[Stratum, list[TrialVerdicts]] = defaultdict(list)
    for one in verdicts:
        by_stratum[one.stratum].append(one)
    misses = readings.misses_by_stratum(store, run, scope.condition, scope.views)
    return {
        stratum: replace(
            _of_stratum(stratum, scope, n, by_stratum[stratum]),
            unread=unread.get(stratum, 0),
        )
        for stratum, n in misses.items()
    }


def _of_stratum(
    stratum: Stratum, scope: Scope, misses: int, verdicts: Sequence[TrialVerdicts]
) -> ErrorCounts:
    kinds = Counter(KINDS[one.final] for one in verdicts)
    return ErrorCounts(
        *stratum,
        scope.condition,
        scope.views,
        misses,
        len(verdicts),
        {kind: kinds[kind] for kind in KINDS.values()},
        sum(one.disputed for one in verdicts),
    )


def review_results(store: Path, run: int) -> tuple[ErrorCounts, ...]:
    """Return the readers' verdicts on misses, one row per model and finding."""
    with open_store(store) as opened:
        runs.run_summary(opened, run)  # an unknown one is refused
        by_scope = counts_by_scope(opened, run)
    return tuple(counts for held in by_scope.values() for counts in held.values())


def forecast(
    store: Path, session: SessionId, half_width: float = HALF_WIDTH
) -> Forecast:
    """Return how many more reviews bring every estimate to ± ``half_width``.

    Only what the session's own reader found counts: the screen of a second reader must
    not tell what the first one saw. Takes a second for runs with thousands of misses;
    not for a window's own thread.
    """
    with open_store(store) as opened:
        ground = ground_of(opened, session)
        run, scope = ground.session.run, scope_of(ground)
        if run is None or ground.session.kind is not SessionKind.ERROR_REVIEW:
            return Forecast(half_width, 0, 0, 0, 0)
        strata = readings.numbered_strata(opened, run, scope.condition, scope.views)
        found = _found_by_reader(opened, ground, strata)
    needs = [
        _more(misses, found[stratum], half_width)
        for stratum, misses in Counter(strata.values()).items()
    ]
    return Forecast(
        half_width,
        len(needs),
        sum(most > 0 for _, most in needs),
        sum(more for more, _ in needs),
        sum(most for _, most in needs),
    )


def _found_by_reader(
    store: Store, ground: Ground, strata: Mapping[int, int]
) -> Mapping[int, Counter[str]]:
    """Return the kinds of miss that a reader locked in a review, by stratum."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    of_reader = ground.session.reader
    for row in readings.session_rows(store, work=ground.session.work):
        if row.reader != of_reader or row.withdrawn:
            continue
        standings = standings_of(store, ground_of(store, row.id))
        for task, standing in zip(
            readings.tasks_of(store, row.id), standings, strict=True
        ):
            verdict = standing.values.get(VERDICT)
            stratum = strata.get(task.trial) if task.trial is not None else None
            if standing.complete and stratum is not None:
                found[stratum][KINDS[str(verdict)]] += 1
    return found


def _more(misses: int, found: Counter[str], half_width: float) -> tuple[int, int]:
    """Return how many more reviews are needed: as things stand, and at most."""
    reviews = [
        capped_review(misses, found.total(), found[kind])
        for kind in ("position", "anatomy")
    ]
    plans = [review_plan(review, half_width) for review in reviews]
    most = max(plan.worst_case for plan in plans)
    so_far = [plan.as_so_far for plan in plans if plan.as_so_far is not None]
    return max(so_far, default=most), most
