"""Export of a comparison: tables, plain values and its figure."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

from viewer.domain.forest import ForestFigure, ForestRow
from viewer.domain.study_words import StudyWords
from viewer.services.comparing.family import Adjusted
from viewer.services.comparing.runs import (
    Comparison,
    Statistics,
    condition_words,
    p_text,
    rates_of,
)
from viewer.services.comparing.statistics import (
    MACRO,
    MICRO,
    GroupCounts,
    GroupTests,
)
from viewer.services.comparing.tables import (
    as_json,
    compared_items,
    groups_table,
    settings_table,
)
from viewer.writers.files import write_atomically
from viewer.writers.forest import forest_svg
from viewer.writers.tables import csv_bytes

_ALONE, _NO_INTERVAL = " · one patient", "; one patient gives no interval"


def write_comparison(
    comparison: Comparison, statistics: Statistics, out: Path
) -> tuple[Path, ...]:
    """Write a comparison into a folder; return the files written.

    ``differences.csv``, ``items.csv`` (every item of either side), ``settings.csv``,
    ``comparison.json`` and ``differences.svg``. WrongUseError if the folder cannot be
    written to.
    """
    tables = (
        groups_table(comparison, statistics),
        compared_items(comparison),
        settings_table(comparison),
    )
    files = {f"{t.name}.csv": csv_bytes(t.header, t.rows) for t in tables}
    text = json.dumps(as_json(comparison, statistics), indent=2, ensure_ascii=False)
    files["comparison.json"] = f"{text}\n".encode()
    files["differences.svg"] = forest_svg(forest_of(comparison, statistics))
    for name, content in files.items():
        write_atomically(out / name, content)
    return tuple(out / name for name in files)


def forest_of(
    comparison: Comparison, statistics: Statistics, condition: str = ""
) -> ForestFigure:
    """Return the forest plot of a comparison, of one condition or of each."""
    counts = {group.key: group for group in comparison.groups}
    shown = [g for g in statistics.groups if condition in {"", g.condition}]
    several = len({tests.condition for tests in shown}) > 1
    adjusted = statistics.adjustment.by_group
    return ForestFigure(
        title=f"{comparison.first} against {comparison.second}",
        first=str(comparison.first),
        second=str(comparison.second),
        interval=_interval(shown),
        rows=tuple(
            _row(
                tests,
                counts.get(tests.key),
                adjusted.get(tests.key),
                rates_of(comparison, tests),
                _name(tests, comparison.words, several=several),
            )
            for tests in shown
        ),
        watermark=comparison.watermark,
        models=(comparison.first.model, comparison.second.model),
    )


def _interval(shown: Sequence[GroupTests]) -> str:
    """Return the method of the intervals, by the shortest name."""
    given = [tests.difference for tests in shown if not _alone(tests)]
    method = min((one.method for one in given), key=len, default="")
    if len(given) == len(shown):
        return method
    return f"{method}{_NO_INTERVAL}" if given else "none: one patient gives no interval"


def _alone(tests: GroupTests) -> bool:
    """Tell whether a group has only one patient, so that it has no interval."""
    return math.isnan(tests.difference.interval.low)


def _row(
    tests: GroupTests,
    counts: GroupCounts | None,
    adjusted: Adjusted | None,
    rates: tuple[float, float],
    name: str,
) -> ForestRow:
    difference = tests.difference
    found, alone = difference.interval, _alone(tests)
    return ForestRow(
        name=name,
        n=counts.table.items if counts else 0,
        value=difference.value,
        interval=None if alone else (found.low, found.high),
        first=rates[0],
        second=rates[1],
        note=_note(tests, adjusted) + _ALONE * alone,
        summary=counts is None or counts.pooled,
    )


def _name(tests: GroupTests, words: StudyWords, *, several: bool) -> str:
    """Return a row's name, with its condition if there are several."""
    together = {MACRO: f"mean over {words.findings}", MICRO: "all items"}
    name = together.get(tests.finding) or words.called("finding", tests.finding)
    where = f", {condition_words(words, tests.condition)}" if several else ""
    return f"{name}{where}"


def _note(tests: GroupTests, adjusted: Adjusted | None) -> str:
    raw = f"p {p_text(tests.permutation.p_value)}"
    if adjusted is None:
        return raw
    method = "Holm" if adjusted.primary else "BH"
    return f"{raw} · {method} {p_text(adjusted.permutation)}"
