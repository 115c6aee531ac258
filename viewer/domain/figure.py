"""Figures as data, drawn by writers for print and by the window on screen.

Rates are 0-1, pictures (rows, columns) with y down. ``name`` is the file name without
extension, ``number`` the figure's number in the paper.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viewer.domain.grid import grids_in_words
from viewer.domain.report import BarSeries, Table
from viewer.domain.styles import Style, looks_of, style_of

Picture = npt.NDArray[np.uint8]
"""Grey values, (rows, columns), or RGB, (rows, columns, 3)."""


@dataclass(frozen=True, slots=True)
class FigureHead:
    """The head of every figure: file name, number in the paper, and text.

    ``order`` says how its groups are ordered, "" if that is obvious; ``grid`` is the
    grid it is about, "" for none or several.
    """

    name: str
    number: str
    title: str
    caption: str
    order: str = ""
    grid: str = ""

    @property
    def words(self) -> str:
        """The caption of the figure."""
        return f"{self.caption} {self.order}".strip()


@dataclass(frozen=True, slots=True)
class PublishedMark:
    """A published rate 0-1 next to a group's bars; it has no error bar (X-05)."""

    group: str
    who: str
    value: float


@dataclass(frozen=True)
class RatePanel:
    """Grouped bars of rates; every tuple of a series runs parallel to ``groups``.

    ``baselines`` has each series' chance level in each group, ``notes`` a few words to
    print below each group's name, if any.
    """

    title: str
    groups: tuple[str, ...]
    series: tuple[BarSeries, ...]
    baselines: tuple[tuple[float | None, ...], ...]
    published: tuple[PublishedMark, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class RateFigure:
    """Panels of grouped bars with whiskers (Gosai 2025, Fig. 2 and 6).

    ``error_name`` says what the whiskers are. ``one_model`` is True if a panel's series
    are grids of the model that names the panel, not models. ``summary`` names the group
    that always stands last; ``in_order`` is True if groups are not findings and keep
    their order. ``rate_name`` says what the rates are of; ``baseline_name`` is "" if
    there is no chance level.
    """

    head: FigureHead
    panels: tuple[RatePanel, ...]
    error_name: str
    baseline_name: str
    one_model: bool = False
    summary: str = ""
    rate_name: str = "Hit rate"
    in_order: bool = False


@dataclass(frozen=True, slots=True)
class Stack:
    """One stacked bar: a count for each segment of its figure.

    ``n`` is the total count, None if the bar is a mean of shares; ``note`` a caveat
    about the counts. ``code`` is the style of its group's name, "" for none.
    """

    group: str
    name: str
    counts: tuple[float, ...]
    n: int | None = None
    note: str = ""
    code: str = ""


@dataclass(frozen=True)
class StackFigure:
    """Stacked bars in groups (Gosai 2025, Fig. 3, 9 and 10).

    ``share`` is True if each bar is drawn as fractions of its total. ``unit`` names
    what is counted. ``segments`` are codes of :mod:`viewer.domain.styles`.
    """

    head: FigureHead
    segments: tuple[str, ...]
    stacks: tuple[Stack, ...]
    unit: str
    share: bool


@dataclass(frozen=True, eq=False)
class HeatPanel:
    """Where a finding or answers are: a (rows, columns) map of shares 0-1 of ``n``."""

    row: str
    column: str
    values: npt.NDArray[np.float64]
    n: int


@dataclass(frozen=True, eq=False)
class HeatFigure:
    """Heat maps over a mean image (Gosai 2025, Fig. 4, 7 and 8).

    ``background`` (side, side) is 0-1. All panels share the colour scale 0 to
    ``greatest``.
    """

    head: FigureHead
    background: npt.NDArray[np.float64]
    panels: tuple[HeatPanel, ...]

    @property
    def greatest(self) -> float:
        """The greatest share in any panel, 0 without panels."""
        return max((float(p.values.max(initial=0)) for p in self.panels), default=0.0)


@dataclass(frozen=True, eq=False)
class Tile:
    """An example with reference and answer drawn on it, (rows, columns, 3).

    ``kind`` is its error class in words, ``outcome`` the outcome as in the tables.
    """

    picture: Picture
    kind: str
    item: str
    finding: str
    model: str
    cell: str
    outcome: str


@dataclass(frozen=True, eq=False)
class GalleryFigure:
    """Examples by error class (Gosai 2025, Fig. 5)."""

    head: FigureHead
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, eq=False)
class Card:
    """An output with what readers had against it.

    ``picture`` is the image with the output's boxes, numbered from 1 as ``labels`` are;
    None for an output without boxes. ``concerns`` are remarks in the order given.
    ``returned`` is a picture that the model returned.
    """

    item: str
    task: str
    model: str
    picture: Picture | None
    labels: tuple[str, ...]
    excerpt: str
    concerns: tuple[str, ...]
    returned: Picture | None = None


