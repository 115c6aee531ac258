"""What a run of the study reports: its tables at full precision."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.choice import ExpertChoice
from viewer.domain.item import Item
from viewer.domain.report import ReportData, Section, Table
from viewer.domain.result import TrialResult
from viewer.domain.run import RunSpec
from viewer.metrics.printed import as_percent
from viewer.studies.pathology_mcq.accuracy import (
    accuracies,
    paper_table,
    recommended_table,
)
from viewer.studies.pathology_mcq.arms import PLAIN
from viewer.studies.pathology_mcq.dataset_sizes import sizes_table
from viewer.studies.pathology_mcq.experts import expert_table
from viewer.studies.pathology_mcq.guessing import audit, audit_table, guess_table
from viewer.studies.pathology_mcq.making import built_table, made_table
from viewer.studies.pathology_mcq.official_report import (
    differences,
    differing_table,
    official_table,
)
from viewer.studies.pathology_mcq.params import Params, Work, read_params
from viewer.studies.pathology_mcq.questions import Mcq, mcqs_of
from viewer.studies.pathology_mcq.robustness import noise_table, robustness_table
from viewer.studies.pathology_mcq.validity import reviews_table
from viewer.studies.protocol import ReportContext
from viewer.studies.tables import trial_tables

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
    tables = [*trial_tables(results, means=False)]
    if context.dataset is not None:
        tables += _of_dataset(results, context.dataset.items, params, spec.seed)
    full = tuple(table for table in tables if table.rows or table.name in _ALWAYS)
    return ReportData(
        tables=full,
        figures=(),
        metric_definitions=DEFINITIONS,
        incomplete=any(r.score.status is Status.PENDING for r in results),
        sections=tuple(_sections({table.name: table for table in full})),
    )


def expert_choices(items: Sequence[Item]) -> tuple[ExpertChoice, ...]:
    """Return what experts chose, as the data set brings it."""
    return tuple(
        ExpertChoice(str(group), str(reader), item.key, int(str(option)))
        for item in items
        for group, reader, option in _listed(item.reference.get("experts"))
    )


_ALWAYS: Final = frozenset({"items", "results"})


def _built(results: Sequence[TrialResult]) -> ReportData:
    """Return what was made of images with their captions."""
    made = made_table(results)
    text = "Three questions of each image that a model described (Sun 2024, 3.2)."
    tables = (*trial_tables(results), made, built_table(results))
    return ReportData(
        tables=tables,
        figures=(),
        metric_definitions={},
        incomplete=any(r.score.status is Status.PENDING for r in results),
        sections=(Section("Questions made", text, made),),
    )


def _of_dataset(
    results: Sequence[TrialResult], items: Sequence[Item], params: Params, seed: int
) -> Iterator[Table]:
    mcqs = mcqs_of(tuple(items))
    asked = _asked(results, mcqs)
    rates = accuracies(results, asked)
    found = differences(results, mcqs, params)
    yield paper_table(rates, tuple(mcqs.values()), params)
    yield recommended_table(rates, results, params, seed)
    yield official_table(found)
    yield differing_table(found)
    yield robustness_table(rates)
    yield noise_table(rates)
    guesses = audit(results, params.guessed_by)
    yield guess_table(guesses, mcqs)
    yield audit_table(guesses, mcqs)
    yield expert_table(expert_choices(items), asked, params.expert_pooling)
    yield reviews_table(items)
    yield sizes_table(tuple(mcqs.values()))


def _asked(results: Sequence[TrialResult], mcqs: Mapping[str, Mcq]) -> tuple[Mcq, ...]:
    """Return the questions that the run is about, each once."""
    return tuple(mcqs[key] for key in dict.fromkeys(one.item for one in results))


def _listed(value: object) -> Iterator[tuple[object, object, object]]:
    for entry in value if isinstance(value, list) else ():
        group, reader, option = entry
        yield group, reader, option


def _sections(tables: Mapping[str, Table]) -> Iterator[Section]:
    if paper := tables.get("accuracy_paper"):
        rows = tuple(_printed(row) for row in paper.rows if row[1] == PLAIN)
        text = "Accuracy in per cent with the image, as in the paper, beside chance."
        if rows:
            yield Section("Accuracy", text, Table("accuracy", _HEAD, rows))
    if official := tables.get("official"):
        text = (
            "The replies read by the script of the authors, which answers by chance "
            "what it cannot read and leaves out what failed."
        )
        yield Section("Official-compatible reading", text, official)


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
