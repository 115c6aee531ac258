"""Confidence limits for the rates of many groups at once."""

from typing import Final

import numpy as np

from viewer.metrics.proportions import PatientSums, patient_bounds
from viewer.services.inspecting.predictions.view import Floats, Ints

_WITHIN: Final = 32
"""How many bits a patient's or an item's id takes beside its group's."""


def ends_of_groups(trials: Ints, groups: int) -> Floats:
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
    """Return the five fields of PatientSums for each group, (5, groups)."""
    pairs, place = np.unique(group << _WITHIN | patient, return_inverse=True)
    k, n, of = np.bincount(place, hit), np.bincount(place), pairs >> _WITHIN
    hits, trials = np.bincount(of, k, groups), np.bincount(of, n, groups)
    rate = hits / np.maximum(trials, 1)
    squares = np.bincount(of, (k - rate[of] * n) ** 2, groups)
    patients = np.bincount(of, minlength=groups)
    asked = np.unique(group << _WITHIN | item) >> _WITHIN
    items = np.bincount(asked, minlength=groups)
    return np.stack((hits, trials, patients, items, squares)).astype(np.float64)
