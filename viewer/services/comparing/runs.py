"""Comparison of two runs, or two models of one run: questions, hits and causes.

:func:`compare` is quick; :func:`statistics_of` takes seconds.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viewer.domain.case import ImageRef
from viewer.domain.counting import counted
from viewer.domain.errors import WrongUseError
from viewer.domain.run import RunSummary
from viewer.domain.study_words import DENIALS, PLACING, StudyWords
from viewer.metrics.printed import as_percent
from viewer.services.comparing.asked import Asked, asked, sent_by
from viewer.services.comparing.causes import Cause, Why
from viewer.services.comparing.family import (
    Adjustment,
    Looked,
    PValues,
    adjusted,
    looked,
)
from viewer.services.comparing.sides import (
    BETWEEN,
    HIT,
    Pair,
    Pairing,
    Side,
    paired_sides,
    sides_of_run,
)
from viewer.services.comparing.statistics import (
    MICRO,
    GroupCounts,
    GroupTests,
    group_counts,
    group_tests,
    mean_rates,
    p_values,
    two_replies,
)
from viewer.services.comparing.why import Explainer
from viewer.services.configuring.model_colors import assign_model_colors
from viewer.services.inspecting.predictions.wording import words_of_runs
from viewer.services.reporting.records import without_collections
from viewer.store import cases, comparing, runs
from viewer.store.database import Store, open_store
from viewer.studies.protocol import ABSENT_SUFFIX


@dataclass(frozen=True, slots=True)
class Flip:
    """An item whose verdict differs, and why."""

    pair: Pair
    why: Why


@dataclass(frozen=True)
class Comparison:
    """Two sides compared item by item.

    ``groups`` hold each finding and, as ``(micro)``, all of a condition's; ``images``
    has the first side's image paths, ``words`` the terms of the runs' study.
    """

    first: Side
    second: Side
    summaries: tuple[RunSummary, RunSummary]
    pairing: Pairing
    asked: Asked
    groups: tuple[GroupCounts, ...]
    flips: tuple[Flip, ...]
    looked: Looked
    images: Mapping[str, ImageRef]
    words: StudyWords = PLACING

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions under which items are compared, in the order planned."""
        return tuple(dict.fromkeys(group.condition for group in self.groups))

    @property
    def incomplete(self) -> bool:
        """Whether either side has pending trials."""
        return self.pairing.incomplete

    @property
    def causes(self) -> Mapping[Cause, int]:
        """How many flips each cause explains; a flip may have several."""
        counts = Counter(cause for flip in self.flips for cause in flip.why.because)
        return {cause: counts[cause] for cause in Cause if counts[cause]}

    @property
    def watermark(self) -> str:
        """A warning that must be shown with every number; "" if there is none."""
        if not self.incomplete:
            return ""
        n = len(self.pairing.pending)
        pairs = f"{counted(n, 'pair')} {'is' if n == 1 else 'are'}"
        return f"Incomplete: {pairs} still to be asked on one side or both."


@dataclass(frozen=True)
class Statistics:
    """The tests of a comparison's groups and their adjusted p values."""

    groups: tuple[GroupTests, ...]
    adjustment: Adjustment

    def of(self, condition: str, finding: str) -> GroupTests:
        """Return one group's tests; pairs that share one reply have none."""
        return next(g for g in self.groups if g.key == (condition, finding))


def compare(store: Store, first: Side, second: Side) -> Comparison:
    """Compare two sides; this counts as having looked at them.

    Comparing a side with itself, or sides without a common item, raises WrongUseError.
    """
    if first == second:
        raise WrongUseError(
            f"{first} cannot be compared with itself.", "Choose another run or model."
        )
    assign_model_colors(store)
    with without_collections():
        return _compared(store, first, second)


def _compared(store: Store, first: Side, second: Side) -> Comparison:
    pairing = paired_sides(store, first, second)
    _check(pairing, first, second)
    sent = sent_by(store, pairing)
    words = words_of_runs(store, (first.run, second.run))
    explainer = Explainer(store, (first, second), sent)
    flips = tuple(
        Flip(pair, explainer.why(pair))
        for pair in pairing.scored
        if (pair.first.status == HIT) != (pair.second.status == HIT)
    )
    return Comparison(
        first=first,
        second=second,
        summaries=(
            runs.run_summary(store, first.run),
            runs.run_summary(store, second.run),
        ),
        pairing=pairing,
        asked=asked(store, (first, second), pairing, sent),
        groups=group_counts(pairing.scored, words.task),
        flips=flips,
        looked=looked(store, first, second),
        images=cases.image_refs_of_run(store, first.run),
        words=words,
    )


def compare_at(path: Path, first: Side, second: Side) -> Comparison:
    """Compare two sides of the store at a path."""
    with open_store(path) as store:
        return compare(store, first, second)


def _check(pairing: Pairing, first: Side, second: Side) -> None:
    if not (pairing.scored or pairing.pending or pairing.excluded):
        raise WrongUseError(
            f"{first} and {second} have no item in common.",
            "Choose runs of one study over the same images.",
        )


def statistics_of(store: Store, comparison: Comparison) -> Statistics:
    """Return intervals, permutation tests and adjusted p values of a comparison."""
    pairs = two_replies(comparison.pairing.scored)
    if not pairs:
        return Statistics((), adjusted(comparison.looked, {}))
    others = tuple(_other_pairs(store, comparison))
    return Statistics(
        group_tests(pairs, comparison.words.task),
        adjusted(comparison.looked, p_values(pairs), others),
    )


def statistics_at(path: Path, comparison: Comparison) -> Statistics:
    """Return the statistics of a comparison of the store at a path."""
    with open_store(path) as store:
        return statistics_of(store, comparison)


