"""The pack's tables at full precision; paper and recommended numbers never mix (X-02).

Rates are taken from results.csv; nothing is estimated again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from viewer.domain.case import NAMED_VIEWS
from viewer.domain.finding_names import concept
from viewer.domain.report import ReportData, Section, Table
from viewer.results.evaluate import evaluate, evaluate_all
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.page import Printed, PrintedTables, sections
from viewer.results.spec import Cell, Key, ListSpec, Shown, Spec, TableSpec, Where
from viewer.studies.grid_localization.asked import MACRO, spoken
from viewer.studies.grid_localization.errors_by_class import (
    ERROR_CLASSES,
    error_classes,
)
from viewer.studies.grid_localization.frames import REFERENCES, reference_frame
from viewer.studies.grid_localization.params import read_params
from viewer.studies.grid_localization.placed import placed_trials
from viewer.studies.grid_localization.plan import is_varied
from viewer.studies.grid_localization.published import (
    CNN,
    ERROR_SHARES,
    GPT_4,
    GPT_5,
    HIT_RATES,
    HUMAN,
    MEAN,
    MEDGEMMA,
    SOURCE,
    WITHOUT_HALF,
)
from viewer.studies.grid_localization.rates import with_rates
from viewer.studies.grid_localization.reader_ceiling import (
    CEILINGS,
    READER_CEILING,
    ceiling_frame,
)
from viewer.studies.grid_localization.shown import (
    FINDING,
    OF_GAIN,
    interval,
    k_of_n,
    percent,
    points,
)
from viewer.studies.packs import PackInput
from viewer.studies.tables import ALL_VIEWS, COUNTS, INTERVAL, MICRO

RATES: Final = "rates"
_PAPERS_GRID: Final = "8"
_WHAT: Final = ("finding", "view", "grid", "model", *COUNTS, "k", "n")
PAPER: Final = ListSpec(
    "hit_rates_paper",
    (*_WHAT, "hit_rate", "bootstrap_sd", "random_baseline"),
    frame=RATES,
)
RECOMMENDED: Final = ListSpec(
    "hit_rates_recommended",
    (
        *(*_WHAT, "hit_rate", *INTERVAL, "location_prior"),
        *("gain", "gain_low", "gain_high", "answered_only"),
    ),
    frame=RATES,
)
FALLBACK: Final = TableSpec(
    "fallback",
    (Key("grid"),),
    (
        Cell("size", ("pairs",)),
        Cell("sum", ("fallback_pairs",), ("fallback",)),
        Cell("share", ("share_of_pairs",), ("fallback",)),
        Cell(
            "rate of distinct",
            ("fallback_images", "images", "share_of_images"),
            ("image", "fallback"),
        ),
    ),
    "References without a half-covered cell",
    "Pairs of image and finding, and images, in which no cell is half covered: there, "
    "any cell that touches the mask is a hit.",
    REFERENCES,
    {"qualifies": (True,)},
    shown=(
        "grid",
        *(
            Shown(f"share_of_{of}", f"{of.title()} %", ".1f", 100, counts=counts)
            for of in ("pairs", "images")
            for counts in [(f"fallback_{of}", of)]
        ),
    ),
)
"""How many pairs and images have no cell that is half covered (E000-16)."""
_IN_THE_RUN: Final = frozenset({"items", "results", "geometry"})
"""Tables of trials, which lie in the run's own folder."""


_PRINTED: Final = "printed"
"""The frame of the paper's hit rates, by the findings of the run."""
_COLUMNS: Final = {
    GPT_5: "GPT-5",
    GPT_4: "GPT-4",
    MEDGEMMA: "MedGemma",
    CNN: "CNN",
    HUMAN: "Radiologists",
}
_PUBLISHED: Final = f"Published, % ({HIT_RATES[0].table})"


def _printed_rates(rates: Table, *, incomplete: bool) -> Frame:
    """Return the printed hit rates; none beside a run that is not complete."""
    own = {MEAN: MACRO, **{concept(f): f for f in _values(rates, "finding")}}
    rows = (
        (own[name], one.who, one.value / 100)
        for one in (() if incomplete else HIT_RATES)
        if (name := one.finding if one.finding == MEAN else concept(one.finding)) in own
    )
    return frame_of_rows(("finding", "who", "printed"), rows)


