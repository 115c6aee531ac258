"""Predictions counted by any grouping.

Counts come from the store's flat table: any grouping without patients and coverage
takes the same time for a thousand predictions as for a million. Intervals need every
trial's patient and item.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from viewer.domain.result import Outcome
from viewer.metrics.proportions import PatientSums, patient_bounds
from viewer.services.inspecting.predictions.view import (
    COUNTED,
    COUNTS,
    By,
    Floats,
    Ints,
    Offered,
    Pooled,
    ResultsView,
    Wanted,
    natural,
)
from viewer.services.inspecting.predictions.wording import words_of_runs
from viewer.services.readings.withdrawn import withdrawn_among
from viewer.services.reporting.grading import score_changed_grades
from viewer.store import flat, runs
from viewer.store.database import Store, open_store
from viewer.store.flat import FlatStratum, FlatVerdict
from viewer.studies.catalog import study_named
from viewer.studies.protocol import ABSENT_SUFFIX

AT_ONCE: Final = 50_000
"""The most trials that can be read one by one without a noticeable delay."""
_PATIENT: Final = 32
"""How many bits a patient's place takes."""
_WITHIN: Final = 32
"""How many bits a patient's, an item's or a stratum's id takes beside its group's."""


def offered(store: Path, run: int | None = None) -> Offered:
    """Return the values to choose from, for all predictions of a store or of a run.

    A withdrawn reader's run can still be chosen, with a note; their name and answers
    cannot.
    """
    with open_store(store) as opened:
        strata = flat.strata(opened)
        gone = withdrawn_among(opened, (one.run for one in strata))
        own = [one for one in strata if run in {None, one.run}]
        words = words_of_runs(opened, (one.run for one in own))
    every = [one for one in own if one.run not in gone]
    return Offered(
        runs=tuple(sorted({one.run for one in strata}, reverse=True)),
        findings=_sorted(one.finding for one in every),
        views=_sorted(one.view for one in every),
        conditions=_sorted(one.condition for one in every),
        models=_sorted(one.model for one in every),
        words=words,
    )


def grouped(
    store: Path,
    by: Sequence[By],
    wanted: Wanted | None = None,
    *,
    most: float = AT_ONCE,
) -> ResultsView:
    """Return the selected predictions, counted by some of their properties.

    Without any property all of them are one row. Rows are sorted by their keys; a group
    without a prediction has none. Rates have intervals if there are at most ``most``
    predictions; with more, only if patients are needed anyway. Reused replies are
    counted only among at most ``most``.
    """
    wanted, by = wanted or Wanted(), tuple(one for one in By if one in by)
    with open_store(store) as opened:
        score_changed_grades(opened)
        with opened.snapshot():
            chosen = Chosen(opened, wanted)
            measures = chosen.measures(flat.verdicts(opened))
            if By.PATIENT in by or wanted.names_patients:
                return _grouped_one_by_one(opened, chosen, by, measures, most)
            rows = flat.counts(opened, chosen.ids, wanted.bounds)
            if not wanted.by_ending and rows[:, 2].sum() <= most:
                return _grouped_one_by_one(opened, chosen, by, measures, most)
    keys, group = chosen.groups(by)
    codes = group[rows[:, 0]]
    counted = _count(codes, rows[:, 1], rows[:, 2], measures, len(keys))
    return _view(by, keys, counted, chosen, codes, rows[:, 0])


