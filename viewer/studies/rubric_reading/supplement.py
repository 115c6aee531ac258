"""The paper's supplementary figure 1, and what a page says of curation (E001-05, -06).

1a is how often each sum of scores was given, 1b what the selected tasks are tagged
with; the shares of regions stand beside the paper's.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from viewer.domain.figure import FigureHead, Stack, StackFigure
from viewer.domain.report import BarFigure, BarSeries, Section, Table
from viewer.domain.result import TrialResult
from viewer.domain.task_selection import NO_TAG, SelectedTask
from viewer.studies.rubric_reading.coverage import coverage
from viewer.studies.rubric_reading.curating import proposals_of
from viewer.studies.rubric_reading.protocol_data import SOURCE

_MOST_VALUES: Final = 8
"""Of a tag, as many as a figure has room for."""
Row = Mapping[str, object]


def coverage_figure(tasks: Sequence[SelectedTask]) -> BarFigure:
    """Return the share of tasks by region, with the paper's as a mark each."""
    rows = [row for row in coverage(tasks) if row.target is not None]
    n = len(rows)
    return BarFigure(
        "coverage.svg",
        "Selected tasks by region",
        "Share of tasks",
        "",
        tuple(row.region.replace(" and ", "\nand ") for row in rows),
        (
            BarSeries(
                "selected",
                tuple(row.share for row in rows),
                (None,) * n,
                tuple(row.tasks for row in rows),
            ),
        ),
        SOURCE,
        tuple((row.target or 0) / 100 for row in rows),
    )


def curation_section(results: Sequence[TrialResult]) -> Section:
    """Return what each model proposed, and how often its own sum was another."""
    models = dict.fromkeys(result.model for result in results)
    rows = tuple(
        (model, *_counts([r for r in results if r.model == model])) for model in models
    )
    header = (
        *("Model", "Studies", "Without tasks", "Tasks", "Scored", "Tagged"),
        *("Risk flag", "Other sum"),
    )
    return Section(
        "Proposed tasks",
        "Tasks that models proposed, scored and tagged. Sums are recomputed; the last "
        "column counts tasks whose own Conclusion is another number or missing.",
        Table("proposed", header, rows),
    )


def supplementary(tables: Mapping[str, Table]) -> Iterator[StackFigure]:
    """Yield supplementary figures 1a and 1b, where a run has what they show."""
    if "quality_histogram" in tables:
        yield _histogram(_rows(tables["quality_histogram"]))
    if "tags" not in tables:
        return
    tags = _stacks(_rows(tables["tags"]), len(tables["selection"].rows))
    if tags:
        head = FigureHead(
            "supplementary_1b",
            "S1b",
            "Tags of the selected tasks",
            f"At most {_MOST_VALUES} values of each dimension, the most frequent "
            "first; a task may have several.",
        )
        yield StackFigure(head, ("tagged", "not_tagged"), tags, "tasks", share=True)


def _histogram(rows: Sequence[Row]) -> StackFigure:
    head = FigureHead(
        "supplementary_1a",
        "S1a",
        "Quality of the proposed tasks",
        "Proposed tasks by the sum of their four scores, 4 to 20.",
    )
    stacks = tuple(
        Stack(str(row["total"]), "", (float(n),), n)
        for row in rows
        for n in (int(str(row["candidates"])),)
    )
    return StackFigure(head, ("tasks",), stacks, "tasks", share=False)


def _stacks(rows: Sequence[Row], tasks: int) -> tuple[Stack, ...]:
    """Return the values of each tag that any of the tasks has a value of."""
    found: list[Stack] = []
    for tag, group in groupby(rows, key=lambda row: row["tag"]):
        values = [row for row in group if row["value"] != NO_TAG]
        words = str(tag).removeprefix("tag_").replace("_", " ").capitalize()
        found += [
            Stack(words, str(row["value"]), (n, tasks - n), tasks)
            for row in values[:_MOST_VALUES]
            for n in (float(str(row["tasks"])),)
        ]
    return tuple(found)


def _rows(table: Table) -> list[Row]:
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def _counts(results: Sequence[TrialResult]) -> tuple[int, ...]:
    found = [p for r in results for p in proposals_of(r)]
    without = sum(not any(proposals_of(result)) for result in results)
    return (
        *(len(results), without, len(found)),
        sum(row.total is not None for row in found),
        sum(row.tags is not None for row in found),
        sum(row.quality is not None and row.quality.risk for row in found),
        sum(bool(row.disagreement) for row in found),
    )