@dataclass(frozen=True, eq=False)
class CardFigure:
    """Outputs with an excerpt and readers' concerns (Banerjee 2025, Fig. 4)."""

    head: FigureHead
    cards: tuple[Card, ...]


@dataclass(frozen=True, eq=False)
class Step:
    """A step of a method: a picture, words, or both.

    ``code`` is the style of its title, "" for none.
    """

    title: str
    picture: Picture | None
    words: str
    code: str = ""


@dataclass(frozen=True, eq=False)
class StripFigure:
    """A method step by step, illustrated by an item of the run (Gosai 2025, Fig. 1)."""

    head: FigureHead
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class PlotSeries:
    """Points of one kind, in the order in which a line joins them.

    ``code`` is one of :mod:`viewer.domain.styles`, "" for a model or anything else
    whose style depends on its position.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    code: str = ""


@dataclass(frozen=True, slots=True)
class PlotPanel:
    """Series on one pair of axes; ``code`` is the style of its title, "" for none."""

    title: str
    series: tuple[PlotSeries, ...]
    code: str = ""


@dataclass(frozen=True)
class PlotFigure:
    """Points or lines in panels (Chen 2026, Fig. 5, 6, 12 and 13).

    ``joined`` draws lines instead of points; ``identity`` adds the line y = x, with
    ``scale`` on both axes, or from 0 to the greatest value if that is None.
    ``one_scale`` gives all panels the same y axis.
    """

    head: FigureHead
    panels: tuple[PlotPanel, ...]
    x_label: str
    y_label: str
    joined: bool = False
    identity: bool = False
    one_scale: bool = False
    scale: tuple[float, float] | None = None

    @property
    def y_range(self) -> tuple[float, float] | None:
        """The limits of a y axis shared by all panels, None if each has its own."""
        values = [y for p in self.panels for one in p.series for y in one.y]
        if not self.one_scale or not values:
            return None
        # An axis needs some extent, even if all values are equal.
        margin = 0.05 * (max(values) - min(values)) or 1.0
        return min(values) - margin, max(values) + margin

    @property
    def styles(self) -> Mapping[str, Style]:
        """Each series' style by name, the same in every panel."""
        every = (series for panel in self.panels for series in panel.series)
        codes = {series.name: series.code for series in every}
        looks = looks_of(name for name, code in codes.items() if not code)
        return {n: style_of(code) if code else looks[n] for n, code in codes.items()}


Figure = (
    RateFigure
    | StackFigure
    | HeatFigure
    | GalleryFigure
    | CardFigure
    | PlotFigure
    | StripFigure
)


def full_title(figure: Figure) -> str:
    """Return a figure's title with what distinguishes it from others of that title."""
    head = figure.head
    apart = [grids_in_words(f"grid={head.grid}")] if head.grid else []
    if isinstance(figure, HeatFigure):
        apart = list(dict.fromkeys(panel.row for panel in figure.panels))
    return ", ".join((head.title, *apart))


