from dataclasses import replace

import pytest

from tests.helpers.sample_figures import heat, rates
from viewer.domain.errors import WrongUseError
from viewer.domain.figure import PublishedMark, RateFigure, RatePanel
from viewer.domain.figure_order import (
    by_relative_difference,
    order_names,
    orders_of,
)
from viewer.domain.report import BarSeries

GROUPS = ("w", "x", "Mean", "y", "z")
FIRST = (0.2, 0.9, 0.5, 0.6, None)
SECOND = (0.1, 0.6, 0.4, 0.0, 0.5)


def figure() -> RateFigure:
    """Return five groups: their differences are 1, 0.5, the mean, and two without."""
    series = (
        BarSeries("a", FIRST, (0.01, 0.02, 0.03, 0.04, None), (1, 2, 3, 4, 5)),
        BarSeries("b", SECOND, (None,) * 5, (1, 2, 3, 4, 5)),
    )
    chance = (0.05, 0.01, 0.02, 0.03, 0.04)
    marks = (PublishedMark("x", "CNN", 0.3), PublishedMark("w", "CNN", 0.4))
    panel = RatePanel("", GROUPS, series, (chance, chance), marks)
    return replace(rates(published=False), panels=(panel,), summary="Mean")


@pytest.mark.statement("E000-28")
def test_that_groups_stand_by_their_relative_difference_and_the_mean_last() -> None:
    ordered = by_relative_difference(figure(), "a", "b")
    (panel,) = ordered.panels
    assert panel.groups == ("w", "x", "y", "z", "Mean")
    assert panel.series[0].values == (0.2, 0.9, 0.6, None, 0.5)
    assert panel.series[0].errors == (0.01, 0.02, 0.04, None, 0.03)
    assert panel.series[1].counts == (1, 2, 4, 5, 3)
    assert panel.baselines[0] == (0.05, 0.01, 0.03, 0.04, 0.02)
    assert ordered.head.words.endswith("(a − b) / b, greatest first.")


def test_that_chance_and_printed_values_order_too() -> None:
    by_chance = by_relative_difference(figure(), "a", "chance")
    # 3, 89, mean, 19, none
    assert by_chance.panels[0].groups == ("x", "y", "w", "z", "Mean")
    by_printed = by_relative_difference(figure(), "a", "CNN")
    # -0.5, 2, mean, none, none
    assert by_printed.panels[0].groups == ("x", "w", "y", "z", "Mean")
    again = by_relative_difference(by_chance, "a", "CNN")
    assert set(again.panels[0].groups[2:4]) == {"y", "z"}
    assert again.panels[0].groups[:2] == ("x", "w")


def test_that_what_a_figure_has_is_offered_and_nothing_else_taken() -> None:
    assert order_names(figure()) == ("a", "b", "chance", "CNN")
    with pytest.raises(WrongUseError, match="no series named 'c'"):
        by_relative_difference(figure(), "a", "c")


def test_that_only_findings_under_several_rates_can_be_ordered() -> None:
    assert orders_of(figure()) == order_names(figure())
    assert orders_of(replace(figure(), in_order=True)) == ()
    assert orders_of(replace(figure(), one_model=True)) == ()
    assert orders_of(heat()) == ()
    (panel,) = figure().panels
    single = replace(panel, series=panel.series[:1], baselines=(), published=())
    assert orders_of(replace(figure(), panels=(single,), baseline_name="")) == ()
