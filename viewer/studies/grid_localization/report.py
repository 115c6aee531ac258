"""The tables, figures and page of a run, as data that writers draw."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from viewer.domain.answer import CellAnswer, PointAnswer, Status
from viewer.domain.case import Dataset
from viewer.domain.counting import counted
from viewer.domain.geometry import PointPx
from viewer.domain.plain import plain
from viewer.domain.reference import Mask
from viewer.domain.report import BarFigure, ReportData, Section, Table
from viewer.domain.result import TrialResult
from viewer.domain.rle import decode_runs
from viewer.domain.run import RunSpec
from viewer.results.evaluate import evaluate_all
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.page import sections
from viewer.results.records import NOT_COUNTED
from viewer.results.spec import TIME, Cell, Key, ListSpec, Shown, Spec, TableSpec
from viewer.studies.grid_localization.absent import present
from viewer.studies.grid_localization.asked import MACRO, Asked, asked
from viewer.studies.grid_localization.benchmark import (
    PUBLISHED,
    PUBLISHED_TABLE,
    published_frame,
)
from viewer.studies.grid_localization.claims import CLAIMS, CLAIMS_TABLE, claim_frame
from viewer.studies.grid_localization.dataset_counts import (
    KNOWN_TABLE,
    dataset_frames,
    dataset_specs,
)
from viewer.studies.grid_localization.definitions import metric_definitions
from viewer.studies.grid_localization.detection_table import (
    BOXES,
    DETECTION_TABLES,
    box_frame,
    detected_spec,
)
from viewer.studies.grid_localization.few_shot import (
    EXAMPLES,
    example_frame,
    examples_spec,
)
from viewer.studies.grid_localization.figures_masks import area_bars
from viewer.studies.grid_localization.frames import trial_frames
from viewer.studies.grid_localization.missing_findings import missing_findings
from viewer.studies.grid_localization.params import Params, read_params
from viewer.studies.grid_localization.placed import PlacedTrial, placed_trials
from viewer.studies.grid_localization.places import GridPlaces
from viewer.studies.grid_localization.plan import (
    condition_named,
    conditions,
    is_varied,
)
from viewer.studies.grid_localization.published import HIT_RATES, HUMAN, MEAN
from viewer.studies.grid_localization.rates import (
    SMALL,
    SMALL_NUMBERS,
    Record,
    rate_figure,
    small_frame,
    with_rates,
)
from viewer.studies.grid_localization.shown import (
    FINDING,
    by_rule,
    front,
    k_of_n,
    mask_modes,
    percent,
    results_pages,
    thresholds,
)
from viewer.studies.grid_localization.tables import (
    AREA_TABLE,
    LEFT_OUT,
    MASK_MODE_ITEMS,
    by_rule_spec,
    trial_specs,
)
from viewer.studies.places import PlacesContext, pointed_at, points_for
from viewer.studies.protocol import NO_CONTEXT, AskedVersion, ReportContext

NOT_ASKED: Final = ListSpec(
    "not_asked",
    title="Not asked",
    text="Requested, but no image of these views has a mask or a label.",
    frame="not_asked",
    shown=("finding",),
)
_COMPANIONS: Final = {"mask_mode_items": "mask_modes", "defects": "counts"}
"""Tables that are there without a row too, where another is."""
_COUNTED: Final = {"excluded": "item", "not_asked": "finding"}
"""Sections whose titles say how many rows of what they have."""
_ALWAYS: Final = frozenset({"results"})


def report(
    results: Sequence[TrialResult], spec: RunSpec, context: ReportContext = NO_CONTEXT
) -> ReportData:
    """Return the tables and figures of a run, marked if it is unfinished."""
    params = read_params(spec.preset, spec.params)
    placed = placed_trials(results, params, context.dataset)
    of = asked(placed, params, spec)
    frames = {**trial_frames(placed, of), BOXES: box_frame(placed)}
    of_trials = trial_specs(of)
    trials = evaluate_all(of_trials, frames)
    rates = with_rates(next(table for table in trials if table.name == "results"))
    frames |= _frames_beside(placed, spec, context, of, rates.records())
    specs = specs_beside(of, context)
    only_printed = (*LEFT_OUT, NOT_ASKED, SMALL_NUMBERS, detected_spec(of), KNOWN_TABLE)
    filed = (*trials, *evaluate_all(specs, frames))
    every = (*filed, rates, *evaluate_all(only_printed, frames))
    made = {table.name: table for table in every}
    tables = _listed_tables(filed)
    return ReportData(
        tables,
        tuple(_bar_figures(rates, made, of)),
        metric_definitions(of.params, {table.name for table in tables}),
        any(result.score.status is Status.PENDING for result in results),
        tuple(_sections((*results_pages(of, all_views=True), *front(of)), made)),
        (
            *_sections(only_printed[:-1], made),
            *_sections([mask_modes(of, made[MASK_MODE_ITEMS.name])], made),
            *_sections([thresholds(of)], made),
            *problem(context.beside or PlacesContext()),
            *_sections((*specs, KNOWN_TABLE), made),
            *_sections(results_pages(of, all_views=False), made),
        ),
        specs=(*of_trials, *specs),
    )


def _bar_figures(
    rates: Table, made: Mapping[str, Table], of: Asked
) -> Iterator[BarFigure]:
    """Yield the rates by finding of each grid, then those by area."""
    names = [one.name for one in conditions(of.params) if not is_varied(one.name)]
    yield from (rate_figure(rates.records(), name) for name in names)
    if made[AREA_TABLE].rows:
        yield from (area_bars(made[AREA_TABLE].records(), name) for name in names)


def _frames_beside(
    results: Sequence[PlacedTrial],
    spec: RunSpec,
    context: ReportContext,
    of: Asked,
    rates: Sequence[Record],
) -> dict[str, Frame]:
    """Return the frames of what is shown with trials and rates."""
    params, dataset = of.params, context.dataset
    beside = context.beside or PlacesContext()
    places = {(one.finding, one.view) for one in results}
    missing = missing_findings(dataset, params) if dataset else ()
    return {
        NOT_ASKED.name: frame_of_rows(("finding",), ((name,) for name in missing)),
        SMALL: small_frame(rates),
        PUBLISHED: published_frame(rates, spec.models, spec.repeats),
        HUMAN_PAIRS: human_frame(beside.human_points, dataset, params),
        HUMAN_BY_RULE.frame: human_rule_frame(
            present(results), beside.human_points, dataset, params
        ),
        CLAIMS: claim_frame(rates, spec.models, beside.anatomy_errors),
        VERSIONS: version_frame(context),
        EXAMPLES: example_frame(beside.validation, params, spec.seed, places),
        **dataset_frames(dataset),
    }


def specs_beside(of: Asked, context: ReportContext) -> tuple[Spec, ...]:
    """Return the tables shown beside trials and rates, in the order of the page."""
    split = context.dataset.split if context.dataset else ""
    return (
        *DETECTION_TABLES,
        PUBLISHED_TABLE,
        HUMAN_TABLE,
        HUMAN_BY_RULE,
        CLAIMS_TABLE,
        versions_spec(len(context.versions), split),
        examples_spec(of.params),
        *(dataset_specs(context.dataset) if context.dataset else ()),
    )


def _listed_tables(tables: Sequence[Table]) -> tuple[Table, ...]:
    """Return the tables that have rows, or are shown with one that has."""
    there = _ALWAYS | {table.name for table in tables if table.rows}
    return tuple(t for t in tables if {t.name, _COMPANIONS.get(t.name)} & there)


def _sections(specs: Iterable[Spec], tables: Mapping[str, Table]) -> Iterator[Section]:
    """Yield the sections for some tables' specifications, in order."""
    for spec in specs:
        if table := tables.get(spec.name):
            what = _COUNTED.get(spec.name)
            words = f": {counted(len(table.rows), what)}" if what else ""
            yield from sections([replace(spec, title=spec.title + words)], [table])


