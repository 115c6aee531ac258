"""The tables, figures and page of a run, as data that writers draw."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.counting import counted
from viewer.domain.report import ReportData, Section, Table
from viewer.domain.result import TrialResult
from viewer.domain.run import RunSpec
from viewer.results.evaluate import evaluate_all
from viewer.results.page import sections
from viewer.results.records import Frame, frame_of_rows
from viewer.results.spec import ListSpec, Spec
from viewer.studies.grid_localization.asked import Asked, asked
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
    DETECTION_TABLES,
    detected_spec,
    detection_frames,
)
from viewer.studies.grid_localization.few_shot import (
    EXAMPLES,
    example_frame,
    examples_spec,
)
from viewer.studies.grid_localization.frames import trial_frames
from viewer.studies.grid_localization.human import (
    HUMAN_PAIRS,
    HUMAN_TABLE,
    human_frame,
    problem,
)
from viewer.studies.grid_localization.params import read_params
from viewer.studies.grid_localization.plan import conditions
from viewer.studies.grid_localization.rates import (
    SMALL,
    SMALL_NUMBERS,
    Record,
    rate_figure,
    small_frame,
    with_rates,
)
from viewer.studies.grid_localization.shown import front, mask_modes, results_pages
from viewer.studies.grid_localization.split_discipline import (
    VERSIONS,
    version_frame,
    versions_spec,
)
from viewer.studies.grid_localization.tables import (
    LEFT_OUT,
    MASK_MODE_ITEMS,
    trial_specs,
)
from viewer.studies.grid_localization.unasked import unasked
from viewer.studies.protocol import NO_CONTEXT, ReportContext

NOT_ASKED: Final = ListSpec(
    "not_asked",
    title="Not asked",
    text="To be asked about, but no image of these views has a mask or a label.",
    frame="not_asked",
)
_COMPANIONS: Final = {"mask_mode_items": "mask_modes", "defects": "counts"}
"""Tables that are there without a row too, where another is."""
_COUNTED: Final = {"excluded": "item", "not_asked": "finding"}
"""Sections whose titles say how many rows of what they have."""
_ALWAYS: Final = frozenset({"items", "results"})


def report(
    results: Sequence[TrialResult], spec: RunSpec, context: ReportContext = NO_CONTEXT
) -> ReportData:
    """Return the tables and figures of a run; unfinished, it says so."""
    of = asked(results, read_params(spec.preset, spec.params), spec)
    frames = {**trial_frames(results, of), **detection_frames(results)}
    of_trials = trial_specs(of)
    trials = evaluate_all(of_trials, frames)
    rates = with_rates(next(table for table in trials if table.name == "results"))
    frames |= _frames_beside(results, spec, context, of, rates.records())
    specs = specs_beside(of, context)
    only_printed = (*LEFT_OUT, NOT_ASKED, SMALL_NUMBERS, detected_spec(of), KNOWN_TABLE)
    filed = (*trials, *evaluate_all(specs, frames))
    every = (*filed, rates, *evaluate_all(only_printed, frames))
    made = {table.name: table for table in every}
    tables = _kept(filed)
    return ReportData(
        tables,
        tuple(rate_figure(rates.records(), one.name) for one in conditions(of.params)),
        metric_definitions(of.params, {table.name for table in tables}),
        any(result.score.status is Status.PENDING for result in results),
        tuple(_sections((*results_pages(of, all_views=True), *front(of)), made)),
        (
            *_sections(only_printed[:-1], made),
            *_sections([mask_modes(of, made[MASK_MODE_ITEMS.name])], made),
            *problem(context),
            *_sections((*specs, KNOWN_TABLE), made),
            *_sections(results_pages(of, all_views=False), made),
        ),
        specs=(*of_trials, *specs),
    )


def _frames_beside(
    results: Sequence[TrialResult],
    spec: RunSpec,
    context: ReportContext,
    of: Asked,
    rates: Sequence[Record],
) -> dict[str, Frame]:
    """Return the frames of what stands beside trials and rates."""
    params, dataset = of.params, context.dataset
    places = {(one.finding, one.view) for one in results}
    missing = unasked(dataset, params) if dataset else ()
    return {
        NOT_ASKED.name: frame_of_rows(("finding",), ((name,) for name in missing)),
        SMALL: small_frame(rates),
        PUBLISHED: published_frame(rates, spec.models, spec.repeats),
        HUMAN_PAIRS: human_frame(context, params),
        CLAIMS: claim_frame(rates, spec.models, context.anatomy_errors),
        VERSIONS: version_frame(context),
        EXAMPLES: example_frame(context, params, spec.seed, places),
        **dataset_frames(dataset),
    }


def specs_beside(of: Asked, context: ReportContext) -> tuple[Spec, ...]:
    """Return the tables of what stands beside trials and rates, as a page has them."""
    split = context.dataset.split if context.dataset else ""
    return (
        *DETECTION_TABLES,
        PUBLISHED_TABLE,
        HUMAN_TABLE,
        CLAIMS_TABLE,
        versions_spec(len(context.versions), split),
        examples_spec(of.params),
        *(dataset_specs(context.dataset) if context.dataset else ()),
    )


def _kept(tables: Sequence[Table]) -> tuple[Table, ...]:
    """Return the tables that have a row, or stand beside one that has."""
    there = _ALWAYS | {table.name for table in tables if table.rows}
    return tuple(t for t in tables if {t.name, _COMPANIONS.get(t.name)} & there)


def _sections(specs: Iterable[Spec], tables: Mapping[str, Table]) -> Iterator[Section]:
    """Yield what specifications show of the tables of their names, in their order."""
    for spec in specs:
        if table := tables.get(spec.name):
            what = _COUNTED.get(spec.name)
            words = f": {counted(len(table.rows), what)}" if what else ""
            yield from sections([replace(spec, title=spec.title + words)], [table])
