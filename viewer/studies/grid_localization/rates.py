"""The rows of results.csv, prepared for other tables and figures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from viewer.domain.grid import grids_in_words
from viewer.domain.report import BarFigure, BarSeries, Table
from viewer.metrics.power import RATE_METHOD, rate_power
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.spec import ListSpec, Shown
from viewer.studies.grid_localization.asked import MACRO, spoken
from viewer.studies.grid_localization.plan import is_varied
from viewer.studies.grid_localization.shown import NAMES, N
from viewer.studies.tables import ALL_VIEWS, MICRO

Record = Mapping[str, Any]
SMALL: Final = "small_numbers"
FEW: Final = 30
"""So many trials are few."""


def with_rates(results: Table) -> Table:
    """Return results.csv with derived columns.

    ``grid`` is the condition without the word, ``n`` the trials in the denominator and
    ``answered_only`` the rate among replies that name a cell, which no mean has.
    """
    header = (*results.header, "grid", "n", "answered_only")
    rows = zip(results.rows, results.records(), strict=True)
    return Table(
        results.name, header, tuple((*row, *_beside(record)) for row, record in rows)
    )


def _beside(record: Record) -> tuple[str, int, float | None]:
    scored = 0 if record["finding"] == MACRO else record["n_scored"]
    return (
        record["condition"].removeprefix("grid="),
        record["n_planned"] - record["n_excluded"] - record["n_pending"],
        record["k"] / scored if scored else None,
    )


def small_frame(rates: Sequence[Record]) -> Frame:
    """Return the lowest rate above chance that few trials of a finding can show.

    Trials are treated as independent; several of one patient show less.
    """
    header = ("finding", "grid", "n", "random", "fewest_hits", "smallest_rate")
    return frame_of_rows(header, dict.fromkeys(_few(rates)))


def _few(rates: Sequence[Record]) -> Iterator[tuple[object, ...]]:
    for row in rates:
        single = row["finding"] not in {MACRO, MICRO} and row["view"] == ALL_VIEWS
        if single and 0 < row["n"] <= FEW and not is_varied(row["condition"]):
            power = rate_power(row["n"], row["random_baseline"])
            grid = grids_in_words(row["condition"])
            found = power.fewest_hits, power.smallest_rate
            yield row["finding"], grid, row["n"], row["random_baseline"], *found


SMALL_NUMBERS: Final = ListSpec(
    SMALL,
    title="Smallest hit rates that few trials can detect",
    text=f"With {FEW} trials or fewer, only large effects can be distinguished from a "
    f"random cell: {RATE_METHOD}, assuming independent trials. A dash: not even all "
    "hits would suffice.",
    frame=SMALL,
    shown=(
        *("finding", "grid", N, Shown("random", "Random %", ".1f", 100)),
        Shown("fewest_hits", "Hits to be above random"),
        Shown("smallest_rate", "Smallest detectable rate %", ".1f", 100),
    ),
)


def rate_figure(rates: Sequence[Record], condition: str) -> BarFigure:
    """Return grouped bars of hit rates over all views, the macro mean last."""
    shown = [
        row
        for row in rates
        if row["condition"] == condition
        and row["view"] == ALL_VIEWS
        and row["finding"] != MICRO
    ]
    findings = tuple(dict.fromkeys(row["finding"] for row in shown))
    models = tuple(dict.fromkeys(row["model"] for row in shown))
    by_key = {(row["model"], row["finding"]): row for row in shown}
    baseline = {row["finding"]: row["random_baseline"] for row in reversed(shown)}
    return BarFigure(
        file_name=f"hit_rate_{condition.replace('=', '_')}.svg",
        title=f"Hit rate by finding, {spoken(condition)}, all views",
        y_label="Hit rate",
        error_name="bootstrap SD over items",
        groups=tuple(NAMES.get(finding, finding) for finding in findings),
        series=tuple(
            bars(model, [by_key.get((model, finding)) for finding in findings])
            for model in models
        ),
        baseline_name="random cell",
        baseline=tuple(baseline[finding] for finding in findings),
    )


def bars(name: str, rows: Sequence[Record | None]) -> BarSeries:
    """Return rates as a series of bars, None if there is no row."""
    return BarSeries(
        name,
        column(rows, "hit_rate"),
        column(rows, "bootstrap_sd"),
        tuple(row["n"] if row else 0 for row in rows),
    )


def column(rows: Sequence[Record | None], name: str) -> tuple[float | None, ...]:
    """Return a column of some rows, None if there is no row."""
    return tuple(row[name] if row else None for row in rows)
