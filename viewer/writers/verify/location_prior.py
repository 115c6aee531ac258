"""The gain of a hit rate over the location prior, and its interval."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from viewer.writers.verify.by_patient import student_quantile
from viewer.writers.verify.estimators import Rows


class Stratum:
    """The trials of one finding and view, which several patients have.

    ``gained`` are hits above the prior of ``trials``, ``without`` the same two numbers
    without each patient.
    """

    def __init__(self, rows: Rows) -> None:
        units: dict[str, Rows] = {}
        for row in rows:
            units.setdefault(row["patient"], []).append(row)
        self.trials, self._sizes = len(rows), {p: len(of) for p, of in units.items()}
        self._given = {p: _cells([r["place"]] for r in of) for p, of in units.items()}
        self._wanted = {p: _cells(r["hits"] for r in of) for p, of in units.items()}
        hits = {p: sum(r["place"] in r["hits"] for r in of) for p, of in units.items()}
        self.hits = sum(hits.values())
        everything = sum(self._given.values(), Counter[int]())
        met = {
            p: _met(everything, of) - _met(self._given[p], of)
            for p, of in self._wanted.items()
        }
        shares = (met[p] / (self.trials - n) for p, n in self._sizes.items())
        self.gained = self.hits - math.fsum(shares)
        self.without = {
            p: (0, 0.0)
            if len(units) < 3
            else (self.trials - n, self.hits - hits[p] - self._prior(p, met))
            for p, n in self._sizes.items()
        }

    def _prior(self, out: str, met: Mapping[str, int]) -> float:
        """Return the hits of others' answers without a patient."""
        above, wanted = Counter[int](), dict[int, Counter[int]]()
        for patient, size in self._sizes.items():
            if patient != out:
                above[size] += met[patient]
                wanted.setdefault(size, Counter()).update(self._wanted[patient])
        left = self.trials - self._sizes[out]
        given = self._given[out]
        return math.fsum(
            (above[n] - _met(given, of)) / (left - n) for n, of in wanted.items()
        )


def _cells(answers: Iterable[Sequence[int]]) -> Counter[int]:
    return Counter(cell for cells in answers for cell in cells if cell >= 0)


def _met(given: Mapping[int, int], wanted: Mapping[int, int]) -> int:
    return sum(count * given.get(cell, 0) for cell, count in wanted.items())


def gain_over_prior(
    findings: Sequence[Sequence[Rows]],
) -> tuple[float | None, float | None, float | None, float | None]:
    """Return prior, gain, and its ends: the mean over findings, strata pooled."""
    parts = [
        [Stratum(rows) for rows in some if len({r["patient"] for r in rows}) > 1]
        for some in findings
    ]
    parts = [part for part in parts if part]
    if not parts:
        return (None,) * 4
    everyone = sorted({p for part in parts for one in part for p in one.without})
    priors, gains, least = [], [], 0.0
    for part in parts:
        n, hits = sum(one.trials for one in part), sum(one.hits for one in part)
        gained = math.fsum(one.gained for one in part)
        priors.append((hits - gained) / n)
        gains.append(gained / n)
        m = len({p for one in part for p in one.without})
        near = (hits / n * m + 2) / (m + 4)
        least += near * (1 - near) / m / len(parts) ** 2
    prior, gain = (math.fsum(some) / len(some) for some in (priors, gains))
    left = [_gain_without(parts, one) for one in everyone]
    if None in left:
        return prior, gain, None, None
    kept = [one for one in left if one is not None]
    mean, m = math.fsum(kept) / len(kept), len(kept)
    variance = (m - 1) / m * math.fsum((one - mean) ** 2 for one in kept)
    half = student_quantile(m - 1) * math.sqrt(max(variance, least))
    return prior, gain, max(gain - half, -1.0), min(gain + half, 1.0)


def _gain_without(parts: Sequence[Sequence[Stratum]], out: str) -> float | None:
    gains = []
    for part in parts:
        left = [one.without.get(out, (one.trials, one.gained)) for one in part]
        n = sum(trials for trials, _ in left)
        if n:
            gains.append(math.fsum(gained for _, gained in left) / n)
    return math.fsum(gains) / len(gains) if gains else None
