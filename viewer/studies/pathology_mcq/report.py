"""What a run of the study reports: its tables at full precision."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.report import ReportData, Section, Table
from viewer.domain.result import TrialResult
from viewer.domain.run import RunSpec
from viewer.metrics.printed import as_percent
from viewer.results.evaluate import evaluate_all
from viewer.results.page import sections
from viewer.results.records import Frames, number_names, records
from viewer.results.spec import TRIALS, Spec
from viewer.studies.pathology_mcq.arms import PLAIN
from viewer.studies.pathology_mcq.frames import frames
from viewer.studies.pathology_mcq.making import built_table, made_table
from viewer.studies.pathology_mcq.params import Work, read_params
from viewer.studies.pathology_mcq.questions import mcqs_of
from viewer.studies.pathology_mcq.tables import specs
from viewer.studies.protocol import ReportContext
from viewer.studies.tables import trial_specs

DEFINITIONS: Final = {
    "accuracy": (
        "right answers over all trials that are neither excluded nor pending; what "
        "could not be read counts as wrong"
    ),
    "answered_rate": "right answers over trials with an answer",
    "random": "mean over the items of 1 / number of options",
    "frequent": "share of items whose right letter is the most frequent one",
    "wilson": "Wilson's score interval, 95 %",
    "image": "percentile interval of resamples of images with all their questions",
    "official": (
        "the authors' script: unreadable replies are answered by chance, failed ones "
        "left out"
    ),
}


def report(
    results: Sequence[TrialResult], spec: RunSpec, context: ReportContext
) -> ReportData:
    """Return the tables of a run; without its data set only trials and rates."""
    params = read_params(spec.preset, spec.params)
    if params.work is Work.BUILDING:
        return _built(results)
    every: list[Spec] = [*trial_specs(number_names(results), means=False)]
    made: Frames = {TRIALS: records(results)}
    if context.dataset is not None:
        items = context.dataset.items
        every += specs(params, tuple(mcqs_of(items).values()), spec.seed)
        made = frames(results, items, params)
    tables = evaluate_all(every, made)
    full = tuple(table for table in tables if table.rows or table.name in _ALWAYS)
    return ReportData(
        tables=full,
        figures=(),
        metric_definitions=DEFINITIONS,
        incomplete=any(r.score.status is Status.PENDING for r in results),
        sections=(
            *_sections({table.name: table for table in full}),
            *sections(every, full),
        ),
        specs=tuple(every),
    )


_ALWAYS: Final = frozenset({"items", "results"})


def _built(results: Sequence[TrialResult]) -> ReportData:
    """Return what was made of images with their captions."""
    made = made_table(results)
    text = "Three questions of each image that a model described (Sun 2024, 3.2)."
    every = trial_specs(number_names(results))
    tables = evaluate_all(every, {TRIALS: records(results)})
    return ReportData(
        tables=(*tables, made, built_table(results)),
        figures=(),
        metric_definitions={},
        incomplete=any(r.score.status is Status.PENDING for r in results),
        sections=(Section("Questions made", text, made),),
        specs=every,
    )


def _sections(tables: Mapping[str, Table]) -> Iterator[Section]:
    if paper := tables.get("accuracy_paper"):
        rows = tuple(_printed(row) for row in paper.rows if row[1] == PLAIN)
        text = "Accuracy in per cent with the image, as in the paper, beside chance."
        if rows:
            yield Section("Accuracy", text, Table("accuracy", _HEAD, rows))


_HEAD: Final = (
    *("Model", "Part", "Subset", "k", "n", "Accuracy", "Random", "Frequent"),
)


def _printed(row: Sequence[object]) -> tuple[object, ...]:
    model, _, part, subset = row[:4]
    k, n, value, chance, frequent = row[-6:-1]
    return (model, part, subset, k, n, *map(percent, (value, chance, frequent)))


def percent(value: object) -> str:
    """Return a rate 0-1 in per cent with one decimal, ties to even; "" for none."""
    return as_percent(value) if isinstance(value, float) else ""