def _paper_tables() -> PrintedTables:
    """Return the rows of the paper that belong under tables of one grid."""
    anatomy = (
        {
            "finding": MEAN,
            "grid": _PAPERS_GRID,
            "model": one.who,
            "anatomy": f"{one.printed} %",
        }
        for one in ERROR_SHARES
    )
    return {
        ERROR_CLASSES.name: (Printed(SOURCE, ERROR_SHARES[0].table, tuple(anatomy)),),
        FALLBACK.name: (
            Printed(
                SOURCE,
                WITHOUT_HALF.table,
                ({"grid": _PAPERS_GRID, "share_of_images": WITHOUT_HALF.printed},),
            ),
        ),
    }


def pack_tables(given: PackInput) -> tuple[tuple[Table, ...], tuple[Section, ...]]:
    """Return the pack's tables and pages, then what else its run's report has."""
    params = read_params(given.spec.preset, given.spec.params)
    placed = placed_trials(given.results, params, given.dataset)
    rates = rates_of(given.report)
    frames = {
        RATES: frame_of_rows(rates.header, rates.rows),
        REFERENCES: reference_frame(placed),
        _PRINTED: _printed_rates(rates, incomplete=given.report.incomplete),
    }
    paper = {} if given.report.incomplete else _paper_tables()
    grids = _values(rates, "grid")
    sizes = _grid_sizes(rates, grids)
    frames[CEILINGS] = ceiling_frame(placed, params, given.dataset)
    several = (READER_CEILING,) if len(frames[CEILINGS]) else ()
    made = evaluate_all((PAPER, RECOMMENDED, sizes, FALLBACK, *several), frames)
    made = (*made, error_classes(given.results, given.reviews))
    wide: tuple[Spec, ...] = tuple(_wide_specs(rates))
    own = (sections([one], [evaluate(one, frames)]) for one in (*wide, _TRIALS))
    pages = (
        *chain(*own),
        *sections((sizes, *several, ERROR_CLASSES, FALLBACK), made, paper),
    )
    report = given.report
    more = (one for one in report.tables if one.name not in _IN_THE_RUN)
    others = (*report.sections, *report.appendix)
    return (
        (*made, *more),
        (*pages, *(one for one in others if one.table.name != rates.name)),
    )


def rates_of(report: ReportData) -> Table:
    """Return the rows of a report's results.csv, with what else its columns tell.

    Without those of grids that an ablation varies.
    """
    found = next(t for t in report.tables if t.name == "results")
    place = found.header.index("condition")
    own = tuple(row for row in found.rows if not is_varied(str(row[place])))
    return with_rates(replace(found, rows=own))


def _values(rates: Table, column: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row[column] for row in rates.records()))


def _grid_sizes(rates: Table, grids: Sequence[str]) -> TableSpec:
    """Return the hit rates of every grid side by side (Gosai 2025, Fig. 6)."""
    findings = tuple(f for f in _values(rates, "finding") if f != MICRO)
    return TableSpec(
        "grid_sizes",
        (Key("finding"), Key("model")),
        tuple(
            Cell("first", (f"hit_rate_{grid}",), ("hit_rate",), {"grid": (grid,)})
            for grid in grids
        ),
        "Hit rates by grid size",
        "Hit rates of the grids side by side, all views.",
        RATES,
        {"view": (ALL_VIEWS,), "finding": findings},
        shown=(
            *(FINDING, "model"),
            *(percent(f"hit_rate_{grid}", f"{spoken(grid)} %") for grid in grids),
        ),
    )


