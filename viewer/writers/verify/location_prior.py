"""Gains over the answers about other patients: same location, or same words."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from viewer.writers.verify.by_patient import student_quantile
from viewer.writers.verify.estimators import Cell, Cells, Rows, ratio


@dataclass(frozen=True)
class Unit:
    """A patient in a stratum: counts, and the cells answered and right.

    ``answers`` are those that others are compared with, ``wanted`` the right cells of
    the trials that are compared with others' answers.
    """

    trials: int
    hits: int
    answers: int
    given: Counter[int]
    wanted: Counter[int]


Units = Mapping[str, Unit]
"""The patients of a stratum, by name."""


class Stratum:
    """The trials of one finding and view, shared by several patients.

    ``gained`` are hits above the prior of ``trials``, ``without`` the same two numbers
    without each patient. A patient without another's answer to compare with is left
    out.
    """

    def __init__(self, units: Units, apart: bool) -> None:
        self.units = units
        every = sum((of.given for of in units.values()), Counter[int]())
        self._met = {
            p: _met(every, of.wanted) - _met(of.given, of.wanted)
            for p, of in units.items()
        }
        self._alike: dict[int, list[str]] = {}
        for patient, of in units.items():
            if of.wanted:
                self._alike.setdefault(of.answers, []).append(patient)
        self._wanted = {
            count: sum((units[p].wanted for p in of), Counter[int]())
            for count, of in self._alike.items()
        }
        self._sums = {count: self._sum(of) for count, of in self._alike.items()}
        self._every = self._sum(units)
        self._answers = sum(of.answers for of in units.values())
        self.trials, self.hits, self.gained = self._total(_NOBODY, 0)
        self.without = {
            p: self._total(of, self._met[p])[::2]
            if len(units) > 2 and not (apart and of.answers == self._answers)
            else (0, 0.0)
            for p, of in units.items()
        }

    def _sum(self, patients: Iterable[str]) -> tuple[int, int, int]:
        """Return trials, hits, and the wanted cells among others' answers."""
        own = [(self.units[p], self._met[p]) for p in patients]
        trials, hits = (sum(getattr(u, n) for u, _ in own) for n in ("trials", "hits"))
        return trials, hits, sum(met for _, met in own)

    def _total(self, out: Unit, out_met: int) -> tuple[int, int, float]:
        """Return trials, hits and hits above the prior, without a patient."""
        trials, hits, shares = *_sums_less(self._every, out, 0)[:2], list[float]()
        for count, wanted in self._wanted.items():
            rest = self._answers - count - out.answers
            inside = bool(out.wanted) and out.answers == count
            own = self._sums[count]
            if inside:
                own = _sums_less(own, out, out_met - _met(out.given, out.wanted))
            if rest > 0:
                shares.append((own[2] - _met(wanted, out.given)) / rest)
            else:
                trials, hits = trials - own[0], hits - own[1]
        return trials, hits, hits - math.fsum(shares)


_NOBODY = Unit(0, 0, 0, Counter(), Counter())


def _sums_less(sums: tuple[int, int, int], out: Unit, met: int) -> tuple[int, int, int]:
    return sums[0] - out.trials, sums[1] - out.hits, sums[2] - met


def units_of(rows: Rows) -> Units:
    """Return the patients with trials that have an answer and right cells."""
    of: dict[str, Rows] = {}
    for row in rows:
        of.setdefault(row["patient"], []).append(row)
    return {patient: _unit(own) for patient, own in of.items()}


def _unit(rows: Rows) -> Unit:
    answered = [row for row in rows if row["place"] >= 0]
    return Unit(
        len(rows),
        sum(row["place"] in row["hits"] for row in rows),
        len(answered),
        _cells([row["place"]] for row in answered),
        _cells(row["hits"] for row in answered),
    )


def _cells(answers: Iterable[Sequence[int]]) -> Counter[int]:
    return Counter(cell for cells in answers for cell in cells)


def _met(given: Mapping[int, int], wanted: Mapping[int, int]) -> int:
    return sum(count * given.get(cell, 0) for cell, count in wanted.items())