def _other_pairs(store: Store, comparison: Comparison) -> Iterator[PValues | None]:
    """Yield the p values of the declared family's other pairs of models.

    None if the two runs lack one of the models; its tests are still counted.
    """
    declared, (first, second) = (
        comparison.looked.declared,
        (comparison.first, comparison.second),
    )
    own = {(first.name, second.name), (second.name, first.name)}
    for pair in declared.pairs if declared else ():
        if pair in own:
            continue
        sides = _sides_of(store, pair, (first.run, second.run))
        if sides is None:
            yield None
            continue
        # Their p values adjust this pair's, so they count as looked at, too.
        comparing.first_look(store, sides[0].key, sides[1].key)
        yield p_values(paired_sides(store, *sides).scored)


def _sides_of(
    store: Store, pair: tuple[str, str], numbers: tuple[int, int]
) -> tuple[Side, Side] | None:
    """Return the runs with the two models of a pair, one in each.

    The runs stay in order, and so do the conditions that are compared.
    """
    known, others = ({s.name: s for s in sides_of_run(store, n)} for n in numbers)
    for one, other in (pair, pair[::-1]):
        if one in known and other in others:
            return known[one], others[other]
    return None


def rates_of(comparison: Comparison, tests: GroupTests) -> tuple[float, float]:
    """Return both sides' rates for a group, or the means over findings."""
    group = next((one for one in comparison.groups if one.key == tests.key), None)
    return group.rates if group else mean_rates(comparison.groups, tests.condition)


def summary_sentence(comparison: Comparison, condition: str = "") -> str:
    """Return the result of a comparison in words.

    Each of several conditions and tasks has its own line.
    """
    changes = [
        one for one in _main_groups(comparison) if condition in {"", one.condition}
    ]
    parts = (
        comparison.watermark,
        *(_group_sentence(comparison, group) for group in changes),
        _unpaired_sentence(comparison.pairing),
    )
    between = "\n" if len(changes) > 1 else " "
    return between.join(filter(None, parts))


def _main_groups(comparison: Comparison) -> tuple[GroupCounts, ...]:
    """Return groups that count each item once, with findings of a task pooled."""
    within = {
        (group.condition, finding)
        for group in comparison.groups
        if group.pooled
        for finding in group.findings
    }
    groups = comparison.groups
    return tuple(one for one in groups if one.pooled or one.key not in within)


def _group_sentence(comparison: Comparison, group: GroupCounts) -> str:
    hits, n, table = group.hits, group.table.items, group.table
    words, whose = comparison.words, []
    if group.finding != MICRO:
        whose.append(words.called("finding", group.finding))
    if len(comparison.conditions) > 1:
        whose.append(condition_words(words, group.condition))
    where = f" ({', '.join(whose)})" if whose else ""
    if group.one_reply == n:
        return _same_sentence(group, where)
    if denied_by_none(group):
        return f"Neither denies any of {counted(n, 'absent finding')}{where}."
    absent = group.condition.endswith(ABSENT_SUFFIX)
    verdicts = DENIALS if absent else words.verdicts
    gets, got = verdicts.gets.format(hits[0]), verdicts.got
    return (
        f"Of {counted(n, 'item')}{where} {comparison.first} {gets} "
        f"({_percent(hits[0], n)}) and {comparison.second} {hits[1]} "
        f"({_percent(hits[1], n)}): {table.only_first} {got} by the first alone, "
        f"{table.only_second} by the second alone{_tested(group)}."
    )


def denied_by_none(group: GroupCounts) -> bool:
    """Tell whether absent findings were asked about and both sides named a place.

    No hit is possible there, so that counts of hits and tests of them say nothing.
    """
    return group.condition.endswith(ABSENT_SUFFIX) and not any(group.hits)


def _same_sentence(group: GroupCounts, where: str) -> str:
    """Return a sentence if both sides are the same replies, with any differences."""
    differ = group.table.only_first + group.table.only_second
    scored = f"; {counted(differ, 'verdict')} differ by how they were read or scored"
    items = counted(group.table.items, "item")
    return (
        f"Both sides show the same stored replies to {items}{where}, so nothing is "
        f"tested{(scored if differ else '')}."
    )


def _tested(group: GroupCounts) -> str:
    """Return McNemar's test, nothing if patients have several pairs."""
    p = group.mcnemar.p_value
    same = f", without {group.one_reply} that show one stored reply on both sides"
    left = same if group.one_reply else ""
    return left if math.isnan(p) else f" (exact McNemar, p {p_text(p)}{left})"


def condition_words(words: StudyWords, condition: str) -> str:
    """Return a condition's name in the study's words, both if the sides differ."""
    sides = condition.split(BETWEEN)
    return BETWEEN.join(words.called("condition", one) for one in sides)


def _unpaired_sentence(pairing: Pairing) -> str:
    counts = (
        (len(pairing.only_first), "only in the first run"),
        (len(pairing.only_second), "only in the second"),
        (len(pairing.excluded), "excluded on a side"),
        (len(pairing.pending), "not asked yet on a side"),
    )
    phrases = [f"{n} {words}" for n, words in counts if n]
    return f"Not compared: {', '.join(phrases)}." if phrases else ""


def _percent(k: int, n: int) -> str:
    return f"{as_percent(k / n)} %" if n else "–"


def p_text(p: float) -> str:
    """Return a p value as text to follow "p": "= 0.0123"."""
    if math.isnan(p):
        return "unknown"
    return "< 0.0001" if p < _LEAST_P else f"= {p:.4f}"


_LEAST_P: Final = 0.0001
