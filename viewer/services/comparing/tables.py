"""A comparison as tables and plain values, the same for the screen and for files."""

import math
from collections.abc import Iterator
from typing import Final

from viewer.domain.counting import counted
from viewer.domain.plain import plain
from viewer.domain.report import Table
from viewer.domain.study_words import StudyWords, capital
from viewer.metrics.estimate import Estimate
from viewer.metrics.pairing import McNemar
from viewer.services.comparing.causes import Why
from viewer.services.comparing.family import Adjusted
from viewer.services.comparing.runs import (
    Comparison,
    Statistics,
    p_text,
    rates_of,
    summary_sentence,
)
from viewer.services.comparing.sides import Pair, Pairing
from viewer.services.comparing.statistics import GroupCounts, GroupTests
from viewer.store.comparing import TrialLine

_GROUPS: Final = (
    "condition", "finding", "patients", "n", "k_first", "k_second", "rate_first",
    "rate_second", "both", "only_first", "only_second", "neither", "difference",
    "ci_low", "ci_high", "ci_method", "p_mcnemar", "mid_p_mcnemar",
    "p_mcnemar_adjusted", "p_sign_flip", "p_sign_flip_adjusted", "family",
    "smallest_difference_80", "fewest_flips", "incomplete",
)  # fmt: skip
_ITEMS: Final = (
    "item", "patient", "image", "view", "finding", "condition", "repeat", "paired",
    "status_first", "answer_first", "status_second", "answer_second", "flip",
    "because", "changed", "detail", "trial_first", "trial_second",
)  # fmt: skip


def groups_table(comparison: Comparison, statistics: Statistics) -> Table:
    """Return a row for each finding, and for the pooled and the mean rates.

    Raw and adjusted p values are side by side; differences are first minus second.
    """
    counts = {group.key: group for group in comparison.groups}
    rows = [
        _group_row(comparison, counts.get(tests.key), tests, statistics)
        for tests in statistics.groups
    ]
    return Table("differences", _GROUPS, tuple(rows))


def _group_row(
    comparison: Comparison,
    counts: GroupCounts | None,
    tests: GroupTests,
    statistics: Statistics,
) -> tuple[object, ...]:
    adjusted = statistics.adjustment.by_group.get(tests.key)
    difference, power = tests.difference, tests.power
    return (
        tests.condition,
        tests.finding,
        *_counts(counts, rates_of(comparison, tests)),
        difference.value,
        *_ends(difference),
        difference.method,
        _known(counts.mcnemar.p_value) if counts else None,
        _known(counts.mcnemar.mid_p) if counts else None,
        _known(adjusted.mcnemar) if adjusted else None,
        tests.permutation.p_value,
        adjusted.permutation if adjusted else None,
        _family(adjusted),
        power.smallest_difference if power else None,
        power.fewest_flips if power else None,
        comparison.incomplete,
    )


def _counts(
    group: GroupCounts | None, rates: tuple[float, float]
) -> tuple[object, ...]:
    if group is None:
        return (None, None, None, None, *rates, None, None, None, None)
    table = group.table
    return (
        group.patients,
        table.items,
        *group.hits,
        *rates,
        table.both,
        table.only_first,
        table.only_second,
        table.neither,
    )


def _ends(estimate: Estimate) -> tuple[float | None, float | None]:
    return _known(estimate.interval.low), _known(estimate.interval.high)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _family(adjusted: Adjusted | None) -> str:
    if adjusted is None:
        return "not adjusted"
    return "declared, Holm" if adjusted.primary else "exploratory, Benjamini-Hochberg"


def compared_items(comparison: Comparison) -> Table:
    """Return a row for every item of either side, compared or not."""
    pairing = comparison.pairing
    scored = pairing.scored
    why = {flip.pair.first.id: flip.why for flip in comparison.flips}
    rows = [
        *(_pair_row(one, _paired_as(one), why.get(one.first.id)) for one in scored),
        *(_pair_row(pair, "excluded", None) for pair in pairing.excluded),
        *(_pair_row(pair, "pending", None) for pair in pairing.pending),
        *(_row(one, None, "only in the first") for one in pairing.only_first),
        *(_row(None, one, "only in the second") for one in pairing.only_second),
    ]
    return Table("items", _ITEMS, tuple(rows))


def _paired_as(pair: Pair) -> str:
    return "one reply" if pair.is_one_reply else "yes"


def _pair_row(pair: Pair, paired: str, why: Why | None) -> tuple[object, ...]:
    return _row(pair.first, pair.second, paired, why, pair.condition)


def _row(
    first: TrialLine | None,
    second: TrialLine | None,
    paired: str,
    why: Why | None = None,
    condition: str = "",
) -> tuple[object, ...]:
    """Return the row of an item that at least one side has."""
    one = first or second
    if one is None:
        raise ValueError("an item is of one side at least")
    reason = (" ".join(why.because), " ".join(why.changed), why.detail) if why else ()
    return (
        one.item,
        one.patient,
        one.image,
        one.view,
        one.finding,
        condition or one.condition,
        one.repeat,
        paired,
        *((first.status, first.answer) if first else ("", "")),
        *((second.status, second.answer) if second else ("", "")),
        why is not None,
        *(reason or ("", "", "")),
        first.id if first else None,
        second.id if second else None,
    )


