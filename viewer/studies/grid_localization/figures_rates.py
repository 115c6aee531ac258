"""Hit rates as grouped bars: Fig. 2 and Fig. 6 of Gosai 2025 (E000-28)."""

from collections.abc import Mapping, Sequence
from typing import Final

from viewer.domain.figure import FigureHead, PublishedMark, RateFigure, RatePanel
from viewer.domain.figure_order import by_relative_difference
from viewer.domain.report import BarSeries
from viewer.studies.grid_localization.asked import MACRO, spoken
from viewer.studies.grid_localization.published import CNN, HIT_RATES, HUMAN, SOURCE
from viewer.studies.grid_localization.rates import Record, bars, column
from viewer.studies.tables import ALL_VIEWS, CI_CAPTION, MICRO

MEAN: Final = "Mean of findings"
CHANCE: Final = "random cell"
READERS: Final = "radiologists"
"""The series of the readers whose points come with the data set."""
_RULES: Final = {"cell": "Rule of cells", "pointing": "Rule of points"}
_POINTING: Final = (CNN, HUMAN)
"""Whose printed values are of points on the mask."""
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


def both_rules(
    records: Sequence[Record],
    models: Sequence[Record],
    people: Sequence[Record],
    grid: str,
    *,
    unlike_paper: str,
) -> RateFigure | None:
    """Return Fig. 2 with everybody under both rules (X-03); None for cells alone.

    ``records`` are the rates by cells, ``models`` and ``people`` the rates under both
    rules: of models, one of which answers otherwise than with cells, and of the data
    set's radiologists.
    """
    condition = f"grid={grid}"
    mine = [r for r in records if r["grid"] == grid and _over_all_views(r)]
    told = [{**r, "rule": "cell"} for r in mine]
    ruled = [
        r for r in models if (r["condition"], r["rule"]) == (condition, "pointing")
    ]
    people = [{**r, "model": READERS} for r in people if r["condition"] == condition]
    if not (ruled or people) or not mine:
        return None
    findings = tuple(dict.fromkeys(str(r["finding"]) for r in mine))
    every = [*told, *ruled, *people]
    names = dict.fromkeys(str(r["model"]) for r in every)
    marks = () if unlike_paper or grid != "8" else _marks(findings)
    panels = tuple(
        _ruled(title, rule, findings, tuple(names), every, marks)
        for rule, title in _RULES.items()
    )
    caption = (
        f"{spoken(grid)}, all views, the items of this run. Above, the cell that holds "
        "the answer's point is a hit cell; below, the point lies on the mask. A cell's "
        f"point is its centre. Whiskers: {CI_CAPTION}; dashes: {CHANCE}."
    )
    if marks:
        caption += f" Open diamonds: {SOURCE}, each under the rule it was printed for."
    head = FigureHead(
        f"fig2_rules_{grid}",
        "Figure 2",
        "Hit rate by finding under both rules",
        caption,
        grid=grid,
    )
    return RateFigure(
        head, panels, "95 % interval", CHANCE, summary=MEAN, in_order=True
    )


def _ruled(
    title: str,
    rule: str,
    findings: Sequence[str],
    names: Sequence[str],
    every: Sequence[Record],
    marks: Sequence[PublishedMark],
) -> RatePanel:
    """Return the panel of a rule; who is not known under it has no bar there."""
    found = {(r["finding"], r["model"]): r for r in every if r["rule"] == rule}
    rows = [[found.get((finding, name)) for finding in findings] for name in names]
    chance = "random_baseline" if rule == "cell" else ""
    return RatePanel(
        title,
        tuple(MEAN if f == MACRO else f for f in findings),
        tuple(limited(name, own) for name, own in zip(names, rows, strict=True)),
        tuple(tuple(r.get(chance) if r else None for r in own) for own in rows),
        tuple(m for m in marks if (m.who in _POINTING) == (rule == "pointing")),
    )


def limited(name: str, rows: Sequence[Record | None]) -> BarSeries:
    """Return rates as a series of bars with their intervals."""
    return BarSeries(
        name,
        column(rows, "hit_rate"),
        (None,) * len(rows),
        tuple(row["n"] if row else 0 for row in rows),
        tuple(
            (row["ci_low"], row["ci_high"])
            if row and row["ci_low"] is not None
            else None
            for row in rows
        ),
    )


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
