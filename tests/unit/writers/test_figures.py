import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure

from viewer.domain.report import BarFigure, BarSeries
from viewer.domain.styles import MODELS, know_models
from viewer.writers import figures
from viewer.writers.figures import bar_figure_svg

FIGURE = BarFigure(
    "f.svg",
    "Hit rate",
    "Hit rate",
    "bootstrap SD",
    ("Edema", "Cardiomegaly"),
    (
        BarSeries("a", (0.5, None), (0.1, None), (10, 0)),
        BarSeries("b", (0.25, 1.0), (None, 0.2), (10, 4)),
    ),
    "random cell",
    (0.1, None),
)


@pytest.fixture(autouse=True)
def _nothing_drawn_yet() -> None:
    figures._svg.cache_clear()


def test_that_the_same_figure_gives_the_same_bytes() -> None:
    before = bar_figure_svg(FIGURE)
    figures._svg.cache_clear()
    assert bar_figure_svg(FIGURE) == before
    other = replace(FIGURE, title="Other")
    assert bar_figure_svg(other) != bar_figure_svg(FIGURE)


def test_that_a_figure_is_well_formed_and_carries_no_date() -> None:
    svg = bar_figure_svg(FIGURE)
    root = ET.fromstring(svg)  # noqa: S314 - our own drawing
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert b"<dc:date>" not in svg


def test_that_a_page_is_drawn_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Figure] = []
    draw = Figure.draw

    def counted(page: Figure, renderer: RendererBase) -> None:
        drawn.append(page)
        draw(page, renderer)

    monkeypatch.setattr(Figure, "draw", counted)
    bar_figure_svg(FIGURE)
    assert len(drawn) == 1
    bar_figure_svg(FIGURE)
    assert len(drawn) == 1


def test_that_a_figure_is_drawn_anew_once_its_models_have_other_colours() -> None:
    before = bar_figure_svg(FIGURE)
    know_models({"a": 4})
    after = bar_figure_svg(FIGURE).decode().lower()
    assert MODELS[4].lower() in after
    assert after != before.decode().lower()


def test_that_each_series_has_its_colour_of_the_one_table() -> None:
    svg = bar_figure_svg(FIGURE).decode().lower()
    assert MODELS[0].lower() in svg
    assert MODELS[1].lower() in svg
    assert MODELS[2].lower() not in svg


def test_that_a_figure_without_a_value_can_be_drawn() -> None:
    empty = BarSeries("a", (None,), (None,), (0,))
    figure = replace(FIGURE, groups=("Edema",), series=(empty,), baseline=(None,))
    assert bar_figure_svg(figure).startswith(b"<?xml")


def test_that_names_from_outside_are_drawn_as_text() -> None:
    names = (r"$\frac{x$", "_hidden", "\x1b[31m\x00\ud800\u202e")
    series = BarSeries("_m$", (0.5,) * 3, (0.1,) * 3, (4,) * 3)
    figure = replace(FIGURE, groups=names, series=(series,), baseline=(None,) * 3)
    root = ET.fromstring(bar_figure_svg(figure))  # noqa: S314 - our own drawing
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
