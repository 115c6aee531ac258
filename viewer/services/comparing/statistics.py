"""Statistics of the difference between two sides on the same items.

Counts and McNemar's test are quick; intervals, permutations and detectable differences
take longer and are computed separately.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from viewer.metrics.estimate import Estimate
from viewer.metrics.pairing import (
    McNemar,
    PairedTable,
    macro_difference,
    mcnemar,
    mean_difference,
)
from viewer.metrics.permutation import (
    PermutationTest,
    macro_contributions,
    sign_flip,
)
from viewer.metrics.power import PairedPower, paired_power
from viewer.services.comparing.sides import HIT, Pair

MACRO: Final = "(macro)"
MICRO: Final = "(micro)"
MOST_FOR_POWER: Final = 2_000
"""Items up to which it is computed what a test could find at all."""

_SEVERAL_EACH: Final = McNemar(
    math.nan, math.nan, "no McNemar test: a patient has several pairs"
)
_ONE_REPLY: Final = "not tested: both sides show the same stored replies"
_Name = TypeVar("_Name", bound=Hashable)
_Ints = npt.NDArray[np.int64]
Task = Callable[[str], str]
"""What kind of question a finding is of, as a study's words have it."""


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """Paired outcomes of two runs for one finding, or pooled over several.

    ``findings`` are those counted: all of a condition are called (micro), or by their
    task if the study distinguishes tasks. ``one_reply`` counts the pairs with the same
    stored reply on both sides, which are in no test.
    """

    condition: str
    finding: str
    findings: tuple[str, ...]
    table: PairedTable
    mcnemar: McNemar
    patients: int
    one_reply: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """Condition and finding."""
        return self.condition, self.finding

    @property
    def pooled(self) -> bool:
        """Whether it pools several findings, or all."""
        return self.findings != (self.finding,)

    @property
    def hits(self) -> tuple[int, int]:
        """The number of items that each side hits."""
        both = self.table.both
        return both + self.table.only_first, both + self.table.only_second

    @property
    def rates(self) -> tuple[float, float]:
        """The share of the items that each side hits; a group has at least one."""
        first, second = self.hits
        return first / self.table.items, second / self.table.items


@dataclass(frozen=True, slots=True)
class GroupTests:
    """The difference of two hit rates, first less second, with all its tests.

    ``power`` is what McNemar's test can detect in few items; None for the macro mean,
    for many items, and if a patient has several.
    """

    condition: str
    finding: str
    difference: Estimate
    permutation: PermutationTest
    power: PairedPower | None

    @property
    def key(self) -> tuple[str, str]:
        """Condition and finding."""
        return self.condition, self.finding


def group_counts(pairs: Sequence[Pair], task: Task) -> tuple[GroupCounts, ...]:
    """Return each condition's findings in order of occurrence, then the pooled ones."""
    by_condition = _grouped((pair.condition, pair) for pair in pairs)
    return tuple(
        counts
        for condition, mine in by_condition.items()
        for counts in _of_condition(condition, mine, task)
    )


def _of_condition(
    condition: str, pairs: Sequence[Pair], task: Task
) -> Iterator[GroupCounts]:
    by_finding = _grouped((pair.first.finding, pair) for pair in pairs)
    single = [(finding, (finding,)) for finding in by_finding]
    for name, findings in (*single, *pooled(by_finding, task).items()):
        mine = [pair for finding in findings for pair in by_finding[finding]]
        yield GroupCounts(
            condition,
            name,
            findings,
            _table(mine),
            _mcnemar(mine),
            patients=len({pair.first.patient for pair in mine}),
            one_reply=sum(pair.is_one_reply for pair in mine),
        )


def pooled(findings: Iterable[str], task: Task) -> dict[str, tuple[str, ...]]:
    """Return the findings pooled for each task, by the pool's name.

    The name is (micro) if the study does not distinguish tasks; a task with a single
    finding is that finding.
    """
    by_task: dict[str, list[str]] = {}
    for finding in findings:
        by_task.setdefault(task(finding), []).append(finding)
    return {
        name: tuple(own)
        for name, own in by_task.items()
        if len(own) > 1 or name == MICRO
    }


def _mcnemar(pairs: Sequence[Pair]) -> McNemar:
    """Return McNemar's test of pairs with two replies, one pair per patient (X-07)."""
    tested = two_replies(pairs)
    if not tested:
        return McNemar(math.nan, math.nan, _ONE_REPLY)
    if len(tested) > len({pair.first.patient for pair in tested}):
        return _SEVERAL_EACH
    table = _table(tested)
    return mcnemar(table.only_first, table.only_second)


