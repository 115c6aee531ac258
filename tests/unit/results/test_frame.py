"""Frames, against rows written by hand."""

from math import isnan, nan

import pytest

from viewer.results.frame import frame_of, frame_of_rows

FRAME = frame_of(
    {
        "model": ["b", "a", "b", "a", "b"],
        "side": [1, 1, 2, 2, 1],
        "cost": [0.5, None, nan, 2.0, 4.0],
    }
)


def test_that_no_value_of_a_frame_is_cast_to_another() -> None:
    columns: dict[str, list[object]] = {
        "whole": [1, 2],
        "some": [1, None],
        "mixed": [1, 0.5],
        "told": [True, None],
        "flags": [True, False],
        "words": ["a", ""],
        "labels": [("a", "b"), ()],
        "none": [None, None],
    }
    found = frame_of(columns)
    for name, values in columns.items():
        assert found[name] == values
        assert list(map(type, found[name])) == list(map(type, values))
    assert isnan(frame_of({"cost": [1.0, None]})["cost"][1])


def test_that_columns_are_of_one_length() -> None:
    with pytest.raises(ValueError, match="too many values"):
        frame_of({"a": [1], "b": [1, 2]})
    assert len(frame_of({})) == 0


def test_that_rows_make_a_frame_that_keeps_its_columns_without_any() -> None:
    found = frame_of_rows(("a", "b"), iter([(1, "x"), (2, "y")]))
    assert list(found.each("b", "a")) == [("x", 1), ("y", 2)]
    empty = frame_of_rows(("a", "b"), ())
    assert (empty.columns, len(empty)) == (("a", "b"), 0)


def test_that_parts_of_parts_have_their_own_rows() -> None:
    part = FRAME.take([4, 3, 0]).take([1, 2])
    assert list(part.records())[1] == {"model": "b", "side": 1, "cost": 0.5}
    assert list(part.where({"side": (1, 7)})["model"]) == ["b"]
    assert not FRAME.where({"model": ("a",), "side": (3,)})
    assert FRAME.values_in("cost") == [0.5, 2.0, 4.0]
    assert list(FRAME.complete("cost", "side")["side"]) == [1, 2, 1]
    assert part.has_rows_of(FRAME.take([3, 0]))
    assert not part.has_rows_of(FRAME.take([0, 3]))
    assert not part.has_rows_of(frame_of({}).take([]))
    with pytest.raises(KeyError):
        part["gone"]


def test_that_groups_come_as_they_are_first_seen() -> None:
    groups = FRAME.take([4, 3, 2, 1]).groups("model", "side")
    sizes = [(key, len(rows)) for key, rows in groups.items()]
    assert sizes == [(("b", 1), 1), (("a", 2), 1), (("b", 2), 1), (("a", 1), 1)]
    assert groups["b", 1]["cost"] == [4.0]
    assert FRAME.take(()).groups("model") == {}
    assert [*FRAME.take(()).groups()] == [()]


def test_that_a_frame_has_more_columns_in_place_of_its_own() -> None:
    part = FRAME.take([1, 0]).having(side=["x", "y"], more=[None, 1.0])
    assert part.columns == ("model", "side", "cost", "more")
    assert list(part.each("model", "side")) == [("a", "x"), ("b", "y")]
    assert isnan(part["more"][0])
    assert FRAME["side"][0] == 1