HUMAN_PAIRS: Final = "human pairs"
_PRINTED: Final = next(
    one.printed for one in HIT_RATES if (one.who, one.finding) == (HUMAN, MEAN)
)
_TITLE: Final = "Radiologists, recomputed"
HUMAN_TABLE: Final = TableSpec(
    "human",
    (Key("finding", total=MACRO),),
    (
        Cell("size", ("n",)),
        Cell("sum", ("without_points",), ("without_points",)),
        Cell("sum", ("k",), ("hit",)),
        Cell(
            "nested mean of rates",
            ("hit_rate",),
            ("hit",),
            options={"by": ("finding",)},
        ),
    ),
    _TITLE,
    "Recomputed from the points that come with the data set: a hit is any point on "
    "the mask; an image without a point is a miss. This is the rule of the published "
    f"row ({_PRINTED} % on the test set), not the rule for cells.",
    HUMAN_PAIRS,
    sets=(("finding",), ()),
    shown=(
        *(FINDING, Shown("n", "Pairs"), Shown("without_points", "Without a point")),
        *(k_of_n(), percent("hit_rate", "Hit rate %")),
    ),
)

Points = Mapping[str, Sequence[PointPx]]
HUMAN_BY_RULE: Final = by_rule(
    by_rule_spec("human_by_rule", (Key("condition", ascending=True),), "human by rule"),
    "Radiologists on the items of this run, under both rules",
)
"""The readers' points on the items of the run, under both rules."""


