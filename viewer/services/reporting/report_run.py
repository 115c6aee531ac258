"""From a run's records to its tables, figures, manifest and page."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from viewer.domain.answer_json import any_answer_of_json
from viewer.domain.case import Dataset
from viewer.domain.errors import UnreadableInputError
from viewer.domain.figure import Figure
from viewer.domain.report import ReportData, Section, Table
from viewer.domain.result import TrialResult
from viewer.domain.rubric import Grades
from viewer.domain.run import RunSummary
from viewer.readers.datasets.human_points import HumanPoints, human_points_below
from viewer.results.frame import Frame
from viewer.services.configuring.model_colors import assign_model_colors
from viewer.services.readings.reviewing import error_counts
from viewer.services.readings.who_read import sessions_counted, who_read
from viewer.services.reporting.manifest import manifest_of
from viewer.services.reporting.records import (
    Recorded,
    frame_of_recorded,
    recorded,
)
from viewer.services.reporting.report_words import in_words
from viewer.services.reporting.rescore import departure_sentence
from viewer.services.running.prompt_versions import versions_asked
from viewer.services.sessions.file_readers import names_in_results
from viewer.services.trials.few_shot import examples_dataset
from viewer.services.trials.grades import grades_of
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, consents, reuse, runs, trials, usage
from viewer.store.database import Store
from viewer.store.model_checks import latest_check
from viewer.studies.places import PlacesContext
from viewer.studies.protocol import ReportContext
from viewer.studies.tables import items_table
from viewer.studies.whole_report import whole_report
from viewer.writers.figures import bar_figure_svg
from viewer.writers.figures_files import figure_picture
from viewer.writers.files import write_atomically
from viewer.writers.report_html import ReportPage, render_report
from viewer.writers.tables import csv_bytes

_ANATOMY: Final = "anatomy"
_WITH_HUMAN_POINTS: Final = "chexlocalize"


@dataclass(frozen=True)
class RunResults:
    """A run's results, before any table is computed.

    ``trials`` is the frame listed in the table ``items`` of its report.
    """

    summary: RunSummary
    context: RunContext
    results: tuple[TrialResult, ...]
    trials: Frame


@dataclass(frozen=True)
class RunReport(RunResults):
    """A run's results with their tables and figures, before anything is written.

    ``doubt`` is a sentence on verdicts that contradict their replies, "" if there are
    none.
    """

    data: ReportData
    doubt: str = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the user, in sentences."""
        return (*self.data.warnings, *filter(None, (self.doubt,)))


def run_results(store: Store, run: int) -> RunResults:
    """Return a run's results; an unknown run raises."""
    run_trials = recorded(store, run)
    results = tuple(_results(run_trials))
    of_run = frame_of_recorded(store, run, run_trials)
    return RunResults(runs.run_summary(store, run), run_trials.context, results, of_run)


def report_data(store: Store, run: int) -> RunReport:
    """Return a run's tables and figure data; an unknown run raises."""
    of_run = run_results(store, run)
    assign_model_colors(store)
    context, results = of_run.context, of_run.results
    beside = context_of(store, run, context)
    data = whole_report(context.study, results, context.spec, beside)
    data = with_readers(store, run, context, with_reused(store, run, data))
    data = with_items(data, context, of_run.trials)
    return RunReport(of_run.summary, context, results, of_run.trials, data)


def with_items(data: ReportData, context: RunContext, of_run: Frame) -> ReportData:
    """Return a report with the table that lists every trial, before the study's own."""
    spec, table = items_table(context.study.words, of_run)
    others = (one for one in data.tables if one.name != table.name)
    specs = (one for one in data.specs if one.name != table.name)
    return replace(data, tables=(table, *others), specs=(spec, *specs))


def with_reused(store: Store, run: int, data: ReportData) -> ReportData:
    """Return a report that says which of its replies were requested elsewhere."""
    rows = tuple(
        (one.model, one.replies, one.origin_model, one.origin_run)
        for one in reuse.reused_in(store, run)
    )
    table = Table("reused", ("Model", "Replies", "Asked of", "In run"), rows)
    text = (
        "Stored replies that were reused because the same request was made. A model "
        "whose replies all come from another is not a second model."
    )
    reused = (Section("Reused replies", text, table),) if rows else ()
    return replace(data, sections=(*data.sections, *reused))


def with_readers(
    store: Store, run: int, context: RunContext, data: ReportData
) -> ReportData:
    """Return a report that says which sessions belong to which reader."""
    counted = sessions_counted(store, run, context)
    # As it was imported: what was locked has the other names already.
    filed = names_in_results(store, cases.dataset_of_run(store, run)) if counted else {}
    table = who_read(store, counted, filed)
    printed = Table(
        table.name,
        ("Reader", "Session", "What was read", "Locked", "Planned", "Opened"),
        table.rows,
    )
    text = "All sessions of one name are counted as those of one reader."
    sections = (Section("Readers", text, printed),) if table.rows else ()
    return replace(data, sections=(*data.sections, *sections))


