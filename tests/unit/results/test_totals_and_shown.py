"""Total rows with an estimator of their own, and columns that a page shows."""

from dataclasses import replace

import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.report import Table
from viewer.results.evaluate import evaluate
from viewer.results.frame import frame_of
from viewer.results.page import Printed, sections
from viewer.results.spec import Cell, Key, ListSpec, Shown, TableSpec

FRAMES = {"trials": frame_of({"of": ["a", "b", "b"], "x": [1.0, 4.0, 6.0]})}
KEYS = (Key("of", total="every"),)


def test_that_rows_of_a_total_may_have_another_estimator() -> None:
    cell = Cell("mean", ("x",), ("x",), total="sum")
    spec = TableSpec("t", KEYS, (cell, Cell("size", ("n",))), sets=(("of",), ()))
    rows = (("a", 1.0, 1), ("b", 5.0, 2), ("every", 11.0, 3))
    assert evaluate(spec, FRAMES).rows == rows


def test_that_an_unknown_estimator_of_totals_is_named() -> None:
    spec = TableSpec("t", KEYS, (Cell("mean", ("x",), ("x",), total="gone"),))
    with pytest.raises(WrongUseError, match="'gone'"):
        evaluate(spec, FRAMES)


def test_that_a_page_shows_the_columns_it_has_room_for() -> None:
    spec = ListSpec(
        "trials",
        title="Trials",
        shown=(
            Shown("rate", "Rate", scale=100, counts=("k", "n")),
            Shown("change", "Change", "+.1f", unit=" pp"),
            Shown("k", "Right"),
            "kept",
            "of",
        ),
    )
    columns: dict[str, list[object]] = {
        "of": ["a", "b"],
        "k": [2, 0],
        "n": [3, 4],
        "rate": [2 / 3, None],
    }
    more: dict[str, list[object]] = {"change": [-1.25, -0.0], "kept": [True, False]}
    table = evaluate(spec, {"trials": frame_of({**columns, **more})})
    (section,) = sections([spec], [table])
    rows = (
        ("66.67 (2 / 3)", "-1.2 pp", 2, "yes", "a"),
        ("-", "-0.0 pp", 0, "no", "b"),
    )
    header = ("Rate", "Change", "Right", "Kept", "Of")
    assert section.table == Table("trials", header, rows)
    zero = Table("trials", ("nmse",), ((-0.001,),))
    (section,) = sections([replace(spec, shown=(Shown("nmse", "NMSE"),))], [zero])
    assert section.table is not None
    assert section.table.rows == (("0.00",),)


def test_that_a_page_shows_a_dash_for_an_interval_that_is_not_estimable() -> None:
    rate = Shown("rate", "Rate", ".1f", 100, limits=("low", "high"))
    table = Table("t", ("rate", "low", "high"), ((0.5, 0.25, 0.75), (0.5, None, None)))
    (section,) = sections([TableSpec("t", KEYS, (), "T", shown=(rate,))], [table])
    assert section.table is not None
    assert section.table.rows == (("50.0 [25.0, 75.0]",), ("50.0 [-]",))


def test_that_a_page_leaves_out_columns_in_which_nothing_stands() -> None:
    spec = TableSpec("t", KEYS, (), "T", shown=("of", "note", "x"))
    table = Table("t", ("of", "note", "x"), (("a", "", 1), ("b", "", 2)))
    (section,) = sections([spec], [table])
    assert section.table.header == ("Of", "x")
    paper = {"t": [Printed("S", "Table 1", ({"of": "c", "note": "tuned"},))]}
    (section,) = sections([spec], [table], paper)
    assert section.table.header == ("Of", "Note", "x")


def test_that_a_page_has_all_rows_of_a_table_and_the_start_of_a_list() -> None:
    many = Table("t", ("of",), tuple((str(i),) for i in range(101)))
    for spec, rows in (
        (TableSpec("t", KEYS, (), "T", "All."), 101),
        (ListSpec("t", title="T", text="All."), 100),
    ):
        (section,) = sections([spec], [many])
        assert section.table is not None
        assert len(section.table.rows) == rows
        assert ("The first 100 of 101" in section.text) == (rows == 100)


def test_that_whole_numbers_stay_whole_where_some_are_not_told() -> None:
    values = frame_of({"n": [398, None]})["n"]
    assert values == [398, None]
    assert type(values[0]) is int