def human_rule_frame(
    results: Sequence[PlacedTrial],
    points: Mapping[str, Points],
    dataset: Dataset | None,
    params: Params,
) -> Frame:
    """Return each item that the run counts, and whether a reader's point hits it.

    Any of an item's points may hit: its cell under each grid (``correct``), or the
    mask (``pointed``). An item without a point is a miss.
    """
    images = {one.key: one for one in dataset.images} if dataset and points else {}
    header = ("finding", "condition", "patient", "item", "counted", "correct")
    counted = {
        (one.item, one.condition): one
        for one in results
        if one.image in images
        and one.score.status not in NOT_COUNTED
        and not is_varied(one.condition)
    }
    places = GridPlaces(params)
    rows = []
    for (item, condition), one in counted.items():
        image, grid = images[one.image], condition_named(condition, params)
        mask, own = image.masks[one.finding], points.get(one.image, {})
        said = [PointAnswer(point) for point in points_for(own, one.finding)]
        hit = any(
            isinstance(cell := places.in_cell(p, grid, image.geometry), CellAnswer)
            and places.grid(grid).index(cell.cell) in one.placed.reference_index
            for p in said
        )
        on_mask = any(is_on(mask, p.point) for p in said)
        rows.append((one.finding, condition, one.patient, item, True, hit, on_mask))
    return frame_of_rows((*header, "pointed"), rows)


def human_frame(
    points: Mapping[str, Points], dataset: Dataset | None, params: Params
) -> Frame:
    """Return the pairs that have a mask, and whether a reader's point is on it.

    The frame is empty if no points are known.
    """
    images = dataset.images if dataset else ()
    rows = (
        (
            one.finding,
            not one.points,
            any(is_on(one.image.masks[one.mask], point) for point in one.points),
        )
        for one in pointed_at(points, images, params.findings, params.views)
    )
    return frame_of_rows(("finding", "without_points", "hit"), rows)


def problem(beside: PlacesContext) -> tuple[Section, ...]:
    """Return the problem with the file of points, if there is one."""
    if not beside.human_problem:
        return ()
    header = tuple(name.replace("_", " ") for name in HUMAN_TABLE.header)
    return (Section(_TITLE, beside.human_problem, Table("human", header, ())),)


def is_on(mask: Mask, point: PointPx) -> bool:
    """Tell whether the pixel that contains a point is set; none is outside."""
    row, column = int(point.y), int(point.x)
    size = mask.size
    if point.x < 0 or point.y < 0 or row >= size.rows or column >= size.columns:
        return False
    ends = np.cumsum(decode_runs(mask.counts))
    index = column * size.rows + row
    return bool(np.searchsorted(ends, index, side="right") % 2)


VERSIONS: Final = "versions"
_HEADER: Final = (
    *("version", "prompt_sha256", "preset", "differs_from_preset", "runs"),
    *("first_at", "questions"),
)
_ABOUT: Mapping[str, str] = {
    "test": "This is a test split: prompts should be tuned on the validation split, "
    "and each further version that is run here makes the best result less "
    "meaningful.",
    "val": "This is a validation split, for tuning prompts; final numbers are those "
    "of the test split.",
}
_UNKNOWN = "It is not stated whether this data set is a validation or a test split."


def version_frame(context: ReportContext) -> Frame:
    """Return the versions of prompts and settings that a data set was asked with."""
    asked = context.versions if context.dataset else ()
    return frame_of_rows(_HEADER, (_row(i, one) for i, one in enumerate(asked, 1)))


def versions_spec(versions: int, split: str) -> ListSpec:
    """Return the table of the versions that were run on a split."""
    return ListSpec(
        VERSIONS,
        _HEADER,
        "Versions of prompt and settings",
        f"{sentence(versions, split)} {_ABOUT.get(split, _UNKNOWN)}",
        VERSIONS,
        shown=(
            *("version", Shown("prompt_sha256", "Prompt SHA-256"), "preset"),
            Shown("differs_from_preset", "Set otherwise", words={"": "-"}),
            *("runs", Shown("first_at", "First run", TIME), "questions"),
        ),
    )


def sentence(versions: int, split: str) -> str:
    """Return in words how many versions were run on a split."""
    where = f"the {split} split" if split else "this data set"
    if versions == 1:
        return f"1 version of prompt and parameters has been run on {where} so far."
    return (
        f"{versions} versions of prompt and parameters have been run on {where} so far."
    )


def _spoken(value: object) -> str:
    if isinstance(value, list | dict):
        return ", ".join(map(str, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _row(number: int, one: AskedVersion) -> tuple[object, ...]:
    usual = plain(read_params(one.preset, {}))
    special = "; ".join(
        f"{name} = {_spoken(value)}"
        for name, value in sorted(one.params.items())
        if name in usual and usual[name] != value
    )
    runs = ";".join(str(run) for run in dict.fromkeys(one.runs))
    return (
        *(number, one.prompt_sha256, one.preset, special, runs),
        *(one.first_at, one.questions),
    )
