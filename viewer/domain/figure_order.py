"""Order a figure's groups by the relative difference of two series (E000-28)."""

from collections.abc import Sequence
from dataclasses import replace

from viewer.domain.errors import WrongUseError
from viewer.domain.figure import Figure, RateFigure, RatePanel
from viewer.domain.report import BarSeries


def order_names(figure: RateFigure) -> tuple[str, ...]:
    """Return what groups can be ordered by: series, chance, and printed values."""
    panel = figure.panels[0]
    series = (one.name for one in panel.series)
    people = (mark.who for mark in panel.published)
    names = (*series, figure.baseline_name, *people)
    return tuple(dict.fromkeys(name for name in names if name))


def orders_of(figure: Figure) -> tuple[str, ...]:
    """Return the possible orders of a figure's groups; none for a single series."""
    if not isinstance(figure, RateFigure) or figure.one_model or figure.in_order:
        return ()
    names = order_names(figure)
    return names if len(names) > 1 else ()


def by_relative_difference(figure: RateFigure, above: str, below: str) -> RateFigure:
    """Return a figure with its groups by (above - below) / below, greatest first.

    Groups without one of the rates, or with a zero denominator, come after the others;
    the summary stays last. A name that is not among :func:`order_names` raises
    WrongUseError.
    """
    for name in (above, below):
        if name not in order_names(figure):
            raise WrongUseError(
                f"The figure has no series named '{name}' to order findings by.",
                f"Name two of {', '.join(order_names(figure))}.",
            )
    words = f"Groups by ({above} − {below}) / {below}, greatest first."
    panels = tuple(_ordered(panel, figure, above, below) for panel in figure.panels)
    return replace(figure, head=replace(figure.head, order=words), panels=panels)


def _ordered(panel: RatePanel, figure: RateFigure, above: str, below: str) -> RatePanel:
    places = sorted(
        range(len(panel.groups)), key=lambda i: _rank(panel, figure, i, above, below)
    )
    return replace(
        panel,
        groups=tuple(panel.groups[i] for i in places),
        series=tuple(_series_at(series, places) for series in panel.series),
        baselines=tuple(tuple(row[i] for i in places) for row in panel.baselines),
    )


def _rank(
    panel: RatePanel, figure: RateFigure, i: int, above: str, below: str
) -> tuple[bool, bool, float]:
    """Return a group's sort key: unranked groups come late, the summary last."""
    first = _value(panel, figure, i, above)
    second = _value(panel, figure, i, below)
    known = first is not None and bool(second)
    difference = (first - second) / second if first is not None and second else 0.0
    return panel.groups[i] == figure.summary, not known, -difference


def _value(panel: RatePanel, figure: RateFigure, i: int, name: str) -> float | None:
    if name == figure.baseline_name:
        chance = (values[i] for values in panel.baselines if values[i] is not None)
        return next(chance, None)
    for series in panel.series:
        if series.name == name:
            return series.values[i]
    marks = (m for m in panel.published if (m.group, m.who) == (panel.groups[i], name))
    return next((mark.value for mark in marks), None)


def _series_at(series: BarSeries, places: Sequence[int]) -> BarSeries:
    return replace(
        series,
        values=tuple(series.values[i] for i in places),
        errors=tuple(series.errors[i] for i in places),
        counts=tuple(series.counts[i] for i in places),
    )
