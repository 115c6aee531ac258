"""The paper's supplementary figure 1 from a run's tables (E001-05, -06).

1a is "the distribution of quality scores across the selected question set" (3.1), 1b
that of the selected tasks' tags; the shares of regions are shown beside the paper's.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from viewer.domain.figure import FigureHead, Stack, StackFigure
from viewer.domain.report import BarFigure, BarSeries, Table
from viewer.domain.task_selection import NO_TAG
from viewer.studies.rubric_reading.protocol_data import SOURCE

_MOST_VALUES: Final = 8
"""Of a tag, as many as a figure has room for."""
_SUM: Final = "the sum of their four scores, 4 to 20"
_SUMS: Final = range(4, 21)
Row = Mapping[str, Any]


def coverage_figure(coverage: Table) -> BarFigure:
    """Return the share of tasks by region, with the paper's as a mark each."""
    found = [row for row in rows(coverage) if row["paper_percent"] is not None]
    n = len(found)
    return BarFigure(
        "coverage.svg",
        "Selected tasks by region",
        "Share of tasks",
        "",
        tuple(row["region"].replace(" and ", "\nand ") for row in found),
        (
            BarSeries(
                "selected",
                tuple(row["share"] for row in found),
                (None,) * n,
                tuple(row["tasks"] for row in found),
            ),
        ),
        SOURCE,
        tuple(row["paper_percent"] / 100 for row in found),
    )


def rows(table: Table) -> tuple[Row, ...]:
    """Return the rows of a table as mappings from column to value."""
    return tuple(dict(zip(table.header, row, strict=True)) for row in table.rows)


def supplementary(tables: Mapping[str, Table]) -> Iterator[StackFigure]:
    """Yield supplementary figures 1a and 1b, where a run has what they show."""
    if "quality_histogram" in tables:
        yield _proposed(rows(tables["quality_histogram"]))
    if "tags" not in tables:
        return
    proposed = rows(tables["candidates"]) if "candidates" in tables else ()
    selected = _selected(rows(tables["selection"]), proposed)
    if selected is not None:
        yield selected
    tags = _stacks(rows(tables["tags"]), len(tables["selection"].rows))
    if tags:
        head = FigureHead(
            "supplementary_1b",
            "Figure S1b",
            "Tags of the selected tasks",
            f"Up to {_MOST_VALUES} values per dimension, the most frequent first; a "
            "task may have several.",
        )
        yield StackFigure(head, ("tagged", "not_tagged"), tags, "tasks", share=True)


def _proposed(found: Sequence[Row]) -> StackFigure:
    head = FigureHead(
        "proposed_quality",
        "Figure S1a, before the selection",
        "Quality of the proposed tasks",
        f"Proposed tasks by {_SUM}.",
    )
    return _histogram(head, {row["total"]: row["candidates"] for row in found})


def _selected(found: Sequence[Row], proposed: Sequence[Row]) -> StackFigure | None:
    """Return the histogram of the selected tasks' scores, None without any score.

    A task's score is the radiologist's, if one was given again, else the model's of the
    same words. What was edited or written has none of a model.
    """
    of_model = {
        (row["item"], row["task"]): row["total"]
        for row in reversed(proposed)
        if row["total"] is not None
    }
    again = [row["rescored"] for row in found if row["rescored"] is not None]
    first = [
        of_model.get((row["item"], row["words"]))
        for row in found
        if row["rescored"] is None
    ]
    scores = Counter([*again, *(one for one in first if one is not None)])
    if not scores:
        return None
    head = FigureHead(
        "supplementary_1a",
        "Figure S1a",
        "Quality of the selected tasks",
        f"Selected tasks by {_SUM}: {len(again)} as a radiologist scored them again, "
        f"{scores.total() - len(again)} as the model did. Left out, as edited or "
        f"written and not scored: {first.count(None)}. Where nobody has selected a "
        "task yet, it is the best proposal.",
    )
    return _histogram(head, scores)


def _histogram(head: FigureHead, counts: Mapping[int, int]) -> StackFigure:
    stacks = tuple(
        Stack(str(total), "", (float(n),), n)
        for total in _SUMS
        for n in (counts.get(total, 0),)
    )
    return StackFigure(head, ("tasks",), stacks, "tasks", share=False)


def _stacks(tags: Sequence[Row], tasks: int) -> tuple[Stack, ...]:
    """Return the values of each tag that any of the tasks has a value of."""
    found: list[Stack] = []
    for tag, group in groupby(tags, key=lambda row: row["tag"]):
        values = [row for row in group if row["value"] != NO_TAG]
        words = tag.removeprefix("tag_").replace("_", " ").capitalize()
        found += [
            Stack(words, row["value"], (n, tasks - n), tasks)
            for row in values[:_MOST_VALUES]
            for n in (float(row["tasks"]),)
        ]
    return tuple(found)
