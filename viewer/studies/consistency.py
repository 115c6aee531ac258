"""Checks of whether published numbers are consistent (M-09).

Each check has the rows it is about, its tolerance in words, and the problem, "" if
there is none. A study's ``consistency.py`` declares its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol

from viewer.domain.report import Table
from viewer.metrics.printed import (
    as_printed,
    before_rounding,
    harmonic_range,
    mean_range,
    pooled,
    sizes_that_print,
    squares_that_print,
    sums_that_print,
)
from viewer.studies.published import Badge, PublishedValue, Unit

_ROUNDING: Final = "half of the last printed decimal"


class Check(Protocol):
    """One check, of a row or of several together."""

    @property
    def about(self) -> tuple[PublishedValue, ...]:
        """The rows to flag if there is a problem."""
        ...

    @property
    def tolerance(self) -> str:
        """The tolerance of the check, in words."""
        ...

    @property
    def problem(self) -> str:
        """The problem as a clause; "" if there is none."""
        ...

    @property
    def instead(self) -> str:
        """What explains a number that is not a share of its claimed trials; else ""."""
        ...


@dataclass(frozen=True, slots=True)
class OneRow:
    """The common base of checks of a single row."""

    row: PublishedValue

    @property
    def about(self) -> tuple[PublishedValue, ...]:
        """The row alone."""
        return (self.row,)

    @property
    def instead(self) -> str:
        """None."""
        return ""


@dataclass(frozen=True, slots=True)
class CountCheck(OneRow):
    """A share of ``n_claimed`` trials, or of some of them where ``at_least`` says so.

    ``told`` are other percentages of the same trials, for the sizes that give them all.
    """

    at_least: int | None = None
    told: tuple[PublishedValue, ...] = ()

    @property
    def tolerance(self) -> str:
        """Rounding only."""
        return _ROUNDING

    @property
    def problem(self) -> str:
        """Tell that no whole number prints so, and which is next."""
        if self._fitting:
            return ""
        n = self.row.n_claimed or 0
        percent, decimals = _as_percent(self.row)
        k = round(Fraction(percent) * n / 100)
        next_to = f"{k} / {n} = {100 * k / n:.{decimals}f} %"
        return (
            f"{percent:.{decimals}f} % is not k / {n} for any k "
            f"({next_to}){self._others()}"
        )

    @property
    def instead(self) -> str:
        """Return the sizes that fit if the claimed one does not."""
        n, fitting = self.row.n_claimed, self._fitting
        if not fitting or n in fitting:
            return ""
        return f"no k / {n} rounds to it; a k / {_either(fitting)} does"

    @property
    def _fitting(self) -> tuple[int, ...]:
        n = self.row.n_claimed or 0
        percent, decimals = _as_percent(self.row)
        sizes = range(self.at_least or n, n + 1)
        return sizes_that_print((percent,), decimals, sizes)

    def _others(self) -> str:
        if not self.told:
            return ""
        percent, decimals = _as_percent(self.row)
        both = (percent, *(_as_percent(row)[0] for row in self.told))
        sizes = sizes_that_print(both, decimals, range(1, 130))
        words = " and ".join(f"{p:.{decimals}f}" for p in both)
        found = ", ".join(map(str, sizes)) or "no size"
        return f"; of sizes below 130, {found} gives {words}"


@dataclass(frozen=True, slots=True)
class MeanCheck(OneRow):
    """A mean, and a deviation with n - 1 if printed, of ``n`` whole scores."""

    n: int
    deviation: PublishedValue | None = None

    @property
    def tolerance(self) -> str:
        """Rounding only."""
        return _ROUNDING

    @property
    def problem(self) -> str:
        """Tell that no whole sum, or no whole sum of squares, prints so."""
        sums = sums_that_print(self.row.value, self.row.decimals, self.n)
        if not sums:
            return f"no whole sum of {self.n} scores has the mean {self.row.printed}"
        spread = self.deviation
        if spread is None or any(
            squares_that_print(total, spread.value, spread.decimals, self.n)
            for total in sums
        ):
            return ""
        return f"no {self.n} whole scores have the deviation {spread.printed}"


@dataclass(frozen=True, slots=True)
class HarmonicCheck(OneRow):
    """An F1 beside the precision and the recall that it is of."""

    precision: PublishedValue
    recall: PublishedValue

    @property
    def tolerance(self) -> str:
        """Rounding of all three."""
        return f"{_ROUNDING} of each of the three"

    @property
    def impossible(self) -> bool:
        """Whether no mean of the two, of whatever kind, is the F1."""
        span = mean_range(*self._parts)
        return not before_rounding(self.row.value, self.row.decimals).meets(span)

    @property
    def problem(self) -> str:
        """Tell what 2PR / (P + R) is, and whether the F1 is outside P to R."""
        printed = before_rounding(self.row.value, self.row.decimals)
        if printed.meets(harmonic_range(*self._parts)):
            return ""
        p, r = self.precision.value, self.recall.value
        what = f"2PR / (P + R) is {2 * p * r / (p + r):.{self.row.decimals}f}"
        outside = "; beyond P and R"
        return f"{what}, not {self.row.printed}{outside if self.impossible else ''}"

    @property
    def _parts(self) -> tuple[float, float, int]:
        return self.precision.value, self.recall.value, self.row.decimals


@dataclass(frozen=True, slots=True)
class PooledCheck(OneRow):
    """A rate over groups of these sizes, beside the groups' own; ``within`` in pp."""

    parts: tuple[PublishedValue, ...]
    sizes: tuple[int, ...]
    within: str

    @property
    def tolerance(self) -> str:
        """The declared one."""
        return f"{self.within} percentage points"

    @property
    def problem(self) -> str:
        """Return the pooled rate of the groups if it differs."""
        if self._fits:
            return ""
        return f"its parts pool to {float(self._whole):.2f}, not {self.row.printed}"

    @property
    def instead(self) -> str:
        """Say that its parts pool to it, if it is not a share of its claimed trials."""
        n = self.row.n_claimed
        if n is None or self.row.counts or not self._fits:
            return ""
        return f"no k / {n} rounds to it; its parts pool to {float(self._whole):.2f}"

    @property
    def _fits(self) -> bool:
        gap = self._whole - as_printed(self.row.value, self.row.decimals)
        return abs(gap) <= Fraction(self.within)

    @property
    def _whole(self) -> Fraction:
        values = [part.value for part in self.parts]
        return pooled(values, self.parts[0].decimals, self.sizes)