_TRIALS: Final = ListSpec(
    "trials",
    title="Outcomes of the trials",
    text="Outcome of every trial.",
    frame=RATES,
    where={"finding": (MICRO,), "view": (ALL_VIEWS,)},
    shown=(
        *("grid", "model"),
        *(Shown(name, name.removeprefix("n_").capitalize()) for name in COUNTS),
        Shown("k", "Hits"),
    ),
)
_PAPER_TEXT: Final = (
    "Hit rate in per cent ± bootstrap SD over items, as in the paper. Every planned "
    "trial that was not excluded counts; anything but a correct cell is a miss. n is "
    "the number of trials."
)
_RECOMMENDED_TEXT: Final = (
    "k / n and the hit rate with its 95 % interval in per cent, by patient (Clopper "
    "and Pearson). The gain over the location prior is the hit rate minus that of the "
    "answers given for other patients with the finding and view, in percentage points, "
    "with a jackknife interval over patients."
)


def _wide_specs(rates: Table) -> Iterator[TableSpec]:
    """Yield a page's tables: one for each grid and view, columns by model."""
    views = {"all": "all views", **{view: view for view in NAMED_VIEWS}}
    places = {(row["grid"], row["view"]) for row in rates.records()}
    for name, title, text in (
        (PAPER.name, "Hit rates as in the paper", _PAPER_TEXT),
        (RECOMMENDED.name, "Hit rates as recommended", _RECOMMENDED_TEXT),
    ):
        for grid, view in sorted(places, key=_place):
            words = f"{title}, {spoken(grid)}, {views.get(view, view)}"
            where = {"grid": (grid,), "view": (view,)}
            spec = _wide(name, words, text, where, _values(rates, "model"))
            is_papers = (name, grid, view) == (PAPER.name, _PAPERS_GRID, ALL_VIEWS)
            yield _with_printed(spec) if is_papers else spec


def _place(grid_and_view: tuple[str, str]) -> tuple[int, bool, str]:
    """Order grids by their rows, and all views together before each."""
    grid, view = grid_and_view
    return int(grid.partition("x")[0]), view != ALL_VIEWS, view


def _wide(
    name: str, title: str, text: str, where: Where, models: Sequence[str]
) -> TableSpec:
    """Return one row per finding, the columns of each model together."""
    paper = name == PAPER.name
    columns = (PAPER if paper else RECOMMENDED).columns
    of_model = _paper_columns if paper else _recommended_columns
    random = ("random_baseline",)
    return TableSpec(
        name,
        (Key("finding"),),
        (
            *(
                Cell(
                    "first",
                    tuple(f"{model} {column}" for column in columns),
                    columns,
                    {"model": (model,)},
                )
                for model in models
            ),
            Cell("first", random, random),
        ),
        title,
        text,
        RATES,
        where,
        shown=(
            FINDING,
            *(column for model in models for column in of_model(model)),
            *((percent(*random, "Random %"),) if paper else ()),
        ),
    )


def _with_printed(spec: TableSpec) -> TableSpec:
    """Return the table that has the paper's own rates beside a run's."""
    cells = (
        Cell("first", (who,), ("printed",), {"who": (who,)}, frame=_PRINTED)
        for who in _COLUMNS
    )
    shown = (
        Shown(who, header, ".1f", 100, group=_PUBLISHED, none="", published=True)
        for who, header in _COLUMNS.items()
    )
    return replace(
        spec,
        text=f"{spec.text} Published: {SOURCE}; its CNN and its radiologists hit with "
        "points, not cells.",
        cells=(*spec.cells, *cells),
        shown=(*spec.shown, *shown),
    )


def _paper_columns(model: str) -> Iterator[Shown]:
    yield Shown(f"{model} n", "n", group=model)
    yield percent(f"{model} hit_rate", "Hit rate %", group=model)
    yield percent(f"{model} bootstrap_sd", "± SD", group=model)


def _recommended_columns(model: str) -> Iterator[Shown]:
    yield k_of_n(f"{model} k", f"{model} n", group=model)
    yield percent(f"{model} hit_rate", "Hit rate %", group=model)
    yield interval(f"{model} ci", group=model)
    yield points(f"{model} gain", "Gain", group=model)
    ends = f"{model} gain_low", f"{model} gain_high"
    yield points(ends[0], OF_GAIN, also=ends[1], group=model)
