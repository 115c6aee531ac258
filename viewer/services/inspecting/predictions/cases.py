"""From a number in the results to the trials that it counts (M-06)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from viewer.services.inspecting.predictions.groups import (
    Chosen,
    counted_as,
    patients_wanted,
)
from viewer.services.inspecting.predictions.view import (
    COUNTS,
    Ints,
    ResultsView,
    Wanted,
)
from viewer.services.inspecting.runs import rank_of
from viewer.store import flat
from viewer.store.database import Store, open_store
from viewer.store.flat import FlatVerdict

EVERYTHING = "n_planned"
"""The column that counts every trial."""

_COUNTING: Final = frozenset({*COUNTS, "n"})


def cases_of(
    store: Path, view: ResultsView, row: int, column: str = EVERYTHING
) -> Ints:
    """Return the ids of the trials behind a row's number, misses first.

    A column that counts nothing itself, such as a rate, gives every trial of its row.
    After the misses come partial hits, unreadable and refused replies, failed
    questions, hits, excluded and pending trials, each in the order planned.
    """
    wanted = view.wanted.of_group(view.by, view.keys[row])
    with open_store(store) as opened, opened.snapshot():
        found = flat.verdicts(opened)
        column = column if column in _COUNTING else EVERYTHING
        verdicts = [one for one in found if column in counted_as(one)]
        trials = wanted_trials(opened, wanted, verdicts)
    rank = np.zeros(1 + max((one.id for one in found), default=0), np.int64)
    for one in found:
        rank[one.id] = rank_of(one.status, one.outcome)
    order = np.argsort(rank[trials[:, 1]], kind="stable")
    ids: Ints = trials[order, 0]
    return ids


def wanted_trials(
    store: Store, wanted: Wanted, verdicts: Sequence[FlatVerdict]
) -> Ints:
    """Return the wanted trials with some verdicts, in the order planned.

    Shape (trials, 4): trial, verdict, item, stratum.
    """
    chosen = Chosen(store, wanted)
    patients = patients_wanted(store, wanted) if wanted.names_patients else None
    trials = flat.trials_of(store, chosen.ids, patients, wanted.bounds)
    kept = [one.id for one in verdicts if wanted.takes_verdict(one)]
    return trials[np.isin(trials[:, 1], kept)]
