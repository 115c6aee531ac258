"""The data of the bar chart: rates by finding and model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from viewer.domain.figure import StackFigure
from viewer.domain.report import Table
from viewer.domain.study_words import PLACING, StudyWords, capital
from viewer.domain.styles import style_of
from viewer.ui.tables.columns import shown

_ALL_VIEWS: Final = "all"
_MICRO: Final = "(micro)"
_NOT_SETTLED: Final = ("n_excluded", "n_pending")


@dataclass(frozen=True, slots=True)
class Bar:
    """A model's rate in a group, 0-1; ``n`` trials are in its denominator.

    ``low`` and ``high`` are the ends of the 95 % interval, None if the rate is a mean
    of rates and has none.
    """

    model: str
    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class BarGroup:
    """A finding's bars, one per model; ``random`` is chance, None if unknown."""

    finding: str
    bars: tuple[Bar, ...]
    random: float | None


@dataclass(frozen=True, slots=True)
class BarChart:
    """A chart: its title, the models in the order of their colours, the groups.

    ``rate`` is what its bars are called.
    """

    title: str
    models: tuple[str, ...]
    groups: tuple[BarGroup, ...]
    rate: str = PLACING.rate


def bar_chart(
    table: Table, wanted: Mapping[str, str], words: StudyWords = PLACING
) -> BarChart:
    """Return the chart of the selected rows.

    ``wanted`` maps columns to values, "" for every one. Where no view is asked for,
    all views are shown together, and where no grid is, the first one. Models keep
    their place of the whole table, and so their colours.
    """
    records = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    models = tuple(dict.fromkeys(str(r["model"]) for r in records))
    view = wanted.get("view") or _ALL_VIEWS
    condition = wanted.get("condition") or next(
        (str(r["condition"]) for r in records), ""
    )
    chosen = {name: value for name, value in wanted.items() if value}
    fixed = {**chosen, "view": view, "condition": condition}
    rows = [r for r in records if _is_wanted(r, fixed)]
    findings = dict.fromkeys(str(r["finding"]) for r in rows)
    parts = (shown("condition", condition, words), shown("view", view, words))
    title = f"{capital(words.rate)} by {words.finding}, {', '.join(parts)}"
    return BarChart(
        title if rows else "",
        models,
        tuple(_group(finding, rows, words) for finding in findings),
        words.rate,
    )


def _is_wanted(record: Mapping[str, object], fixed: Mapping[str, str]) -> bool:
    if record["finding"] == _MICRO and fixed.get("finding") != _MICRO:
        return False
    return all(str(record[name]) == value for name, value in fixed.items())


def _group(
    finding: str, records: Sequence[Mapping[str, object]], words: StudyWords
) -> BarGroup:
    mine = [r for r in records if r["finding"] == finding]
    return BarGroup(
        shown("finding", finding, words),
        tuple(_bar(r) for r in mine),
        next((_rate(r.get("random_baseline")) for r in mine), None),
    )


def _bar(record: Mapping[str, object]) -> Bar:
    return Bar(
        str(record["model"]),
        _rate(record["hit_rate"]),
        _rate(record["ci_low"]),
        _rate(record["ci_high"]),
        _count(record["n_planned"])
        - sum(_count(record[name]) for name in _NOT_SETTLED),
    )


def _rate(value: object) -> float | None:
    return value if isinstance(value, float) else None


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def words_of_chart(chart: BarChart | StackFigure) -> str:
    """Return what a chart shows, group by group, for those who cannot see it."""
    if isinstance(chart, StackFigure):
        names = [style_of(segment).words for segment in chart.segments]
        stacks = (
            f"{stack.group}: {_counts_words(names, stack.counts)}"
            for stack in chart.stacks
        )
        return "; ".join(stacks)
    return "; ".join(
        f"{group.finding}: {', '.join(map(_bar_words, group.bars))}{_chance(group)}"
        for group in chart.groups
    )


def _counts_words(names: Sequence[str], counts: Sequence[float]) -> str:
    return ", ".join(f"{n:g} {name}" for n, name in zip(counts, names, strict=True))


def _bar_words(bar: Bar) -> str:
    """Return a bar in words: ``uniform 12 % (8 to 17 %) of 40``."""
    if bar.value is None:
        return f"{bar.model} no rate"
    ends = ""
    if bar.low is not None and bar.high is not None:
        ends = f" ({100 * bar.low:.0f} to {100 * bar.high:.0f} %)"
    return f"{bar.model} {100 * bar.value:.0f} %{ends} of {bar.n}"


def _chance(group: BarGroup) -> str:
    return "" if group.random is None else f", chance {100 * group.random:.0f} %"