@dataclass(frozen=True, slots=True)
class TotalCheck:
    """Shares that should add up to 100 %."""

    about: tuple[PublishedValue, ...]

    @property
    def instead(self) -> str:
        """None."""
        return ""

    @property
    def tolerance(self) -> str:
        """None: the shares are printed as whole tasks of 100."""
        return "none"

    @property
    def problem(self) -> str:
        """Tell what they add up to."""
        total = sum(as_printed(row.value, row.decimals) for row in self.about)
        what = f"the {len(self.about)} shares add up to {float(total):g} %"
        return "" if total == 100 else what


@dataclass(frozen=True, slots=True)
class SignCheck(OneRow):
    """A printed difference beside the two numbers that it is the difference of."""

    after: PublishedValue
    before: PublishedValue

    @property
    def tolerance(self) -> str:
        """Rounding of all three."""
        return f"{_ROUNDING} of each of the three"

    @property
    def problem(self) -> str:
        """Tell the difference of the two."""
        decimals = self.row.decimals
        printed = as_printed(self.row.value, decimals)
        gap = as_printed(self.after.value, decimals) - as_printed(
            self.before.value, decimals
        )
        # Each of the three may be off by half of its last decimal.
        if abs(gap - printed) <= Fraction(3, 2 * 10**decimals):
            return ""
        two = f"{self.after.printed} - {self.before.printed}"
        return (
            f"{two} is {float(gap):+.{decimals}f}, not {float(printed):+.{decimals}f}"
        )


@dataclass(frozen=True, slots=True)
class MostBelowCheck(OneRow):
    """A sentence that most of ``rows`` lie below the number that it prints."""

    rows: tuple[PublishedValue, ...]

    @property
    def tolerance(self) -> str:
        """None: a majority is meant."""
        return "more than half of the rows"

    @property
    def problem(self) -> str:
        """Tell how many are below, and the least."""
        limit, values = _as_percent(self.row)[0], [_as_percent(r)[0] for r in self.rows]
        below = sum(value < limit for value in values)
        if 2 * below > len(values):
            return ""
        counted = f"{below} of {len(values)} are below {self.row.printed}"
        return f"{counted}, the least is {min(values):.1f} %"


def flagged(checks: Iterable[Check]) -> Iterator[Check]:
    """Yield the checks that found a problem."""
    return (check for check in checks if check.problem)


def badge_of(row: PublishedValue, checks: Iterable[Check]) -> Badge:
    """Return the result of all checks of a row, or its own badge without checks."""
    about = [check for check in checks if row in check.about]
    if not about:
        return row.badge
    if any(check.problem for check in about):
        return Badge.INCONSISTENT
    instead = any(check.instead for check in about)
    return Badge.NOT_OF_N if instead else Badge.CONSISTENT


HEADER: Final = (
    *("source", "table", "measure", "subject", "who", "value", "decimals"),
    *("n_claimed", "n_is", "badge", "reason", "tolerance"),
)


def published_table(rows: Sequence[PublishedValue], checks: Sequence[Check]) -> Table:
    """Return published.csv: every row with its badge, reason and tolerance.

    ``n_is`` tells whether the paper prints the number of trials or we derived it.
    """
    of: dict[PublishedValue, list[Check]] = {}
    for check in checks:
        for row in check.about:
            of.setdefault(row, []).append(check)
    return Table(
        "published", HEADER, tuple(_line(row, of.get(row, ())) for row in rows)
    )


def _line(row: PublishedValue, about: Sequence[Check]) -> tuple[object, ...]:
    found = (words for check in about for words in (check.problem, check.instead))
    reasons = "; ".join(filter(None, found))
    tolerances = "; ".join(dict.fromkeys(check.tolerance for check in about))
    return (
        *(row.source, row.table, row.measure, row.subject, row.who),
        *(row.value, row.decimals, row.n_claimed, _origin(row)),
        *(
            str(badge_of(row, about)),
            "; ".join(part for part in (reasons, row.note) if part),
            tolerances,
        ),
    )


def _origin(row: PublishedValue) -> str:
    if row.n_claimed is None:
        return ""
    return "derived" if row.n_derived else "printed"


def _either(sizes: Sequence[int]) -> str:
    *others, last = map(str, sizes)
    return f"{', '.join(others)} or {last}" if others else last


def _as_percent(row: PublishedValue) -> tuple[float, int]:
    if row.unit is Unit.FRACTION:
        return float(100 * as_printed(row.value, row.decimals)), row.decimals - 2
    return row.value, row.decimals