class Chosen:
    """The selected strata, and the meaning of their ids.

    ``left_out`` are runs excluded because their reader has withdrawn; ``words`` are the
    terms of the runs' studies.
    """

    def __init__(self, store: Store, wanted: Wanted) -> None:
        self.wanted = wanted
        known = flat.strata(store)
        every = tuple(filter(wanted.takes, known))
        looked_at = {one.run for one in known if one.run in (wanted.runs or {one.run})}
        self.words = words_of_runs(store, looked_at)
        studies = runs.studies_of(store, looked_at)
        self._words = {run: study_named(name).words for run, name in studies.items()}
        self.left_out = withdrawn_among(store, (one.run for one in every))
        self.strata = tuple(one for one in every if one.run not in self.left_out)
        self.ids = [one.id for one in self.strata]

    def measures(self, verdicts: Sequence[FlatVerdict]) -> Ints:
        """Return the counts that each verdict adds to, (verdict ids, COUNTS)."""
        width = 1 + max((verdict.id for verdict in verdicts), default=0)
        table = np.zeros((width, len(COUNTS)), np.int64)
        for verdict in filter(self.wanted.takes_verdict, verdicts):
            table[verdict.id] = [name in counted_as(verdict) for name in COUNTS]
        return table

    def groups(self, by: Sequence[By]) -> tuple[list[tuple[str, ...]], Ints]:
        """Return the sorted keys of the groups, and each stratum's group by its id.

        Patients are not part of a stratum, and so of no key here.
        """
        names = [one.value for one in by if one is not By.PATIENT]
        own = [tuple(str(getattr(one, n)) for n in names) for one in self.strata]
        keys = sorted(set(own), key=lambda key: [natural(value) for value in key])
        place = {key: i for i, key in enumerate(keys)}
        group = np.zeros(1 + max(self.ids, default=0), np.int64)
        group[self.ids] = [place[key] for key in own]
        return keys, group

    def pooled_in(self, group: Ints, stratum: Ints) -> dict[int, Pooled]:
        """Return how many runs, models, conditions and tasks groups of several have."""
        pairs = np.unique(group << _WITHIN | stratum)
        of, one = pairs >> _WITHIN, pairs & ((1 << _WITHIN) - 1)
        kinds = zip(*map(self._kind, self.strata), strict=True)
        several = np.array([_distinct(of, self._codes(kind)[one]) for kind in kinds])
        some = np.flatnonzero((several > 1).any(axis=0)) if several.size else ()
        return {int(at): Pooled(*several[:, at].tolist()) for at in some}

    def _kind(self, one: FlatStratum) -> tuple[object, ...]:
        task = self._words[one.run].task(one.finding)
        return one.run, one.model, one.condition, task

    def _codes(self, values: Sequence[object]) -> Ints:
        """Return a number for each distinct value of the strata, by stratum id."""
        places = {value: place for place, value in enumerate(dict.fromkeys(values))}
        codes = np.zeros(1 + max(self.ids), np.int64)
        codes[self.ids] = [places[value] for value in values]
        return codes

    def absent_in(self, group: Ints, stratum: Ints) -> set[int]:
        """Return the groups with a stratum about an absent finding."""
        absent = [
            one.id for one in self.strata if one.condition.endswith(ABSENT_SUFFIX)
        ]
        there = np.isin(stratum, absent) if absent else np.zeros(len(group), np.bool_)
        return set(np.unique(group[there]).tolist())


def patients_wanted(store: Store, wanted: Wanted) -> dict[int, str]:
    """Return the names of the selected patients by id."""
    names = flat.patients(store, wanted.patient)
    exactly = wanted.patient_is
    return {i: name for i, name in names.items() if exactly in {"", name}}


def _grouped_one_by_one(
    store: Store, chosen: Chosen, by: tuple[By, ...], measures: Ints, most: float
) -> ResultsView:
    wanted = chosen.wanted
    named = By.PATIENT in by or wanted.names_patients
    names = patients_wanted(store, wanted) if named else {}
    some = names if wanted.names_patients else None
    patient, stratum, verdict, item = flat.details(
        store, chosen.ids, some, wanted.bounds
    ).T
    keys, group = chosen.groups(by)
    codes = group[stratum]
    if By.PATIENT in by:
        ranked = sorted(names, key=lambda one: natural(names[one]))
        rank = np.zeros(1 + max(names, default=0), np.int64)
        rank[ranked] = np.arange(len(ranked))
        both, codes = np.unique(codes << _PATIENT | rank[patient], return_inverse=True)
        labels, mask = [names[one] for one in ranked], (1 << _PATIENT) - 1
        keys = [(*keys[b >> _PATIENT], labels[b & mask]) for b in both.tolist()]
    ones = np.ones(len(codes), np.int64)
    counted = _count(codes, verdict, ones, measures, len(keys))
    of = dict(zip(COUNTS, measures.T, strict=True))
    settled = (of["n_planned"] - of["n_excluded"] - of["n_pending"])[verdict] > 0
    trials = np.stack((codes, patient, item, of["k"][verdict]))[:, settled]
    ends = _intervals(trials, len(keys))
    again = None
    if len(codes) <= most:
        again = flat.shown_again(store, chosen.ids, some, wanted.bounds)
    return _view(by, keys, counted, chosen, codes, stratum, ends, again)


