"""What takes longer than a count, worked out for one row of the results at a time."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from viewer.domain.answer import Status
from viewer.metrics.cluster_bootstrap import Resampling, cluster_bootstrap
from viewer.metrics.estimate import Estimate
from viewer.metrics.proportions import patient_interval, wilson_estimate
from viewer.services.results.groups import Chosen, patients_wanted
from viewer.services.results.view import Ints, ResultsView, natural
from viewer.store import flat
from viewer.store.database import Store, open_store

_REPLICATES: Final = 10_000
_FEWEST: Final = 1_000
_DRAWS: Final = 50_000_000
"""Patients drawn at most; with more patients there are fewer resamples, as told."""


@dataclass(frozen=True, slots=True)
class DeepEstimate:
    """A row's rate with intervals of several kinds, each naming itself.

    ``n`` settled trials of ``patients`` patients. The first interval is that of every
    table; the others are alternatives, Wilson's only where each of several
    patients has one trial.
    """

    k: int
    n: int
    patients: int
    estimates: tuple[Estimate, ...]


def deep_estimate(store: Path, view: ResultsView, row: int) -> DeepEstimate | None:
    """Return a row's intervals; None without a settled trial.

    None too where a rate has no sense: trials were chosen by how they ended, or some
    are about a finding which is not there.
    Takes seconds with thousands of patients.
    """
    if not view.has_rate(row):
        return None
    with open_store(store) as opened, opened.snapshot():
        hits, trials, items = _by_patient(opened, view, row)
    k, n = int(hits.sum()), int(trials.sum())
    if not n:
        return None
    fitting = _DRAWS // len(trials)
    resampling = Resampling(min(_REPLICATES, max(_FEWEST, fitting)))
    drawn = cluster_bootstrap(hits[:, None], trials[:, None], resampling).micro
    alone = [wilson_estimate(k, n)] if n == len(trials) > 1 else []
    policy = patient_interval(hits.tolist(), trials.tolist(), items)
    estimates = policy, *alone, drawn.percentile, drawn.bca
    return DeepEstimate(k, n, len(trials), estimates)


def _by_patient(store: Store, view: ResultsView, row: int) -> tuple[Ints, Ints, int]:
    """Return the hits and the settled trials of each patient that has any.

    Patients come in the natural order of their pseudonyms. Then, of how many items the
    settled trials are.
    """
    wanted = view.wanted.of_group(view.by, view.keys[row])
    names = patients_wanted(store, wanted)
    some = names if wanted.names_patients else None
    rows = flat.details(store, Chosen(store, wanted).ids, some)
    verdicts = flat.verdicts(store)
    hits = [v.id for v in verdicts if v.status is Status.SCORED_CORRECT]
    open_ = [v.id for v in verdicts if v.status in {Status.EXCLUDED, Status.PENDING}]
    ranked = sorted(names, key=lambda one: natural(names[one]))
    rank = np.zeros(1 + max(names, default=0), np.int64)
    rank[ranked] = np.arange(len(ranked))
    settled = rows[~np.isin(rows[:, 2], open_)]
    patient, hit = rank[settled[:, 0]], np.isin(settled[:, 2], hits)
    k = np.bincount(patient[hit], minlength=len(ranked))
    n = np.bincount(patient, minlength=len(ranked))
    return k[n > 0], n[n > 0], len(np.unique(settled[:, 3]))
