"""Hit rates by the area of the mask, and by the coverage that makes a cell a hit.

The paper names both as limits of a single hit rate (Gosai 2025, section 5).
"""

from collections.abc import Sequence
from typing import Final

from viewer.domain.figure import (
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
_WHISKERS: Final = "95 % interval"
_UNNUMBERED: Final = ""
"""Neither figure is in the paper."""


def area_figure(rows: Sequence[Record]) -> RateFigure | None:
    """Return the rates by area, a panel for each grid; None without any mask.

    ``rows`` are those of the table of areas.
    """
    pooled = _unvaried(rows, MICRO)
    grids = dict.fromkeys(row["condition"] for row in pooled)
    if not grids:
        return None
    caption = (
        "All findings and views. Area: share of the square sent that the mask covers. "
        f"Whiskers: {CI_CAPTION}; dashes: {CHANCE}, which hits large masks more often; "
        "n below each bar."
    )
    return RateFigure(
        FigureHead("mask_areas", _UNNUMBERED, _AREA, caption),
        tuple(_panel(grid, pooled) for grid in grids),
        _WHISKERS,
        CHANCE,
        in_order=True,
    )


def area_bars(rows: Sequence[Record], condition: str) -> BarFigure:
    """Return the rates by area under one grid, for a report."""
    panel = _panel(condition, _unvaried(rows, MICRO))
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


def _panel(condition: str, pooled: Sequence[Record]) -> RatePanel:
    mine = [row for row in pooled if row["condition"] == condition]
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


def threshold_figure(rows: Sequence[Record]) -> PlotFigure | None:
    """Return each model's mean over findings by threshold; None without masks.

    ``rows`` are those of the table of thresholds.
    """
    means = _unvaried(rows, MACRO)
    grids = dict.fromkeys(row["condition"] for row in means)
    if not grids:
        return None
    caption = (
        "Mean of findings, all views, if a cell were a hit from another coverage on: "
        "the same answers, scored again. Where no cell of a mask reaches the "
        "threshold, every cell that it touches is a hit, so a curve can rise. The "
        "table of thresholds says how often that is, and has intervals."
    )
    return PlotFigure(
        FigureHead(
            "coverage_thresholds",
            _UNNUMBERED,
            "Hit rate by threshold of coverage",
            caption,
        ),
        tuple(PlotPanel(spoken(grid), _curves(grid, means)) for grid in grids),
        "Coverage of a hit, at least (%)",
        "Hit rate (%)",
        joined=True,
        one_scale=True,
    )


def _curves(condition: str, means: Sequence[Record]) -> tuple[PlotSeries, ...]:
    mine = [row for row in means if row["condition"] == condition]
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


def _unvaried(rows: Sequence[Record], finding: str) -> list[Record]:
    """Return the rows of a finding, without the grids that an ablation varies."""
    return [
        row
        for row in rows
        if row["finding"] == finding and not is_varied(row["condition"])
    ]