@dataclass(frozen=True)
class Gain:
    """The hits and trials, the prior, the gain, and the ends of its interval."""

    trials: int = 0
    hits: int = 0
    prior: float | None = None
    gain: float | None = None
    low: float | None = None
    high: float | None = None


def gain_over_prior(findings: Sequence[Sequence[Units]], apart: bool = False) -> Gain:
    """Return the mean gain over findings, strata pooled.

    ``apart`` tells that answers are of other trials than those compared with them.
    """
    parts = [[Stratum(one, apart) for one in some if len(one) > 1] for some in findings]
    parts = [part for part in parts if any(one.trials for one in part)]
    if not parts:
        return Gain()
    everyone = sorted({p for part in parts for one in part for p in one.without})
    priors, gains, least = [], [], 0.0
    for part in parts:
        n, hits = sum(one.trials for one in part), sum(one.hits for one in part)
        gained = math.fsum(one.gained for one in part)
        priors.append((hits - gained) / n)
        gains.append(gained / n)
        own = [(p, of) for one in part for p, of in one.units.items()]
        variance = _least(hits / n, {p for p, of in own if of.trials})
        if apart:
            variance += _least(priors[-1], {p for p, of in own if of.answers})
        least += variance / len(parts) ** 2
    n, hits = (sum(getattr(o, f) for p in parts for o in p) for f in ("trials", "hits"))
    prior, gain = (math.fsum(some) / len(some) for some in (priors, gains))
    left = [_gain_without(parts, one) for one in everyone]
    if None in left:
        return Gain(n, hits, prior, gain)
    defined = [one for one in left if one is not None]
    mean, m = math.fsum(defined) / len(defined), len(defined)
    variance = (m - 1) / m * math.fsum((one - mean) ** 2 for one in defined)
    half = student_quantile(m - 1) * math.sqrt(max(variance, least))
    return Gain(n, hits, prior, gain, max(gain - half, -1.0), min(gain + half, 1.0))


def _least(rate: float, patients: Collection[str]) -> float:
    """Return the least variance of a rate of so many patients."""
    m = len(patients)
    near = (rate * m + 2) / (m + 4)
    return near * (1 - near) / m


def _gain_without(parts: Sequence[Sequence[Stratum]], out: str) -> float | None:
    gains = []
    for part in parts:
        left = [one.without.get(out, (one.trials, one.gained)) for one in part]
        n = sum(trials for trials, _ in left)
        if n:
            gains.append(math.fsum(gained for _, gained in left) / n)
    return math.fsum(gains) / len(gains) if gains else None


def over_words(s: Cell) -> Cells:
    """Compare denials of swapped questions with those of the same words elsewhere."""
    words, patient, swapped, said = s.of
    of: dict[str, dict[str, Rows]] = {}
    for row in (row for row in s.rows if row[swapped] or row[said]):
        of.setdefault(row[words], {}).setdefault(row[patient], []).append(row)
    strata = [
        {
            p: _unit_of_words([(r[swapped], r[said]) for r in rows])
            for p, rows in own.items()
        }
        for own in of.values()
    ]
    both = [
        own
        for own in strata
        if any(unit.answers for unit in own.values())
        and any(unit.trials for unit in own.values())
    ]
    found = gain_over_prior([both], apart=True)
    why = "jackknife by patient"
    if not any(row[swapped] for row in s.rows):
        why = "no trial"
    elif not found.trials:
        why = _NO_OTHER
    elif found.low is None:
        why = _NONE_LEFT
    denied = ratio(found.hits, found.trials)
    ends = found.low, found.high
    return found.trials, denied, found.prior, found.gain, *ends, f"{why}, 95 %"


_NO_OTHER = "not estimable: the same words were asked of no other patient who has it"
_NONE_LEFT = "not estimable: without one of the patients nothing is left to compare"


def _unit_of_words(asked: Sequence[tuple[bool, str]]) -> Unit:
    """Return a patient's questions of the same words, with denial as the only cell."""
    own = [answer for swapped, answer in asked if swapped]
    there = [answer for swapped, answer in asked if not swapped and answer]
    wanted = Counter({0: n} if (n := sum(map(bool, own))) else ())
    given = Counter({0: there.count("No")})
    return Unit(len(own), own.count("No"), len(there), given, wanted)