def figure_table(figure: Figure) -> Table:
    """Return every number that a figure shows, one row per mark."""
    header: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]
    if isinstance(figure, RateFigure):
        header = (*_RATES, *(_LIMITS if has_limits(figure) else ()))
        rows = [
            row[: len(header)] for panel in figure.panels for row in _rate_rows(panel)
        ]
    elif isinstance(figure, StackFigure):
        header, rows = (
            _STACKS,
            [row for s in figure.stacks for row in _parts(figure, s)],
        )
    elif isinstance(figure, HeatFigure):
        header, rows = _HEAT, [row for p in figure.panels for row in _cells(p)]
    elif isinstance(figure, GalleryFigure):
        header, rows = _TILES, [_example(tile) for tile in figure.tiles]
    elif isinstance(figure, CardFigure):
        header, rows = _CARDS, [_card(card) for card in figure.cards]
    elif isinstance(figure, PlotFigure):
        header, rows = _POINTS, [row for p in figure.panels for row in _points(p)]
    else:
        header, rows = _STEPS, [(step.title, step.words) for step in figure.steps]
    return Table(figure.head.name, header, tuple(rows))


_RATES = ("panel", "group", "series", "rate", "error", "n", "kind")
_LIMITS = ("low", "high")
_NO_LIMITS = (None, None)
_STACKS = ("group", "bar", "segment", "count", "share", "n")
_HEAT = ("row", "column", "cell_row", "cell_column", "share", "n")
_TILES = ("class", "item", "finding", "model", "cell", "outcome")
_CARDS = ("item", "task", "model", "labels", "excerpt", "concerns")
_POINTS = ("panel", "series", "x", "y")
_STEPS = ("step", "words")


def has_limits(figure: RateFigure) -> bool:
    """Tell whether a figure's whiskers have separate lower and upper limits."""
    return any(series.limits for panel in figure.panels for series in panel.series)


def _rate_rows(panel: RatePanel) -> Sequence[tuple[object, ...]]:
    """Return one row per mark of a panel, with the limits of its whisker last."""
    bars = [
        (
            *(panel.title, group, s.name, s.values[i], s.errors[i], s.counts[i], "bar"),
            *((s.limits[i] if s.limits else None) or _NO_LIMITS),
        )
        for i, group in enumerate(panel.groups)
        for s in panel.series
    ]
    chance = [
        (panel.title, group, s.name, values[i], None, None, "baseline", *_NO_LIMITS)
        for i, group in enumerate(panel.groups)
        for s, values in zip(panel.series, panel.baselines, strict=True)
    ]
    printed = [
        (
            *(panel.title, mark.group, mark.who, mark.value, None, None, "published"),
            *_NO_LIMITS,
        )
        for mark in panel.published
    ]
    return [*bars, *chance, *printed]


def _parts(figure: StackFigure, stack: Stack) -> Sequence[tuple[object, ...]]:
    what, whole = (stack.group, stack.name), sum(stack.counts)
    return [
        (*what, style_of(code).words, count, count / whole if whole else None, stack.n)
        for code, count in zip(figure.segments, stack.counts, strict=True)
    ]


def _cells(panel: HeatPanel) -> Sequence[tuple[object, ...]]:
    return [
        (panel.row, panel.column, int(y), int(x), float(value), panel.n)
        for (y, x), value in np.ndenumerate(panel.values)
    ]


def _points(panel: PlotPanel) -> Sequence[tuple[object, ...]]:
    return [
        (panel.title, series.name, x, y)
        for series in panel.series
        for x, y in zip(series.x, series.y, strict=True)
    ]


def _card(card: Card) -> tuple[object, ...]:
    return (
        *(card.item, card.task, card.model, "; ".join(card.labels)),
        *(card.excerpt, " | ".join(card.concerns)),
    )


def _example(tile: Tile) -> tuple[object, ...]:
    return tile.kind, tile.item, tile.finding, tile.model, tile.cell, tile.outcome
