"""Figures as data: their titles, styles and the numbers they show."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.helpers.sample_figures import (
    GREYS,
    gallery,
    head,
    heat,
    plots,
    rates,
    stacks,
    strip,
)
from viewer.domain.figure import (
    Card,
    CardFigure,
    Figure,
    HeatFigure,
    figure_table,
    full_title,
    has_limits,
)
from viewer.domain.report import Table

CARDS = CardFigure(
    head("fig7"),
    (
        Card("s1", "t1", "o3", GREYS, ("heart", "lung"), "A text.", ("Wrong.", "Long")),
        Card("s1", "t2", "o3", None, (), "None.", ()),
    ),
)


def test_that_a_title_says_what_tells_a_figure_from_its_like() -> None:
    assert full_title(strip()) == "Title of fig1"
    assert full_title(heat()) == "Title of fig4, Edema"
    of_grid = replace(strip(), head=replace(strip().head, grid="8x10"))
    assert full_title(of_grid) == "Title of fig1, 8 × 10 grid"


def test_that_heat_maps_share_the_scale_of_the_greatest_of_all() -> None:
    assert heat().greatest == 0.75
    assert HeatFigure(head("fig4"), np.zeros((2, 2)), ()).greatest == 0.0


def test_that_bars_are_listed_with_their_chance_and_what_is_published() -> None:
    table = figure_table(rates(published=True))
    assert table.header == ("panel", "group", "series", "rate", "error", "n", "kind")
    assert table.rows == (
        ("", "Edema", "a", 0.5, 0.1, 10, "bar"),
        ("", "Edema", "b", 0.25, None, 10, "bar"),
        ("", "Cardiomegaly", "a", None, None, 0, "bar"),
        ("", "Cardiomegaly", "b", 1.0, 0.2, 4, "bar"),
        ("", "Edema", "a", 0.1, None, None, "baseline"),
        ("", "Edema", "b", 0.1, None, None, "baseline"),
        ("", "Cardiomegaly", "a", None, None, None, "baseline"),
        ("", "Cardiomegaly", "b", 0.3, None, None, "baseline"),
        ("", "Edema", "CNN", 0.4, None, None, "published"),
    )


def test_that_bars_have_limits_if_any_whisker_has_two() -> None:
    plain = rates(published=True)
    (panel,) = plain.panels
    first = replace(panel.series[0], limits=((0.3, 0.9), None))
    series = (first, *panel.series[1:])
    figure = replace(plain, panels=(replace(panel, series=series),))
    assert (has_limits(plain), has_limits(figure)) == (False, True)
    table = figure_table(figure)
    assert table.header[-2:] == ("low", "high")
    assert [row[-2:] for row in table.rows[:2]] == [(0.3, 0.9), (None, None)]
    assert {row[-2:] for row in table.rows[2:]} == {(None, None)}
    assert {len(row) for row in table.rows} == {len(table.header)}


@pytest.mark.parametrize(
    ("figure", "header", "first", "count"),
    [
        (
            stacks(share=True),
            ("group", "bar", "segment", "count", "share", "n"),
            ("Edema", "a", "full hit", 2, 0.5, 4),
            9,
        ),
        (
            heat(),
            ("row", "column", "cell_row", "cell_column", "share", "n"),
            ("Edema", "Reference", 0, 0, 0.5, 3),
            16 + 4,
        ),
        (
            gallery(),
            ("class", "item", "finding", "model", "cell", "outcome"),
            ("Full hit", "i|Edema", "Edema", "a", "D4", "full hit"),
            2,
        ),
        (
            CARDS,
            ("item", "task", "model", "labels", "excerpt", "concerns"),
            ("s1", "t1", "o3", "heart; lung", "A text.", "Wrong. | Long"),
            2,
        ),
        (
            plots(joined=True),
            ("panel", "series", "x", "y"),
            ("CT", "image above text", 0.0, 0.5),
            5,
        ),
        (strip(), ("step", "words"), ("Image", "Edema"), 3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_that_every_number_of_a_figure_is_in_its_table(
    figure: Figure, header: tuple[str, ...], first: tuple[Any, ...], count: int
) -> None:
    table = figure_table(figure)
    assert table == Table(figure.head.name, header, table.rows)
    assert (table.rows[0], len(table.rows)) == (first, count)


def test_that_an_empty_stack_has_no_shares() -> None:
    table = figure_table(stacks(share=True))
    empty = [row for row in table.records() if row["bar"] == "b"]
    assert {(row["count"], row["share"], row["n"]) for row in empty} == {
        (0, None, None)
    }
