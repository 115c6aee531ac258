"""The paper's figures from a run's tables: 3 and 5 (E001-17), 2 as help."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from viewer.domain.figure import (
    Figure,
    FigureHead,
    PlotFigure,
    PlotPanel,
    PlotSeries,
    Stack,
    StackFigure,
    Step,
    StripFigure,
)
from viewer.domain.rubric import LEVELS
from viewer.studies.packs import PackInput
from viewer.studies.rubric_reading.galleries import boxed_outputs, error_cards
from viewer.studies.rubric_reading.protocol_data import FIGURE_2
from viewer.studies.rubric_reading.supplement import Row, rows, supplementary

_NO_GRADES: Final = (
    "Figures 3, 4 and 5 need readers' grades: grade under Review ▸ Study tasks, or "
    "save them as grades.csv or grades.json in the data set's folder."
)
_ONLY_PROPOSED: Final = (
    "This run proposed tasks: tables 1 to 3 and figures 3, 4 and 5 need a run that "
    "answers them."
)


def figures(given: PackInput) -> tuple[tuple[Figure, ...], tuple[str, ...]]:
    """Return every figure that a run can have, and why others are missing."""
    tables = {table.name: table for table in given.report.tables}
    drawn: tuple[Figure, ...] = (*boxed_outputs(given), *supplementary(tables))
    if "candidates" in tables:
        return (_help(), *drawn), (_ONLY_PROPOSED,)
    if "figure_3" not in tables:
        return (_help(), *drawn), (*given.report.warnings, _NO_GRADES)
    made: list[Figure] = [_help(), _distributions(rows(tables["figure_3"]))]
    cards = error_cards(given, rows(tables["error_cards"]))
    made += cards
    missing = () if cards else ("No reader had a concern about an output.",)
    both = rows(tables["figure_5_points"]) if "figure_5_points" in tables else ()
    if both:
        made.append(_agreement(both))
    else:
        missing = (*missing, "Figure 5 needs the grades of two readers.")
    return (*made, *drawn), missing


def _help() -> StripFigure:
    head = FigureHead(
        "figure_2",
        "Figure 2",
        "Kinds of error in the content of an output",
        "Content is the minimum of the three. Examples as printed (Banerjee 2025, "
        "3.3).",
    )
    steps = tuple(
        Step(card.dimension.words, None, f"{card.question}\n\n{card.example}")
        for card in FIGURE_2
    )
    return StripFigure(head, steps)


def _distributions(found: Sequence[Row]) -> StackFigure:
    """Return the shares of each final score by measure and model."""
    head = FigureHead(
        "figure_3",
        "Figure 3",
        "Score distributions",
        "Final scores of every graded output; halves come from two readers.",
    )
    segments = tuple(dict.fromkeys(f"grade_{row['score']:g}" for row in found))
    order = dict.fromkeys(row["metric"] for row in found)
    stacks = [
        stack
        for metric in order
        for stack in _stacks([row for row in found if row["metric"] == metric])
        if stack.n
    ]
    return StackFigure(head, segments, tuple(stacks), "outputs", share=True)


def _stacks(found: Sequence[Row]) -> Iterator[Stack]:
    for model, group in groupby(found, key=lambda row: row["model"]):
        of = tuple(group)
        counts = tuple(float(row["count"]) for row in of)
        yield Stack(of[0]["metric"], model, counts, int(sum(counts)))


def _agreement(points: Sequence[Row]) -> PlotFigure:
    """Return every output at both readers' scores, shifted so that none is hidden."""
    head = FigureHead(
        "figure_5",
        "Figure 5",
        "Scores of both readers",
        "Each output at both readers' scores, jittered so that none hides another; "
        "figure_5.csv counts them.",
    )
    panels = tuple(
        _panel(category, [row for row in points if row["category"] == category])
        for category in dict.fromkeys(row["category"] for row in points)
    )
    return PlotFigure(
        head,
        panels,
        "Main reader",
        "Second reader",
        identity=True,
        scale=(LEVELS[0] - 0.5, LEVELS[-1] + 0.5),
    )


def _panel(title: str, points: Sequence[Row]) -> PlotPanel:
    x, y = (tuple(row[name] for row in points) for name in ("main", "second"))
    return PlotPanel(title, (PlotSeries("outputs", x, y),))
