"""Hit rates by the area of the mask, and by the coverage that makes a cell a hit.

The paper names both as limits of a single hit rate (Gosai 2025, section 5).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.figure import (
    Figure,
    FigureHead,
    PlotFigure,
    PlotPanel,
    PlotSeries,
    RateFigure,
    RatePanel,
)
from viewer.domain.report import BarFigure
from viewer.studies.grid_localization.asked import MACRO, spoken
from viewer.studies.grid_localization.figures_rates import CHANCE, limited
from viewer.studies.grid_localization.frames import AREAS
from viewer.studies.grid_localization.plan import is_varied
from viewer.studies.grid_localization.rates import Record, column
from viewer.studies.tables import CI_CAPTION, MICRO

_AREA: Final = "Hit rate by area of the mask"
_OF_AREAS: Final = (
    "All findings and views. Area: share of the square sent that the mask covers. "
    f"Whiskers: {CI_CAPTION}; dashes: {CHANCE}, which hits large masks more often; "
    "n below each bar."
)
_OF_THRESHOLDS: Final = (
    "Mean of findings, all views, if a cell were a hit from another coverage on: the "
    "same answers, scored again. Where no cell of a mask reaches the threshold, every "
    "cell that it touches is a hit, so a curve can rise. The table of thresholds says "
    "how often that is, and has intervals."
)
_WHISKERS: Final = "95 % interval"
_UNNUMBERED: Final = ""
"""Neither figure is in the paper."""


def mask_figures(
    areas: Sequence[Record], thresholds: Sequence[Record]
) -> Iterator[Figure]:
    """Yield the rates by area and the curves over thresholds, a panel for each grid.

    ``areas`` and ``thresholds`` are the rows of their tables, none without any mask.
    """
    if bars := [_panel(grid, of) for grid, of in _by_grid(areas, MICRO).items()]:
        yield RateFigure(
            FigureHead("mask_areas", _UNNUMBERED, _AREA, _OF_AREAS),
            tuple(bars),
            _WHISKERS,
            CHANCE,
            in_order=True,
        )
    means = _by_grid(thresholds, MACRO)
    if curves := [PlotPanel(spoken(grid), _curves(of)) for grid, of in means.items()]:
        title = "Hit rate by threshold of coverage"
        yield PlotFigure(
            FigureHead("coverage_thresholds", _UNNUMBERED, title, _OF_THRESHOLDS),
            tuple(curves),
            "Coverage of a hit, at least (%)",
            "Hit rate (%)",
            joined=True,
            one_scale=True,
        )


def area_bars(rows: Sequence[Record], condition: str) -> BarFigure:
    """Return the rates by area under one grid, for a report."""
    panel = _panel(condition, _by_grid(rows, MICRO).get(condition, ()))
    return BarFigure(
        file_name=f"mask_areas_{condition.replace('=', '_')}.svg",
        title=f"{_AREA}, {panel.title}, all findings and views",
        y_label="Hit rate",
        error_name=_WHISKERS,
        groups=panel.groups,
        series=panel.series,
        baseline_name=CHANCE,
        baseline=panel.baselines[0] if panel.baselines else (),
    )


def _panel(condition: str, mine: Sequence[Record]) -> RatePanel:
    found = {(row["area"], row["model"]): row for row in mine}
    groups = tuple(one for one in AREAS if any(row["area"] == one for row in mine))
    models = tuple(dict.fromkeys(row["model"] for row in mine))
    own = [[found.get((area, model)) for area in groups] for model in models]
    return RatePanel(
        spoken(condition),
        groups,
        tuple(limited(model, of) for model, of in zip(models, own, strict=True)),
        tuple(column(of, "random_baseline") for of in own),
    )


def _curves(mine: Sequence[Record]) -> tuple[PlotSeries, ...]:
    models = dict.fromkeys(row["model"] for row in mine)
    named = [(model, model, "hit_rate") for model in models]
    named += [(CHANCE, model, "random_baseline") for model in list(models)[:1]]
    return tuple(
        PlotSeries(
            name,
            tuple(float(row["threshold"]) for row in mine if row["model"] == model),
            tuple(100 * row[of] for row in mine if row["model"] == model),
        )
        for name, model, of in named
    )


def _by_grid(rows: Sequence[Record], finding: str) -> Mapping[str, Sequence[Record]]:
    """Return the rows of a finding by grid, without grids that an ablation varies."""
    found: dict[str, list[Record]] = {}
    for row in rows:
        if row["finding"] == finding and not is_varied(row["condition"]):
            found.setdefault(row["condition"], []).append(row)
    return found
