"""Denials of swapped questions beyond the word prior (E002-09, X-09).

A model that answers from the words alone denies a swapped question as often as the same
words about other patients who have the finding. That share is its word prior; the gain
over it is 0 for any such model, and 1 for one that sees whether the finding is present.
It is computed like the gain over a location prior, with words instead of findings and a
denial instead of a cell: a swapped question that was not answered with yes or no is not
denied and has a prior of 0, and one whose words were answered for no other patient is
left out.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from viewer.metrics.location_prior import Gain, Stratum, gain_over_prior

_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Worded:
    """A question with certain words about a patient, and whether it was denied.

    ``denied`` is None if the answer was neither yes nor no.
    """

    words: Hashable
    patient: Hashable
    denied: bool | None


def gain_over_words(swapped: Iterable[Worded], there: Iterable[Worded]) -> Gain:
    """Return the gain of swapped questions' denials over those of the same words.

    ``there`` are questions about findings that are present; unanswered ones are
    ignored, and do not make a patient count.
    """
    sums: dict[Hashable, dict[Hashable, _Ints]] = defaultdict(
        lambda: defaultdict(_sums)
    )
    for one in swapped:
        is_no, is_read = one.denied is True, one.denied is not None
        sums[one.words][one.patient] += (1, is_no, 0, 0, is_read)
    for one in there:
        if one.denied is not None:
            sums[one.words][one.patient] += (0, 0, 1, one.denied, 0)
    patients = dict.fromkeys(chain.from_iterable(sums.values()))
    places = {patient: place for place, patient in enumerate(patients)}
    strata = [_stratum(of, places) for of in sums.values()]
    both = [one for one in strata if one.trials.any() and one.answers.any()]
    return gain_over_prior([both], apart=True)


def _sums() -> _Ints:
    return np.zeros(5, np.int64)


def _stratum(sums: Mapping[Hashable, _Ints], places: Mapping[Hashable, int]) -> Stratum:
    """Return the questions with the same words, with a denial as the only cell.

    A patient's sums are swapped questions and denied ones, answers elsewhere and
    denials among them, and swapped questions that were answered.
    """
    patients = np.array([places[one] for one in sums])
    order = np.argsort(patients)
    trials, hits, answers, given, wanted = np.array([*sums.values()])[order].T
    whose = patients[order]
    return Stratum(whose, trials, hits, answers, given[:, None], wanted[:, None])
