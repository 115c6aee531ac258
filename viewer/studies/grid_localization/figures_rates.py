"""Hit rates as grouped bars: Fig. 2 and Fig. 6 of Gosai 2025 (E000-28)."""

from collections.abc import Mapping, Sequence
from typing import Final

from viewer.domain.figure import FigureHead, PublishedMark, RateFigure, RatePanel
from viewer.domain.figure_order import by_relative_difference
from viewer.studies.grid_localization.asked import MACRO, spoken
from viewer.studies.grid_localization.published import HIT_RATES, SOURCE
from viewer.studies.grid_localization.rates import Record, bars, column
from viewer.studies.tables import ALL_VIEWS, MICRO

MEAN: Final = "Mean of findings"
CHANCE: Final = "random cell"
_SD: Final = "bootstrap SD over items"
_PUBLISHED_MEAN: Final = "Mean of nine findings"


def hit_rates(
    records: Sequence[Record],
    grid: str,
    order: tuple[str, str] | None,
    *,
    unlike_paper: str,
) -> RateFigure:
    """Return Fig. 2 of a grid: findings by the relative difference of two series.

    ``order`` names them: models, ``CHANCE`` or those whose values are printed; without
    it the first two models, or the first and chance. Only an 8 × 8 grid is beside the
    paper's values, and only where no sentence ``unlike_paper`` says what is otherwise.
    """
    mine = [r for r in records if r["grid"] == grid and _over_all_views(r)]
    models = tuple(dict.fromkeys(str(r["model"]) for r in mine))
    findings = tuple(dict.fromkeys(str(r["finding"]) for r in mine))
    caption = (
        f"{spoken(grid)}, all views. Bars: hit rate; whiskers: {_SD}; dashes: "
        f"{CHANCE}; n below each bar."
    )
    marks = () if unlike_paper or grid != "8" else _marks(findings)
    if marks:
        caption += f" Open diamonds: {SOURCE}, printed values without error bars."
    elif unlike_paper and grid == "8":
        caption += f" Without the paper's values: {unlike_paper}."
    panel = _panel("", findings, {m: (m, grid) for m in models}, mine, marks)
    name, title = f"fig2_hit_rates_{grid}", "Hit rate by finding"
    head = FigureHead(name, "Figure 2", title, caption, grid=grid)
    figure = RateFigure(head, (panel,), _SD, CHANCE, summary=MEAN)
    return by_relative_difference(figure, *(order or (*models[:2], CHANCE)[:2]))


def grid_sizes(records: Sequence[Record]) -> RateFigure | None:
    """Return Fig. 6, each model's grids side by side; None with one grid alone."""
    mine = [r for r in records if _over_all_views(r)]
    grids = tuple(dict.fromkeys(str(r["grid"]) for r in mine))
    models = tuple(dict.fromkeys(str(r["model"]) for r in mine))
    findings = tuple(dict.fromkeys(str(r["finding"]) for r in mine))
    if len(grids) < 2:
        return None
    panels = tuple(
        _panel(model, findings, {spoken(g): (model, g) for g in grids}, mine, ())
        for model in models
    )
    caption = (
        f"The same items under each grid, all views. Bars: hit rate; whiskers: {_SD}; "
        f"dashes: {CHANCE} of that grid; n below each bar."
    )
    head = FigureHead("fig6_grid_sizes", "Figure 6", "Hit rate by grid size", caption)
    return RateFigure(head, panels, _SD, CHANCE, one_model=True, summary=MEAN)


def _panel(
    title: str,
    findings: Sequence[str],
    series: Mapping[str, tuple[str, str]],
    records: Sequence[Record],
    marks: tuple[PublishedMark, ...],
) -> RatePanel:
    """Return a panel of series, each a model and a grid by its name."""
    by_key = {(r["finding"], r["model"], r["grid"]): r for r in records}
    rows = {n: [by_key.get((f, *of)) for f in findings] for n, of in series.items()}
    return RatePanel(
        title,
        tuple(MEAN if f == MACRO else f for f in findings),
        tuple(bars(name, of_series) for name, of_series in rows.items()),
        tuple(column(of_series, "random_baseline") for of_series in rows.values()),
        marks,
    )


def _marks(findings: Sequence[str]) -> tuple[PublishedMark, ...]:
    places = {**{f: f for f in findings}, _PUBLISHED_MEAN: MEAN}
    return tuple(
        PublishedMark(places[row.finding], row.who, row.value / 100)
        for row in HIT_RATES
        if row.finding in places
    )


def _over_all_views(record: Record) -> bool:
    return (record["view"], record["finding"] == MICRO) == (ALL_VIEWS, False)
