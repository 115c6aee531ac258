"""Groups of predictions with their numbers, and the selection (M-06)."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from math import isnan, nan
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import Status
from viewer.domain.counting import counted
from viewer.domain.report import Table
from viewer.domain.result import Outcome
from viewer.domain.study_words import PLACING, StudyWords
from viewer.metrics.estimate import Estimate
from viewer.metrics.intervals import Interval
from viewer.metrics.proportions import patient_method
from viewer.store.flat import Bounds, FlatStratum, FlatVerdict
from viewer.studies.tables import STATUSES

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class By(StrEnum):
    """The properties to group predictions by, in the order of table columns."""

    FINDING = "finding"
    VIEW = "view"
    CONDITION = "condition"
    MODEL = "model"
    RUN = "run"
    PATIENT = "patient"


COUNTS: Final = ("n_planned", *STATUSES, "k", "partial")
"""What is counted of each group (X-01)."""
COUNTED: Final[Mapping[str, tuple[Status, ...]]] = {
    **STATUSES,
    "k": (Status.SCORED_CORRECT,),
}
"""The statuses that a column counts, where it does not count all."""
_FIELDS: Final = {
    By.FINDING: "findings",
    By.VIEW: "views",
    By.CONDITION: "conditions",
    By.MODEL: "models",
    By.RUN: "runs",
}
_INTERVAL: Final = ("ci_low", "ci_high", "ci_method")
_HEADER: Final = (
    *("k", "n", "hit_rate", *_INTERVAL, "answered_rate"),
    *(name for name in COUNTS if name != "k"),
)


@dataclass(frozen=True)
class Wanted:
    """A selection of predictions; an empty criterion selects all.

    ``patient`` is a part of a pseudonym, ``patient_is`` a whole one, ``coverage`` the
    range of the covered fraction of the answered cell.
    """

    runs: tuple[int, ...] = ()
    findings: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    statuses: tuple[Status, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    patient: str = ""
    patient_is: str = ""
    coverage: tuple[float, float] | None = None

    @property
    def by_ending(self) -> bool:
        """Whether trials are selected by outcome, so that rates are meaningless."""
        return bool(self.statuses or self.outcomes or self.coverage)

    @property
    def bounds(self) -> Bounds | None:
        """The range of coverage in the store's form."""
        return None if self.coverage is None else Bounds(*self.coverage)

    @property
    def names_patients(self) -> bool:
        """Whether only some patients are wanted."""
        return bool(self.patient or self.patient_is)

    def of_group(self, by: Sequence[By], key: Sequence[str]) -> "Wanted":
        """Return the selection narrowed to one group's predictions."""
        fields: dict[str, object] = {
            _FIELDS[one]: (int(value) if one is By.RUN else value,)
            for one, value in zip(by, key, strict=True)
            if one is not By.PATIENT
        }
        if By.PATIENT in by:
            fields["patient_is"] = key[tuple(by).index(By.PATIENT)]
        return replace(self, **fields)  # type: ignore[arg-type]

    def takes(self, stratum: FlatStratum) -> bool:
        """Tell whether the trials of a stratum are selected."""
        pairs = (
            (self.runs, stratum.run),
            (self.findings, stratum.finding),
            (self.views, stratum.view),
            (self.conditions, stratum.condition),
            (self.models, stratum.model),
        )
        return all(not wanted or own in wanted for wanted, own in pairs)

    def takes_verdict(self, verdict: FlatVerdict) -> bool:
        """Tell whether trials with this verdict are selected."""
        return (not self.statuses or verdict.status in self.statuses) and (
            not self.outcomes or verdict.outcome in self.outcomes
        )


@dataclass(frozen=True)
class Offered:
    """The values to choose from, in natural order, with their display names."""

    runs: tuple[int, ...]
    findings: tuple[str, ...]
    views: tuple[str, ...]
    conditions: tuple[str, ...]
    models: tuple[str, ...]
    words: StudyWords = PLACING


@dataclass(frozen=True, slots=True)
class Tally:
    """The outcomes of a group's trials, each counted once (X-01)."""

    n_planned: int
    n_scored: int
    n_failed: int
    n_refused: int
    n_unparsed: int
    n_excluded: int
    n_pending: int
    k: int
    partial: int

    @property
    def n(self) -> int:
        """The trials in the denominator of the primary rate."""
        return self.n_planned - self.n_excluded - self.n_pending

    @property
    def rate(self) -> float | None:
        """Hits divided by settled trials; None without any."""
        return self.k / self.n if self.n else None

    @property
    def answered_rate(self) -> float | None:
        """Hits divided by trials with a readable answer, the secondary rate."""
        return self.k / self.n_scored if self.n_scored else None


@dataclass(frozen=True, slots=True)
class Pooled:
    """How many runs, models, conditions and tasks predictions are of."""

    runs: int
    models: int
    conditions: int
    tasks: int

    @property
    def several(self) -> str:
        """Those that there are several of, in words."""
        kinds = ("run", "model", "condition", "task")
        each = zip(astuple(self), kinds, strict=True)
        return ", ".join(counted(n, kind) for n, kind in each if n > 1)


