import pytest

from viewer.domain.figure import (
    FigureHead,
    PlotFigure,
    PlotPanel,
    PlotSeries,
    figure_table,
)


def figure(*panels: tuple[float, ...], one_scale: bool = True) -> PlotFigure:
    """Return a figure with a line in each panel."""
    made = tuple(
        PlotPanel("", (PlotSeries("m", tuple(map(float, range(len(ys)))), ys),))
        for ys in panels
    )
    head = FigureHead("name", "Figure 4", "Title", "Text")
    return PlotFigure(head, made, "x", "y", one_scale=one_scale)


def test_that_panels_of_one_scale_reach_over_the_values_of_all() -> None:
    assert figure((20.0, 80.0), (10.0, 90.0)).y_range == pytest.approx((6, 94))
    assert figure((50.0,), (50.0, 50.0)).y_range == (49.0, 51.0)


def test_that_other_panels_and_empty_ones_have_their_own_scale() -> None:
    assert figure((20.0, 80.0), one_scale=False).y_range is None
    assert figure((), ()).y_range is None
    assert figure().y_range is None


def test_that_a_series_looks_the_same_in_every_panel() -> None:
    assert list(figure((1.0,), (2.0,)).styles) == ["m"]


def test_that_the_table_of_a_plot_has_every_point() -> None:
    table = figure_table(figure((20.0, 80.0), (10.0,)))
    assert [row[1:] for row in table.rows] == [
        ("m", 0.0, 20.0),
        ("m", 1.0, 80.0),
        ("m", 0.0, 10.0),
    ]