def checked_report(store: Store, run: int) -> RunReport:
    """Return :func:`report_data` with doubts about its verdicts.

    Every reply is judged again for it, which takes a second for 5,000.
    """
    return replace(report_data(store, run), doubt=departure_sentence(store, run))


def context_of(store: Store, run: int, context: RunContext) -> ReportContext:
    """Return a report's data beyond its trials: data set, readers, earlier runs."""
    versions = versions_asked(store, context.dataset.root_sha256, run)
    return ReportContext(context.dataset, versions, _beside(store, run, context))


def _beside(
    store: Store, run: int, context: RunContext
) -> PlacesContext | Grades | None:
    if context.study.words.graded:
        return grades_of(context.dataset)
    if not context.study.words.places:
        return None
    errors = {
        stratum: counts.estimated(_ANATOMY)
        for stratum, counts in error_counts(store, run).items()
        if counts.finished
    }
    validation = examples_dataset(store, context.spec)
    return PlacesContext(errors, validation, *_human_points(context.dataset))


def _human_points(dataset: Dataset) -> tuple[HumanPoints, str]:
    """Return where radiologists pointed, and any problem with their file."""
    if dataset.format != _WITH_HUMAN_POINTS:
        return {}, ""
    try:
        return human_points_below(dataset.root), ""
    except UnreadableInputError as error:
        return {}, error.what


def _results(run_trials: Recorded) -> Iterator[TrialResult]:
    """Yield trials with their parsed replies and right answers.

    A cell is taken from its score, and not read from the store again.
    """
    in_words = not run_trials.context.study.words.places
    scored = trials.trials_in(run_trials.columns)
    for one, gold in zip(scored, run_trials.golds, strict=True):
        trial, text = one.trial, one.parsed
        yield TrialResult(
            *(trial.item, trial.patient, trial.image, trial.view, trial.finding),
            *(trial.condition.name, trial.repeat, trial.model, one.score),
            request_sha256=one.request_sha256,
            said=any_answer_of_json(text)
            if text and (in_words or one.placed)
            else None,
            gold=gold,
        )


def write_run_report(
    store: Store, report: RunReport, out: Path, cards: Sequence[Figure] = ()
) -> tuple[Path, ...]:
    """Write a report that is computed already into a folder; return the files written.

    ``items.csv``, ``results.csv``, ``geometry.csv`` and ``rules.csv`` if any answer is
    not a cell, ``figures/*.svg``, ``report.html`` and, last, ``manifest.json`` with the
    hashes of the others. ``cards`` are drawn after the report's own figures. A folder
    that cannot be written to raises and leaves no half-written file.
    """
    files = dict(report_files(report, cards))
    manifest = manifest_of_report(store, report, files)
    files["manifest.json"] = (
        json.dumps(manifest, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    ).encode()
    for name, content in files.items():
        write_atomically(out / name, content)
    return tuple(out / name for name in files)


def report_files(
    report: RunReport, cards: Sequence[Figure] = ()
) -> Mapping[str, bytes]:
    """Return a report's files by name, all but its manifest."""
    data = report.data
    tables = {f"{t.name}.csv": csv_bytes(t.header, t.rows) for t in data.tables}
    drawn = {f"figures/{f.file_name}": bar_figure_svg(f) for f in data.figures}
    for card in cards:
        drawn[f"figures/{card.head.name}.svg"] = figure_picture(card, "svg")
    page = render_report(_page(report, cards), tuple(drawn.values()))
    return {**tables, **drawn, "report.html": page}


def manifest_of_report(
    store: Store, report: RunReport, files: Mapping[str, bytes]
) -> dict[str, object]:
    """Return the manifest of a report whose other files are these."""
    run, spec = report.summary.id, report.context.spec
    asked = (*spec.models, *spec.helpers)
    created = report.summary.created_at
    checks = (latest_check(store, model, created) for model in asked)
    return manifest_of(
        report.summary,
        report.context,
        report.data,
        usage.ledger_counts(store, run),
        consents.deidentified_of_run(store, run),
        files,
        [found for found in checks if found],
    )


def _page(report: RunReport, cards: Sequence[Figure]) -> ReportPage:
    study, data = report.context.study, report.data
    models = [model.name for model in report.context.spec.models]
    return ReportPage(
        summary=report.summary,
        spec=report.context.spec,
        data=replace(
            data,
            sections=tuple(in_words(s, study.words, models) for s in data.sections),
            appendix=tuple(in_words(s, study.words, models) for s in data.appendix),
        ),
        notices=report.context.dataset.notices,
        study=study.title,
        doubt=report.doubt,
        cards=tuple(cards),
    )
