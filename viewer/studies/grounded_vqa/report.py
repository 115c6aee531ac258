"""What a run of the study reports: the paper's tables, and the sham controls."""

from collections.abc import Iterator, Sequence
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.case import Dataset
from viewer.domain.report import ReportData, Section, Table
from viewer.domain.result import TrialResult
from viewer.domain.run import RunSpec
from viewer.studies.grounded_vqa.attending import attention_table
from viewer.studies.grounded_vqa.benchmark import benchmark_of
from viewer.studies.grounded_vqa.gains import GAIN_TABLE, gain_table
from viewer.studies.grounded_vqa.params import Params, RelationRule, read_params
from viewer.studies.grounded_vqa.perturbation_tables import (
    perturbation_table,
    sham_table,
)
from viewer.studies.grounded_vqa.relations import threshold_curve
from viewer.studies.grounded_vqa.tables import (
    ablation_table,
    accuracy_table,
    benchmark_table,
    closed_table,
    cost_table,
    dice_table,
    passes_table,
    truths_of,
    weight_table,
)
from viewer.studies.protocol import ReportContext
from viewer.studies.tables import items_table, results_table

DEFINITIONS: Final = {
    "yes_no_f1": "2TP / (2TP + FP + FN) of Yes over closed questions",
    "macro_f1": "mean of the F1 of Yes and the F1 of No",
    "specificity": "hallucinated questions answered No over all hallucinated ones",
    "open_f1": (
        "micro F1 over (item, label); an item without a finding has the label No "
        "finding, and no label in the columns named dropped"
    ),
    "score": (
        "TPT and VPT: of the model's true positives the share of edits answered No; "
        "what could not be read counts as not changed"
    ),
    "net": (
        "mean over true positives of the share of edits answered No less that of sham "
        "edits, which change nothing that matters; patients drawn with all their items"
    ),
    "wilson": "Wilson's score interval, 95 %",
}
_MOST: Final = 100
"""Rows of a table on a page."""
_ALWAYS: Final = frozenset({"items", "results"})
_TITLES: Final = {
    "benchmark": (
        "Questions",
        "How many of each kind were there to be asked, beside the paper's benchmark.",
    ),
    "table_2_accuracy": (
        "Accuracy",
        "Closed questions by the F1 of Yes, open ones by micro F1 over labels.",
    ),
    "table_3_textual": (
        "Textual perturbation test",
        "As the paper counts it: true positives whose answer became No.",
    ),
    "table_4_visual": (
        "Visual perturbation test",
        "As the paper counts it: true positives whose answer became No.",
    ),
    "sham_control": (
        "Perturbation tests less their shams",
        "A model that says No to whatever was edited nets nothing here.",
    ),
    "common_true_positives": (
        "The same on shared true positives",
        "Models are compared on the true positives that all of them have.",
    ),
    "table_5_ablation": (
        "What localization and self-prompting add",
        "A contour or an enlarged region is only drawn: a LobA-approximation.",
    ),
    "table_6_cost": (
        "Time and memory of 100 items",
        "Every pass of an item together; memory of models on this machine.",
    ),
    "table_8_weights": (
        "Weight on the region's attention",
        "F1 by the weight that is added in the vision tower.",
    ),
    GAIN_TABLE: (
        "Gain over the plain answers",
        "In per cent of the plain F1, as the paper counts; its own are on other data.",
    ),
    "attention": (
        "Where attention went",
        "In the vision tower to the region; from the last token to the image.",
    ),
    "passes": (
        "Answers of each pass",
        "A question's answers side by side, and how its region meets the mask.",
    ),
    "figure_7_dice": (
        "Right answers by the region's Dice",
        "How a located region meets the anatomy's mask, in tenths.",
    ),
}


def report(
    results: Sequence[TrialResult], spec: RunSpec, context: ReportContext
) -> ReportData:
    """Return the tables of a run; without its data set only what trials tell."""
    params = read_params(spec.preset, spec.params)
    tables = [
        items_table(results),
        results_table(results),
        *paper_tables(results, spec, params, context.dataset),
    ]
    full = tuple(t for t in tables if t.rows or t.name in _ALWAYS)
    return ReportData(
        tables=full,
        figures=(),
        metric_definitions=DEFINITIONS,
        incomplete=any(r.score.status is Status.PENDING for r in results),
        sections=tuple(sections(full)),
    )


def paper_tables(
    results: Sequence[TrialResult],
    spec: RunSpec,
    params: Params,
    dataset: Dataset | None,
) -> Iterator[Table]:
    """Yield the paper's tables and ours, some of which may have no row."""
    labels: dict[str, tuple[str, ...]] = {}
    if dataset is not None:
        benchmark = benchmark_of(dataset, params)
        labels = {q.key: q.labels for q in benchmark.questions if not q.closed}
        yield benchmark_table(benchmark, spec.dataset)
        if any(image.boxes for image in dataset.images):
            for rule in RelationRule:
                curve = threshold_curve(benchmark.chart, rule)
                yield Table(f"threshold_curve_{rule}", curve.header, curve.rows)
    truths = truths_of(labels, params)
    accuracy = accuracy_table(results, truths, spec.dataset)
    yield accuracy
    yield closed_table(results)
    textual = ("TPT anatomy", "TPT disease")
    yield perturbation_table(results, textual, "table_3_textual")
    yield perturbation_table(results, ("VPT",), "table_4_visual")
    yield sham_table(results, params, spec.seed)
    if len(spec.models) > 1:
        yield sham_table(results, params, spec.seed, shared=True)
    yield ablation_table(results, truths)
    yield gain_table(accuracy)
    yield cost_table(results)
    yield weight_table(results, truths)
    yield attention_table(results)
    yield passes_table(results)
    yield dice_table(results)


def sections(tables: Sequence[Table]) -> Iterator[Section]:
    """Yield the tables that a page shows, rounded for print; of long ones the start."""
    for table in tables:
        if table.name in _TITLES:
            title, text = _TITLES[table.name]
            more = f" The first {_MOST} of {len(table.rows)}; {table.name}.csv has all."
            told = text + more if len(table.rows) > _MOST else text
            yield Section(title, told, _printed(table))


def _printed(table: Table) -> Table:
    header = tuple(name.replace("_", " ") for name in table.header)
    rows = tuple(tuple(map(_cell, row)) for row in table.rows[:_MOST])
    return Table(table.name, header, rows)


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None else value
