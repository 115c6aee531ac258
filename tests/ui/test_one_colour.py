"""A model has one colour in Read, in charts, figures, comparisons and pictures."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QGraphicsScene

from tests.helpers.random_answers import a_stored_answer
from viewer.domain.figure import (
    FigureHead,
    PlotFigure,
    PlotPanel,
    PlotSeries,
    RateFigure,
    RatePanel,
)
from viewer.domain.forest import ForestFigure, ForestRow
from viewer.domain.image import Raster
from viewer.domain.report import BarFigure, BarSeries
from viewer.domain.styles import MODELS, know_models, rgb_of
from viewer.ui.canvas.layers import Layers
from viewer.ui.canvas.overlays.halo import TEXT
from viewer.ui.panels.asking.signs import SIGN_PX, sign
from viewer.ui.panels.charts.chart import _legend
from viewer.ui.panels.comparing.plot import _caption
from viewer.ui.panels.measure.film_picture import _marked
from viewer.ui.tables.chart_bars import BarChart
from viewer.writers.figures import bar_figure_svg
from viewer.writers.figures_files import figure_files
from viewer.writers.forest import forest_svg

MODEL, OTHER = "mine", "another"
PLACE = 3
COLOUR = MODELS[PLACE]
HEAD = FigureHead("fig", "Figure", "Rates", "Caption.")
ROW = ForestRow("Edema", 9, 0.1, (0.0, 0.2), 0.4, 0.3, "p 0.3")
FOREST = ForestFigure("", "a", "b", "95 %", (ROW,), "", (OTHER, MODEL))


def _bars() -> tuple[BarSeries, ...]:
    return tuple(BarSeries(m, (0.5,), (None,), (9,)) for m in (OTHER, MODEL))


def _on_images() -> str:
    layers = Layers(QGraphicsScene(), TEXT)
    layers.set_answers(tuple(a_stored_answer(model=m) for m in (OTHER, MODEL)))
    colours = {item.answer.model: item._color.name() for item in layers.answers}
    return colours[MODEL]


def _in_pictures() -> str:
    plain = Raster(np.zeros((64, 64), np.uint8))
    answer = a_stored_answer(model=MODEL)
    pixels = _marked(None, answer, answer, plain).pixels  # type: ignore[arg-type]
    return COLOUR if (pixels == rgb_of(COLOUR)).all(axis=2).any() else "another"


def _svg(content: bytes) -> str:
    return content.decode()


DRAWN: dict[str, Callable[[], str]] = {
    "Read": _on_images,
    "filmstrip": _in_pictures,
    "chart": lambda: _legend(BarChart("", (OTHER, MODEL), ())),
    "report": lambda: _svg(
        bar_figure_svg(BarFigure("f", "", "", "", ("g",), _bars(), "", (None,)))
    ),
    "rates": lambda: _svg(
        figure_files(
            RateFigure(HEAD, (RatePanel("", ("g",), _bars(), ((None,),) * 2),), "", "")
        )["fig.svg"]
    ),
    "plots": lambda: _svg(
        figure_files(
            PlotFigure(
                HEAD,
                (PlotPanel("", (PlotSeries(OTHER, (0,), (1,)),
                                PlotSeries(MODEL, (0, 1), (1, 0)))),),
                "x", "y", joined=True,
            )
        )["fig.svg"]
    ),
    "comparison": lambda: _caption(FOREST),
    "forest plot": lambda: _svg(forest_svg(FOREST)),
}  # fmt: skip


@pytest.mark.usefixtures("qapp")
def test_that_a_selected_row_leaves_its_sign_the_models_colour() -> None:
    icon = sign(a_stored_answer().score, COLOUR)
    modes = QIcon.Mode.Normal, QIcon.Mode.Selected
    plain, selected = (icon.pixmap(SIGN_PX, SIGN_PX, mode) for mode in modes)
    assert selected.toImage() == plain.toImage()


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("where", DRAWN)
def test_that_a_model_has_its_profiles_colour_wherever_it_is_drawn(where: str) -> None:
    know_models({MODEL: PLACE})
    told = DRAWN[where]().lower()
    assert COLOUR.lower() in told
    assert MODELS[1].lower() not in told  # the colour of its place here
