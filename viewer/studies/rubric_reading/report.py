"""What a run of the study reports: its tables at full precision, and its page."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from viewer.domain.answer import ReportAnswer, Status
from viewer.domain.report import BarFigure, ReportData, Section, Table
from viewer.domain.result import TrialResult
from viewer.domain.rubric import Dimension, RubricRow
from viewer.domain.run import RunSpec
from viewer.studies.consistency import published_table
from viewer.studies.protocol import ReportContext
from viewer.studies.rubric_reading.consistency import CHECKS
from viewer.studies.rubric_reading.coverage import selection_tables
from viewer.studies.rubric_reading.curating import (
    candidates_table,
    draft_selection,
    histogram_table,
)
from viewer.studies.rubric_reading.final import final_scores
from viewer.studies.rubric_reading.naming import policies
from viewer.studies.rubric_reading.notes import note_sections, notes
from viewer.studies.rubric_reading.outputs import (
    error_cards,
    inputs_table,
    outputs_table,
    prompts_table,
)
from viewer.studies.rubric_reading.page import card_sections, grade_sections
from viewer.studies.rubric_reading.params import Params, Work, read_params
from viewer.studies.rubric_reading.plan import tasks_of
from viewer.studies.rubric_reading.published import ROWS
from viewer.studies.rubric_reading.score import score
from viewer.studies.rubric_reading.supplement import coverage_figure, curation_section
from viewer.studies.rubric_reading.tables import Graded, grade_tables, graded
from viewer.studies.rubric_reading.using import ungraded, used_grades
from viewer.studies.tables import trial_tables

DEFINITIONS: Final = {
    "content": (
        "the least of Process, Execution and Synthesis; of several readers as "
        "content_order says"
    ),
    "hit_rate": (
        "outputs whose Content is exactly 5 over all that are neither excluded, "
        "ungraded nor pending"
    ),
    "sd": "standard deviation with n - 1",
    "p": (
        "paired Wilcoxon signed-rank test on tasks that both models' outputs were "
        "graded on, two-sided"
    ),
    "p_adjusted": "Benjamini-Hochberg over the five declared measures",
    "qwk": "Cohen's kappa with quadratic weights and the fixed labels 1 to 5",
    "mad": "mean absolute difference of both readers",
    "ac2": "Gwet's AC2 with quadratic weights",
    "alpha": "Krippendorff's alpha, ordinal",
}

_OF_CURATION: Final = {
    "total": "sum of the four Likert scores, 4 to 20, recomputed",
    "total_of_three": "sum of relevance, answerability and reasoning",
    "conclusion": "the sum that the model itself wrote",
    "share": "tasks tagged with a region over all; a task may have several",
}


def report(
    results: Sequence[TrialResult], spec: RunSpec, context: ReportContext
) -> ReportData:
    """Return the tables of a run; those of grades only where readers have graded."""
    params = read_params(spec.preset, spec.params)
    if params.work is Work.CURATION:
        return _curated(results)
    items = context.dataset.items if context.dataset else ()
    used = used_grades(context.grades, results, tasks_of(items), params)
    context = replace(context, grades=used.grades)
    judged = judged_results(results, context, params)
    tables = [
        *(*trial_tables(judged, means=False), outputs_table(judged)),
        *(prompts_table(), rubric_table(context.grades.rubric)),
    ]
    figures: tuple[BarFigure, ...] = ()
    if items:
        selected = [asked.task for asked in tasks_of(items)]
        tables += [inputs_table(items, spec, params), *selection_tables(selected)]
        figures = (coverage_figure(selected),)
    given = graded_of(spec, context, params)
    sections: tuple[Section, ...] = ()
    if given is not None:
        cards = error_cards(judged, given.grades, items)
        tables += [*grade_tables(given), cards]
        sections = (*grade_sections(given), *card_sections(cards))
    sections = (*sections, policies(spec, params))
    left = ungraded(results, used.grades) if given else ""
    told = notes(context, given, (*used.sentences, left))
    pending = any(one.score.status is Status.PENDING for one in results)
    if not pending:
        tables.append(published_table(ROWS, CHECKS))
    return ReportData(
        tuple(tables),
        figures,
        DEFINITIONS,
        pending,
        (*sections, *note_sections(told)),
        warnings=tuple(sentence for _, sentence in told),
    )


def _curated(results: Sequence[TrialResult]) -> ReportData:
    """Return what was proposed, and what a draft of it would cover."""
    selected = draft_selection(results)
    tables = (
        *trial_tables(results, means=False),
        *(candidates_table(results), histogram_table(results)),
        *selection_tables(selected),
    )
    pending = any(one.score.status is Status.PENDING for one in results)
    return ReportData(
        tables,
        (coverage_figure(selected),),
        _OF_CURATION,
        pending,
        (curation_section(results),),
    )


def judged_results(
    results: Sequence[TrialResult], context: ReportContext, params: Params
) -> tuple[TrialResult, ...]:
    """Return the trials with the verdicts that the readers' grades come to."""
    finals = {
        final.output: final
        for final in final_scores(context.grades.grades)
        if final.image is None
    }
    order = params.content_order
    return tuple(
        replace(r, score=score(r.said, finals.get((r.model, r.item, r.repeat)), order))
        if isinstance(r.said, ReportAnswer)
        else r
        for r in results
    )


def graded_of(spec: RunSpec, context: ReportContext, params: Params) -> Graded | None:
    """Return what the grades come to, None where no model of the run was graded."""
    models = [model.name for model in spec.models]
    if not any(grade.model in models for grade in context.grades.grades):
        return None
    asked = tasks_of(context.dataset.items) if context.dataset else ()
    kinds = {one.name: one.task.answerable for one in asked}
    return graded(context.grades, models, kinds, params, spec.seed)


def rubric_table(rubric: Mapping[Dimension, RubricRow]) -> Table:
    """Return the headings and anchors that readers see."""
    rows = (
        (dimension.words, row.heading, *row.anchors)
        for dimension, row in rubric.items()
    )
    return Table("rubric", ("dimension", "heading", *"12345"), tuple(rows))