def two_replies(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs that can be tested, without those that share one reply."""
    return [pair for pair in pairs if not pair.is_one_reply]


def _table(pairs: Iterable[Pair]) -> PairedTable:
    n = Counter((a.status == HIT, b.status == HIT) for a, b in pairs)
    return PairedTable(n[True, True], n[True, False], n[False, True], n[False, False])


def mean_rates(groups: Sequence[GroupCounts], condition: str) -> tuple[float, float]:
    """Return both sides' unweighted means over the pooled findings (E000-21)."""
    mine = [one for one in groups if one.condition == condition]
    meant = next(one.findings for one in mine if one.pooled)
    rates = [g.rates for g in mine if not g.pooled and g.finding in meant]
    first, second = zip(*rates, strict=True)
    return sum(first) / len(rates), sum(second) / len(rates)


def group_tests(
    pairs: Sequence[Pair], task: Task, seed: int = 0
) -> tuple[GroupTests, ...]:
    """Return each condition's findings, their unweighted mean, and all of one task.

    Intervals are by patient, and the signs of a patient's differences are flipped
    together; ``seed`` is that of the mean's random flips, if there are too many to
    enumerate. Pairs with the same stored reply on both sides are left out.
    """
    by_condition = _grouped((pair.condition, pair) for pair in two_replies(pairs))
    return tuple(
        tests
        for condition, mine in by_condition.items()
        for tests in _tests(condition, mine, task, seed)
    )


def _tests(
    condition: str, pairs: Sequence[Pair], task: Task, seed: int
) -> Iterator[GroupTests]:
    findings = tuple(dict.fromkeys(pair.first.finding for pair in pairs))
    sums = by_patient(pairs, findings)
    for i, finding in enumerate(findings):
        yield _of_group(condition, finding, *(of[:, i] for of in sums))
    several = pooled(findings, task)
    for name, own in several.items():
        at = [findings.index(finding) for finding in own]
        totals, trials, apart = (of[:, at] for of in sums)
        if len(several) == 1:
            mean = macro_difference(totals, trials, apart.sum(axis=0))
            flips = sign_flip(macro_contributions(totals, trials), seed)
            yield GroupTests(condition, MACRO, mean, flips, None)
        together = (of.sum(axis=1) for of in (totals, trials, apart))
        yield _of_group(condition, name, *together)


def _of_group(
    condition: str, finding: str, totals: _Ints, trials: _Ints, apart: _Ints
) -> GroupTests:
    """Return the tests of one group's pairs; (patients,) sums and counts."""
    there = trials > 0
    difference = mean_difference(totals[there], trials[there], float(apart.sum()))
    flips, power = sign_flip(totals.tolist()), _power(int(trials.sum()), trials)
    return GroupTests(condition, finding, difference, flips, power)


def by_patient(
    pairs: Sequence[Pair], findings: Sequence[str]
) -> tuple[_Ints, _Ints, _Ints]:
    """Return (patients, findings) sums of first-minus-second hits, and of items.

    The third counts the items that only one of the two hits. Patients are sorted by
    name, whatever order the pairs come in.
    """
    patients, row = np.unique(
        np.array([pair.first.patient for pair in pairs]), return_inverse=True
    )
    place = {finding: i for i, finding in enumerate(findings)}
    column = np.array([place[pair.first.finding] for pair in pairs])
    gained = np.array([int(a) - int(b) for a, b in (pair.hits for pair in pairs)])
    at = row * len(findings) + column
    shape = (patients.size, len(findings))
    size = patients.size * len(findings)
    trials = np.bincount(at, minlength=size).reshape(shape)
    won, lost = (
        np.bincount(at[gained == sign], minlength=size).reshape(shape)
        for sign in (1, -1)
    )
    sums = (won - lost, trials, won + lost)
    totals, items, apart = (of.astype(np.int64) for of in sums)
    return totals, items, apart


def p_values(pairs: Sequence[Pair]) -> Mapping[tuple[str, str], tuple[float, float]]:
    """Return McNemar's and the sign-flip p value of each condition's findings.

    McNemar's is NaN if a patient has several pairs. A group without testable pairs is
    missing.
    """
    values = {}
    tested = two_replies(pairs)
    by_group = _grouped(((pair.condition, pair.first.finding), pair) for pair in tested)
    for key, mine in by_group.items():
        totals, *_ = by_patient(mine, (key[1],))
        values[key] = (
            _mcnemar(mine).p_value,
            sign_flip(totals[:, 0].tolist()).p_value,
        )
    return values


def _power(items: int, by_patient: _Ints) -> PairedPower | None:
    alone = items <= MOST_FOR_POWER and by_patient.max() == 1
    return paired_power(items) if alone else None


def _grouped(named: Iterable[tuple[_Name, Pair]]) -> dict[_Name, list[Pair]]:
    groups: dict[_Name, list[Pair]] = {}
    for name, pair in named:
        groups.setdefault(name, []).append(pair)
    return groups
