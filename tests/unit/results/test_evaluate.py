"""Tables of specifications, against rows written by hand."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from tests.helpers.tabled import rows
from viewer.domain.errors import WrongUseError
from viewer.results.estimators import ESTIMATORS, Seen, estimator
from viewer.results.evaluate import evaluate, evaluate_all
from viewer.results.frame import frame_of
from viewer.results.spec import Cell, Key, Line, ListSpec, Spec, TableSpec

FRAME = frame_of(
    {
        "model": ["b", "b", "b", "a", "a"],
        "way": ["x", "y", "x", "x", "x"],
        "finding": ["p", "p", "q", "q", "q"],
        "side": [3, 1, 2, 3, 1],
        "correct": [True, False, True, False, True],
        "cost": [0.5, None, 1.5, 2.0, 4.0],
    }
)
PRICES = frame_of({"model": ["a", "a", "c"], "price": [1, 2, 3]})
FRAMES = {"trials": FRAME, "prices": PRICES}
N = Cell("size", ("n",))
MODEL, WAY, FINDING = Key("model"), Key("way"), Key("finding", total="every")


def values(spec: Spec) -> list[tuple[object, ...]]:
    return list(evaluate(spec, FRAMES).rows)


def test_that_rows_come_as_the_frame_first_has_them() -> None:
    spec = TableSpec("t", (MODEL, WAY), (N,))
    assert evaluate(spec, FRAMES).header == ("model", "way", "n")
    assert values(spec) == [("b", "x", 2), ("b", "y", 1), ("a", "x", 2)]
    assert values(TableSpec("t", (), (N,))) == [(5,)]


def test_that_every_outer_combination_has_its_sets_one_after_the_other() -> None:
    spec = TableSpec(
        "t",
        (FINDING, WAY, MODEL),
        (N,),
        outer=("way", "model"),
        every=True,
        sets=((), ("finding",)),
    )
    assert values(replace(spec, every=False)) == values(spec)[:-1]
    assert values(spec) == [
        ("every", "x", "b", 2),
        ("p", "x", "b", 1),
        ("q", "x", "b", 1),
        ("every", "x", "a", 2),
        ("q", "x", "a", 2),
        ("every", "y", "b", 1),
        ("p", "y", "b", 1),
        ("every", "y", "a", 0),
    ]


def test_that_a_division_that_divides_nothing_is_left_out() -> None:
    spec = TableSpec(
        "t",
        (MODEL, FINDING),
        (N,),
        outer=("model",),
        sets=((), ("finding",)),
        only_several=("finding",),
    )
    assert values(spec) == [
        *(("b", "every", 3), ("b", "p", 2), ("b", "q", 1)),
        ("a", "every", 2),
    ]


def test_that_a_comparison_needs_several_to_compare() -> None:
    spec = TableSpec("t", (WAY,), (N,), needs_several="model")
    assert values(spec) == [("x", 4), ("y", 1)]
    alone = TableSpec("t", (WAY,), (N,), where={"model": ("b",)}, needs_several="model")
    assert values(alone) == []


def test_that_keys_come_in_the_order_asked_for() -> None:
    listed = Key("finding", values=("q", "p", "z"))
    ascending = Key("side", ascending=True)
    assert values(TableSpec("t", (listed,), (N,))) == [("q", 3), ("p", 2)]
    assert values(TableSpec("t", (ascending,), (N,))) == [(1, 2), (2, 1), (3, 2)]
    assert values(TableSpec("t", (MODEL, ascending), (N,))) == [
        *(("b", 1, 1), ("b", 2, 1), ("b", 3, 1)),
        *(("a", 1, 1), ("a", 3, 1)),
    ]
    outer = TableSpec("t", (listed, WAY), (N,), outer=("finding",))
    assert values(outer) == [("q", "x", 3), ("p", "x", 1), ("p", "y", 1)]
    sides = TableSpec("t", (ascending,), (N,), outer=("side",))
    assert values(sides) == [(1, 2), (2, 1), (3, 2)]


def test_that_values_wanted_alone_count_even_in_totals() -> None:
    spec = TableSpec("t", (Key("way", values=("y",)),), (N,), sets=((), ("way",)))
    assert values(spec) == [("", 1), ("y", 1)]
    both = TableSpec("t", (WAY,), (N,), outer=("way",), where={"way": ("y", "z")})
    assert values(both) == [("y", 1)]


def test_that_a_cell_counts_the_rows_it_wants() -> None:
    spec = TableSpec(
        "t",
        (MODEL,),
        (
            Cell("size", ("n_q",), where={"finding": ("q",), "way": ("x",)}),
            Cell("rate", ("k", "n"), ("correct",)),
            Cell("mean", ("mean_cost",), ("cost",), where={"finding": ("p",)}),
        ),
        where={"side": (1, 3)},
    )
    assert rows(spec, FRAMES) == [
        {"model": "b", "n_q": 0, "k": 1, "n": 2, "mean_cost": 0.5},
        {"model": "a", "n_q": 2, "k": 1, "n": 2, "mean_cost": None},
    ]


def test_that_a_cell_is_held_against_another_row() -> None:
    every = Cell("part", ("of_model",), against={"way": None})
    plain = Cell("part", ("of_x",), against={"way": "x"})
    alone = Cell("part", ("of_nothing",))
    assert values(TableSpec("t", (MODEL, WAY), (every, plain, alone))) == [
        ("b", "x", 2 / 3, 1.0, None),
        ("b", "y", 1 / 3, 0.5, None),
        ("a", "x", 1.0, 1.0, None),
    ]


def test_that_another_frame_is_taken_by_the_keys_that_it_has() -> None:
    prices = Cell("sum", ("price",), ("price",), frame="prices")
    dear = Cell("size", ("dear",), where={"price": (2, 3)}, frame="prices")
    whole = Cell("size", ("all",), frame="trials")
    spec = TableSpec(
        "t", (MODEL, WAY), (prices, dear, whole), where={"finding": ("q",)}
    )
    assert values(spec) == [("b", "x", 0, 0, 1), ("a", "x", 3, 1, 2)]
    assert values(TableSpec("t", (MODEL,), (N,), frame="prices")) == [
        ("a", 2),
        ("c", 1),
    ]


def test_that_each_line_is_a_row_under_the_columns_of_all() -> None:
    cost = Cell("mean", ("value",), ("cost",))
    lines = (
        Line((("what", "rows"),), (N, Cell("share", ("value",), ("correct",)))),
        Line((("what", "cost"), ("how", "mean")), (cost, N), {"way": ("x",)}),
    )
    spec = TableSpec("t", (MODEL,), where={"side": (1, 3)}, lines=lines)
    assert spec.header == ("model", "what", "n", "value", "how")
    assert values(spec) == [
        ("b", "rows", 2, 0.5, None),
        ("b", "cost", 2, 0.5, "mean"),
        ("a", "rows", 2, 0.5, None),
        ("a", "cost", 2, 3.0, "mean"),
    ]
    unpriced = replace(spec, where={"way": ("y",)})
    assert values(unpriced) == [("b", "rows", 1, 0.0, None)]


def test_that_lists_have_a_row_for_each_of_their_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def doubled(seen: Seen) -> tuple[object, ...]:
        sides = sorted(seen.values())
        return sides, [np.int64(2 * side) for side in sides], "twice"

    monkeypatch.setitem(ESTIMATORS, "doubled", doubled)
    found = Cell("doubled", ("side", "double", "how"), ("side",))
    dear = replace(found, where={"cost": (4.0,)})
    assert values(TableSpec("t", (WAY,), (dear, N))) == [("x", 1, 2, "twice", 4)]
    every = values(TableSpec("t", (Key("way", values=("x",)),), (found, N)))
    assert [row[1:3] for row in every] == [(1, 2), (2, 4), (3, 6), (3, 6)]
    assert all(type(row[2]) is int for row in every)


def test_that_printed_rows_stand_only_below_others() -> None:
    printed = (("paper", 7), ("other paper", None))
    assert values(TableSpec("t", (WAY,), (N,), below=printed)) == [
        *(("x", 4), ("y", 1)),
        *printed,
    ]
    none = TableSpec("t", (WAY,), (N,), where={"way": ("z",)}, below=printed)
    assert values(none) == []


def test_that_a_header_may_differ_from_its_column() -> None:
    (row,) = rows(TableSpec("t", (Key("way", "how", values=("y",)),), (N,)), FRAMES)
    assert row == {"how": "y", "n": 1}


def test_that_values_are_python_s_own_and_none_where_there_is_none() -> None:
    spec = TableSpec("t", (Key("side"),), (Cell("mean", ("m",), ("cost",)),))
    found = values(spec)
    assert found == [(3, 1.25), (1, 4.0), (2, 1.5)]
    assert {type(value) for row in found for value in row} == {int, float}
    listed = evaluate(ListSpec("l", ("side", "correct", "cost")), FRAMES)
    assert listed.rows[1] == (1, False, None)
    assert list(map(type, listed.rows[0])) == [int, bool, float]
    odd = frame_of({"a": [np.int64(1), np.float64("nan"), "x"]})
    assert evaluate(ListSpec("trials"), {"trials": odd}).rows == ((1,), (None,), ("x",))


def test_that_a_list_has_the_rows_and_columns_wanted() -> None:
    spec = ListSpec("l", ("way", "model"), where={"finding": ("p",)})
    assert evaluate(spec, FRAMES).header == ("way", "model")
    assert values(spec) == [("x", "b"), ("y", "b")]
    every = evaluate(ListSpec("l", frame="prices"), FRAMES)
    assert every.header == ("model", "price")
    assert every.rows == (("a", 1), ("a", 2), ("c", 3))
    nothing = evaluate(ListSpec("l", frame="none"), {"none": frame_of({})})
    assert (nothing.header, nothing.rows) == ((), ())


def test_that_tables_come_in_the_order_of_their_specifications() -> None:
    specs: list[Spec] = [
        TableSpec("z", (), (N,)),
        ListSpec("a"),
        TableSpec("m", (), (N,)),
    ]
    assert [t.name for t in evaluate_all(specs, FRAMES)] == ["z", "a", "m"]


FRAME_GONE = "The table 't' is made from 'gone', which the study does not produce."
COLUMN_GONE = "The table 't' names the column 'gone', which its records do not have."
KEY_GONE = "The table 't' distinguishes rows by 'way', which is not one of its keys."
ESTIMATOR_GONE = (
    "The table 't' asks for the estimator 'gone', which this program does not have."
)


@pytest.mark.parametrize(
    ("spec", "problem", "remedy"),
    [
        (ListSpec("t", frame="gone"), FRAME_GONE, "It produces trials, prices."),
        (TableSpec("t", (), (N,), frame="gone"), FRAME_GONE, "It produces trials"),
        (TableSpec("t", (), (Cell("size", ("n",), frame="gone"),)), FRAME_GONE, ""),
        (ListSpec("t", ("gone",)), COLUMN_GONE, "They have model, way, finding"),
        (ListSpec("t", where={"gone": (1,)}), COLUMN_GONE, "They have model"),
        (TableSpec("t", (Key("gone"),), (N,)), COLUMN_GONE, "They have model"),
        (TableSpec("t", (), (N,), where={"gone": (1,)}), COLUMN_GONE, ""),
        (TableSpec("t", (), (N,), needs_several="gone"), COLUMN_GONE, ""),
        (TableSpec("t", (), (Cell("sum", ("n",), ("gone",)),)), COLUMN_GONE, ""),
        (TableSpec("t", (), (Cell("size", ("n",), where={"gone": ()}),)), "", ""),
        (
            TableSpec("t", (), (Cell("sum", ("n",), ("gone",), frame="prices"),)),
            COLUMN_GONE,
            "They have model, price.",
        ),
        (TableSpec("t", (), (Cell("gone", ("n",)),)), ESTIMATOR_GONE, ", f1, "),
        *(
            (
                TableSpec("t", (), (Cell("sum", ("n",), ("side",), **of),)),
                COLUMN_GONE,
                "",
            )
            for of in (
                {"options": {"by": "gone"}},
                {"options": {"by": ("way", "gone")}},
                {"against": {"gone": None}},
            )
        ),
        (
            TableSpec("t", (), (Cell("mean of pooled rates", ("n",), ("side",)),)),
            (
                "The table 't' gives the estimator 'mean of pooled rates' no column or "
                "option 'by'."
            ),
            "It has the columns model, way",
        ),
        (
            TableSpec("t", (), (Cell("size", ("n", "k")),)),
            "The table 't' has 2 names for the",
            "Give one name for each value.",
        ),
        *(
            (TableSpec("t", (MODEL,), (N,), **of), KEY_GONE, "Its keys are model.")
            for of in (
                {"outer": ("way",)},
                {"sets": ((), ("way",))},
                {"only_several": ("way",)},
            )
        ),
    ],
)
def test_that_what_is_not_there_is_said_in_a_sentence(
    spec: Spec, problem: str, remedy: str
) -> None:
    with pytest.raises(WrongUseError) as raised:
        evaluate(spec, FRAMES)
    assert problem in str(raised.value)
    assert remedy in str(raised.value)


def test_that_rows_of_a_total_can_leave_a_cell_empty() -> None:
    spec = TableSpec(
        "t",
        (MODEL, FINDING),
        (N, Cell("size", ("of_finding",), blank="finding")),
        outer=("model",),
        sets=(("finding",), ()),
    )
    assert values(spec) == [
        *(("b", "p", 2, 2), ("b", "q", 1, 1), ("b", "every", 3, None)),
        *(("a", "q", 2, 2), ("a", "every", 2, None)),
    ]


def test_that_what_a_table_is_limited_to_can_be_held_against_something_else() -> None:
    beside = Cell("part", ("part",), against={"way": "x"}, frame="trials")
    spec = TableSpec("t", (MODEL,), (N, beside), where={"way": ("y",)})
    assert values(spec) == [("b", 1, 1 / 2)]


def test_that_cells_of_a_table_share_what_is_worked_out_once() -> None:
    numbers = count(1)

    @estimator("counted once")
    def counted_once(seen: Seen) -> tuple[object]:
        return (seen.once("n", lambda: next(numbers)),)

    spec = TableSpec("t", (MODEL,), (Cell("counted once", ("n",)),))
    assert values(spec) == [("b", 1), ("a", 1)]
    assert values(spec) == [("b", 2), ("a", 2)]
    del ESTIMATORS["counted once"]