def _distinct(group: Ints, value: Ints) -> Ints:
    """Return how many different values each group has, (groups,)."""
    return np.bincount(np.unique(group << _WITHIN | value) >> _WITHIN)


def _count(group: Ints, verdict: Ints, n: Ints, measures: Ints, groups: int) -> Ints:
    """Return each group's total of everything in COUNTS, (groups, COUNTS)."""
    width = len(measures)
    sums = np.bincount(group * width + verdict, weights=n, minlength=groups * width)
    return sums.reshape(groups, width).astype(np.int64) @ measures


def _view(
    by: tuple[By, ...],
    keys: Sequence[tuple[str, ...]],
    counted: Ints,
    chosen: Chosen,
    codes: Ints,
    stratum: Ints,
    ends: Floats | None = None,
    reused: int | None = None,
) -> ResultsView:
    """Return the groups that have at least one trial."""
    shown = np.flatnonzero(counted[:, 0])
    absent = np.flatnonzero(np.isin(shown, [*chosen.absent_in(codes, stratum)]))
    strata = np.unique(stratum)
    every, each = chosen.pooled_in(0 * strata, strata), chosen.pooled_in(codes, stratum)
    pooled: dict[int | None, Pooled] = {None: every[0]} if every else {}
    pooled |= {row: each[of] for row, of in enumerate(shown.tolist()) if of in each}
    return ResultsView(
        by,
        [keys[group] for group in shown.tolist()],
        counted[shown],
        chosen.wanted,
        frozenset(absent.tolist()),
        chosen.left_out,
        chosen.words,
        None if ends is None else ends[[*shown, -1]],
        pooled,
        reused,
    )


def counted_as(verdict: FlatVerdict) -> frozenset[str]:
    """Return the columns that a trial with a verdict adds to."""
    names = {"n_planned"}
    names |= {name for name, counted in COUNTED.items() if verdict.status in counted}
    if verdict.outcome is Outcome.PARTIAL:
        names.add("partial")
    if not names & {"n_excluded", "n_pending"}:
        names.add("n")
    return frozenset(names)


def _sorted(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(values), key=natural))


def _intervals(trials: Ints, groups: int) -> Floats:
    """Return each group's confidence interval and its number of patients.

    Parameters
    ----------
    trials : (4, trials)
        The group, from 0 to ``groups`` - 1, patient and item of each settled trial, and
        1 for a hit, else 0.

    Returns
    -------
    (groups + 1, 3)
        Lower end, upper end, patients; the last of all groups together. The ends are
        NaN without an interval.
    """
    group, *others = trials
    own, every = _sums(groups, group, *others), _sums(1, 0 * group, *others)
    sums = PatientSums(*np.concatenate((own, every), axis=1))
    return np.stack((*patient_bounds(sums), sums.patients), axis=1)


def _sums(groups: int, group: Ints, patient: Ints, item: Ints, hit: Ints) -> Floats:
    """Return the six fields of PatientSums for each group, (6, groups)."""
    pairs, place = np.unique(group << _WITHIN | patient, return_inverse=True)
    k, n, of = np.bincount(place, hit), np.bincount(place), pairs >> _WITHIN
    hits, trials = np.bincount(of, k, groups), np.bincount(of, n, groups)
    rate = hits / np.maximum(trials, 1)
    squares = np.bincount(of, (k - rate[of] * n) ** 2, groups)
    patients, sizes = np.bincount(of, minlength=groups), np.bincount(of, n**2, groups)
    asked = np.unique(group << _WITHIN | item) >> _WITHIN
    items = np.bincount(asked, minlength=groups)
    return np.stack((hits, trials, patients, items, sizes, squares)).astype(np.float64)