@dataclass(frozen=True, eq=False)
class ResultsView:
    """Groups of predictions, a row each.

    ``keys`` (rows) has each group's values in the order of ``by``, ``counts`` (rows,
    len(COUNTS)) its numbers. ``wanted`` is the selection. ``absent`` are rows with
    questions about an absent finding: right denials are not hits, so those rows have no
    rate (E000-32). ``pooled`` has the rows that pool several runs, models, conditions
    or tasks, with None for the total: they have no rate either. ``reused`` is the
    number of trials that share a reply with another one, None until it is counted.
    ``left_out`` are runs excluded because their reader has withdrawn. ``words`` are the
    terms of the runs' study. ``ends`` (rows + 1, 3) are the lower and upper end of each
    rate's interval, NaN without any, and how many patients have a settled trial; its
    last row is of all rows together. It is None until it is computed.
    """

    by: tuple[By, ...]
    keys: Sequence[tuple[str, ...]]
    counts: Ints
    wanted: Wanted = field(default_factory=Wanted)
    absent: frozenset[int] = frozenset()
    left_out: tuple[int, ...] = ()
    words: StudyWords = PLACING
    ends: Floats | None = None
    pooled: Mapping[int | None, Pooled] = field(default_factory=dict)
    reused: int | None = None

    @property
    def lacks_intervals(self) -> bool:
        """Whether there are rates whose intervals are not computed."""
        return self.ends is None and not self.wanted.by_ending

    @property
    def is_preliminary(self) -> bool:
        """Whether a count that reads every trial would tell more."""
        return self.lacks_intervals or (self.ends is not None and self.reused is None)

    def has_rate(self, row: int | None = None) -> bool:
        """Tell whether hits / trials is a meaningful rate for a row, or the total."""
        mixed = self.absent if row is None else row in self.absent
        return not (self.wanted.by_ending or mixed or row in self.pooled)

    def tally(self, row: int) -> Tally:
        """Return the counts and rates of a row."""
        return Tally(*(int(n) for n in self.counts[row]))

    @cached_property
    def total(self) -> Tally:
        """The numbers of all rows together."""
        return Tally(*(int(n) for n in self.counts.sum(axis=0)))

    def estimate(self, row: int | None = None) -> Estimate | None:
        """Return the rate of a row, or of the total, with its 95 % interval.

        None if it has no rate. The ends are NaN if there is no interval, for the reason
        that the method names.
        """
        tally = self.total if row is None else self.tally(row)
        if tally.rate is None or not self.has_rate(row):
            return None
        if self.ends is None:
            return Estimate(tally.rate, Interval(nan, nan), "not worked out yet")
        low, high, patients = self.ends[-1 if row is None else row].tolist()
        method = patient_method(tally.n, int(patients))
        return Estimate(tally.rate, Interval(low, high), method)

    def patients(self, row: int) -> int:
        """Return the number of patients of a row, 0 until it is computed."""
        return 0 if self.ends is None else int(self.ends[row, 2])

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns."""
        return (*(by.value for by in self.by), *_HEADER)

    def record(self, row: int) -> tuple[object, ...]:
        """Return a row's values in the order of the header; missing ones are None."""
        tally = self.tally(row)
        rates = _rates(tally, self.estimate(row))
        rest = (getattr(tally, name) for name in _HEADER[len(rates) :])
        return (*self.keys[row], *rates, *rest)

    def column(self, name: str) -> Floats:
        """Return a column of numbers, (rows,), to sort by; missing ones are NaN."""
        if name in COUNTS:
            return self._counted(name)
        n = self._counted("n_planned")
        n = n - self._counted("n_excluded") - self._counted("n_pending")
        if name == "n":
            return n
        if self.wanted.by_ending:
            return np.full(len(n), np.nan)
        rates = self._rate(name, n)
        rates[[row for row in range(len(rates)) if not self.has_rate(row)]] = np.nan
        return rates

    def _rate(self, name: str, n: Floats) -> Floats:
        if name == "hit_rate":
            return _ratio(self._counted("k"), n)
        if name == "answered_rate":
            return _ratio(self._counted("k"), self._counted("n_scored"))
        if self.ends is None:
            return np.full(len(n), np.nan)
        return self.ends[:-1, _INTERVAL.index(name)].copy()

    def _counted(self, name: str) -> Floats:
        return self.counts[:, COUNTS.index(name)].astype(np.float64)

    def row_of(self, key: tuple[str, ...]) -> int | None:
        """Return the row of a group, None if there is none."""
        return self._rows.get(key)

    @cached_property
    def _rows(self) -> Mapping[tuple[str, ...], int]:
        return {key: row for row, key in enumerate(self.keys)}

    def table(self, order: Sequence[int] | None = None) -> Table:
        """Return all rows, or some in the given order, as a table at full precision."""
        rows = range(len(self.keys)) if order is None else order
        return Table("predictions", self.header, tuple(map(self.record, rows)))


def _ratio(above: Floats, below: Floats) -> Floats:
    ratio = np.full(len(above), np.nan)
    np.divide(above, below, out=ratio, where=below > 0)
    return ratio


def _rates(tally: Tally, estimate: Estimate | None) -> tuple[object, ...]:
    """Return k, n, the rate with its interval, and the rate among readable answers."""
    if estimate is None:
        return (tally.k, tally.n, *(None,) * 5)
    ends = estimate.interval.low, estimate.interval.high
    known = (None if isnan(end) else end for end in ends)
    return (tally.k, tally.n, tally.rate, *known, estimate.method, tally.answered_rate)


@lru_cache(maxsize=65_536)
def natural(text: str) -> tuple[str, int, str]:
    """Return a sort key that puts ``grid=8`` before ``grid=16``, and 9 before 10."""
    head = text.rstrip("0123456789")
    digits = text[len(head) :]
    return head.casefold(), int(digits) if digits else -1, text
