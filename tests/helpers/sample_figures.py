"""One made-up figure of every kind."""

import numpy as np

from viewer.domain.figure import (
    Figure,
    FigureHead,
    GalleryFigure,
    HeatFigure,
    HeatPanel,
    PlotFigure,
    PlotPanel,
    PlotSeries,
    PublishedMark,
    RateFigure,
    RatePanel,
    Stack,
    StackFigure,
    Step,
    StripFigure,
    Tile,
)
from viewer.domain.report import BarSeries

GREYS = np.arange(64, dtype=np.uint8).reshape(8, 8)


def head(name: str) -> FigureHead:
    """Return a figure's words."""
    return FigureHead(name, f"Figure {name[3:]}", f"Title of {name}", "A caption.")


def rates(*, published: bool, one_model: bool = False) -> RateFigure:
    """Return grouped bars of two series, one bar without a value."""
    marks = (PublishedMark("Edema", "CNN", 0.4),) if published else ()
    panel = RatePanel(
        "m" if one_model else "",
        ("Edema", "Cardiomegaly"),
        (
            BarSeries("a", (0.5, None), (0.1, None), (10, 0)),
            BarSeries("b", (0.25, 1.0), (None, 0.2), (10, 4)),
        ),
        ((0.1, None), (0.1, 0.3)),
        marks,
    )
    name = "fig6" if one_model else "fig2"
    panels = (panel, panel) if one_model else (panel,)
    return RateFigure(head(name), panels, "SD", "chance", one_model=one_model)


def stacks(*, share: bool) -> StackFigure:
    """Return two stacked bars."""
    bars = (
        Stack("Edema", "a", (2, 1, 1), 4),
        Stack("Edema", "b", (0, 0, 0)),
        Stack("CT", "c", (1, 0, 2), 3, code="CT"),
    )
    segments = ("full", "not_reviewed", "no_answer")
    name = "fig3" if share else "fig9"
    return StackFigure(head(name), segments, bars, "trials", share=share)


def heat() -> HeatFigure:
    """Return a reference and an answer panel of one finding."""
    panels = (
        HeatPanel("Edema", "Reference", np.eye(4) / 2, 3),
        HeatPanel("Edema", "a", np.arange(4).reshape(2, 2) / 4, 4),
    )
    return HeatFigure(head("fig4"), np.linspace(0, 1, 256).reshape(16, 16), panels)


def gallery() -> GalleryFigure:
    """Return two examples of two classes."""
    picture = np.stack([GREYS] * 3, axis=-1)
    tiles = tuple(
        Tile(picture, kind, "i|Edema", "Edema", "a", "D4", kind.lower())
        for kind in ("Full hit", "Complete miss")
    )
    return GalleryFigure(head("fig5"), tiles)


def strip() -> StripFigure:
    """Return a picture, a long text and a short one."""
    steps = (
        Step("Image", GREYS, "Edema", "CT"),
        Step("Question", None, "Where is it? " * 60),
        Step("Answer", None, "D4"),
    )
    return StripFigure(head("fig1"), steps)


def plots(*, joined: bool) -> PlotFigure:
    """Return lines in one panel, or points about y = x in four."""
    first = PlotSeries(
        "image above text", (0.0, 0.5, 1.0), (0.5, 0.75, 1.5), "image_above"
    )
    second = PlotSeries("text", (0.0, 0.5), (0.25, 0.125))
    titles = ("CT",) if joined else ("CT", "MRI", "PET", "X-ray")
    code = "" if joined else "CT"
    panels = tuple(PlotPanel(title, (first, second), code) for title in titles)
    name = "fig12" if joined else "fig13"
    return PlotFigure(head(name), panels, "x", "y", joined, not joined)


SAMPLES: tuple[Figure, ...] = (
    strip(),
    rates(published=True),
    stacks(share=True),
    heat(),
    gallery(),
    rates(published=False, one_model=True),
    stacks(share=False),
    plots(joined=True),
    plots(joined=False),
)