def settings_table(comparison: Comparison) -> Table:
    """Return every setting of both sides, and whether they are equal."""
    rows = tuple(
        (s.group, s.name, s.first, s.second, s.same, s.note)
        for s in comparison.asked.settings
    )
    return Table("settings", ("group", "name", "first", "second", "same", "note"), rows)


def methods_of(statistics: Statistics, words: StudyWords) -> tuple[str, ...]:
    """Return the definition of each number in a comparison's table, in sentences."""
    methods = [
        f"difference: {words.rate} of the first minus that of the second, same items",
        "p_mcnemar: exact, two-sided; none where a patient has several pairs",
    ]
    if statistics.groups:
        named = dict.fromkeys(g.difference.method for g in statistics.groups)
        methods += [
            f"ci: {'; '.join(named)}",
            f"p_sign_flip: by patient, all {words.findings}; (macro): of the mean",
        ]
        powers = [g.power for g in statistics.groups if g.power is not None]
        methods += [
            f"smallest_difference_80: {power.method}, if nothing flips the other way"
            for power in powers[:1]
        ]
    return (*methods, *statistics.adjustment.methods)


def numbers_of_group(
    comparison: Comparison, statistics: Statistics, key: tuple[str, str]
) -> tuple[str, ...]:
    """Return every number of one group in words, each with its definition."""
    counts = next(group for group in comparison.groups if group.key == key)
    if counts.one_reply == counts.table.items:
        return tuple(_mcnemar_words(counts.mcnemar, ""))
    tests = statistics.of(*key)
    adjusted = statistics.adjustment.by_group.get(key)
    method = "Holm" if adjusted and adjusted.primary else "Benjamini-Hochberg"
    exact, flips = counts.mcnemar, tests.permutation
    patients = counted(counts.patients, "patient")
    return (
        f"Difference {_points(tests.difference.value)} points, first minus second.",
        f"{_range(tests.difference)}{tests.difference.method}, {patients}.",
        *_mcnemar_words(
            exact, f"; {method} {p_text(adjusted.mcnemar)}" if adjusted else ""
        ),
        f"Sign flips by patient p {p_text(flips.p_value)}"
        + (f"; {method} {p_text(adjusted.permutation)}." if adjusted else "."),
        *_power_words(tests),
    )


def _mcnemar_words(test: McNemar, adjusted: str) -> Iterator[str]:
    if math.isnan(test.p_value):
        yield f"{capital(test.method)}."
        return
    ps = f"Exact McNemar p {p_text(test.p_value)}, mid-p {p_text(test.mid_p)}"
    yield f"{ps}{adjusted}."


def _range(estimate: Estimate) -> str:
    low, high = estimate.interval.low, estimate.interval.high
    return "" if math.isnan(low) else f"{_points(low)} to {_points(high)}: "


def _points(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:+.1f}".replace("-", "−")


def _power_words(tests: GroupTests) -> tuple[str, ...]:
    power = tests.power
    if power is None:
        return ()
    items = counted(power.items, "item")
    if power.smallest_difference is None:
        few = f"{items} {'is' if power.items == 1 else 'are'} too few"
        return (f"{few} for any difference to be found.",)
    points = f"a difference of {100 * power.smallest_difference:.0f} points or more"
    assumed = f"{power.method}, nothing flipping the other way"
    return (f"{items} can show {points} ({assumed}).",)


def as_json(comparison: Comparison, statistics: Statistics) -> dict[str, object]:
    """Return a comparison as plain JSON values; NaN becomes None."""
    return {
        "first": plain(comparison.first),
        "second": plain(comparison.second),
        "summary": summary_sentence(comparison),
        "watermark": comparison.watermark,
        "family": statistics.adjustment.sentence,
        "first_compared_at": comparison.looked.at,
        "methods": list(methods_of(statistics, comparison.words)),
        "differences": _rows(groups_table(comparison, statistics)),
        "flips_by_cause": plain(comparison.causes),
        "paired": _paired(comparison.pairing),
        "images": plain(comparison.asked.images),
        "prompts": [plain(p) | {"same": p.same} for p in comparison.asked.prompts],
        "settings": _rows(settings_table(comparison)),
    }


def _rows(table: Table) -> list[dict[str, object]]:
    return [
        dict(zip(table.header, map(_known_number, row), strict=True))
        for row in table.rows
    ]


def _paired(pairing: Pairing) -> dict[str, object]:
    return {
        "compared": len(pairing.scored),
        "excluded": [pair.first.item for pair in pairing.excluded],
        "pending": [pair.first.item for pair in pairing.pending],
        "only_first": [one.item for one in pairing.only_first],
        "only_second": [one.item for one in pairing.only_second],
    }


def _known_number(value: object) -> object:
    # NaN is unequal to itself, and JSON has none.
    return None if value != value else value
