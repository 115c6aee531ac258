"""Dataclasses as plain JSON values and back."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np
import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx
from viewer.domain.plain import (
    Kinds,
    NotNegative,
    made,
    packed,
    plain,
    unpacked,
)

WHOLE = BoxPx(0, 0, 1, 1)


class Colour(StrEnum):
    """A word of few."""

    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Spot:
    """A part of another."""

    x: float
    y: float = 0.0

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x is below 0")


@dataclass(frozen=True)
class Layer:
    """A part with a word."""

    shade: Colour | None = None


@dataclass(frozen=True)
class Sheet:
    """Every type of field that documents hold."""

    grid: int
    spots: tuple[Spot, ...] = ()
    pair: tuple[int, int] = (1, 2)
    colours: frozenset[Colour] = frozenset()
    counts: Mapping[Colour, int] = field(default_factory=dict)
    named: Mapping[str, Spot] = field(default_factory=dict)
    facts: Mapping[str, object] = field(default_factory=dict)
    data: bytes = b""
    path: Path = Path("here")
    limit: int | None = None
    mixed: int | str = 0
    switch: bool = False
    box: BoxPx = WHOLE
    shade: Colour | None = None
    side: Literal["left", "right"] = "left"
    layers: Mapping[str, tuple[Layer, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Blank:
    """Nothing to say."""


FULL = Sheet(
    grid=8,
    spots=(Spot(1.5, 2), Spot(0)),
    colours=frozenset(Colour),
    counts={Colour.RED: 3},
    named={"a": Spot(3)},
    facts=MappingProxyType({"b": [1, {"c": None}], "a": "x"}),
    data=b"\x00\xff",
    path=Path("there/x.png"),
    limit=4,
    mixed="m",
    box=BoxPx(0.5, 1, 2, np.float64(3)),
)
KINDS: Kinds[Spot | Blank] = Kinds("type", {"spot": Spot, "blank": Blank})


def test_that_a_value_comes_back_from_its_json() -> None:
    assert made(Sheet, json.loads(json.dumps(plain(FULL))), where="a sheet") == FULL


def test_that_sets_and_maps_are_written_in_order_and_tuples_as_lists() -> None:
    document = plain(FULL)
    assert document["pair"] == [1, 2]
    assert document["colours"] == ["blue", "red"]
    assert list(document["facts"]) == ["a", "b"]


def test_that_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeError, match="complex has no plain form"):
        plain({"a": 1j})


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ({"grid": "8"}, "'grid' in study.toml must be a whole number."),
        ({}, "'grid' is missing in study.toml."),
        ([], "study.toml must be a table."),
        ({"grid": 8, "switch": 1}, "'switch' in study.toml must be true or false."),
        (
            {"grid": 8, "spots": [{"x": 1}, {"x": "1"}]},
            "'spots[1].x' in study.toml must be a number.",
        ),
        ({"grid": 8, "spots": [{}]}, "'spots[0].x' is missing in study.toml."),
        (
            {"grid": 8, "spots": [{"x": -1}]},
            "'spots[0]' in study.toml cannot be used: x is below 0.",
        ),
        ({"grid": 8, "box": [1]}, "'box' in study.toml must be a list of length 4."),
        ({"grid": 8, "pair": [1]}, "'pair' in study.toml must be a list of length 2."),
        ({"grid": 8, "colours": ["x"]}, "'colours[0]' in study.toml cannot be 'x'."),
        ({"grid": 8, "counts": {"x": 1}}, "'counts' in study.toml cannot be 'x'."),
        ({"grid": 8, "path": 3}, "'path' in study.toml cannot be used"),
        ({"grid": 8, "limit": "1"}, "'limit' in study.toml must be a whole number."),
        (
            {"grid": 8, "mixed": []},
            "'mixed' in study.toml must be a whole number or text.",
        ),
        ({"grid": 8, "gird": 8}, "'gird' in study.toml is not known."),
        (
            {"grid": 8, "spots": [{"x": 1, "z": 1}]},
            "'spots.z' in study.toml is not known.",
        ),
        (
            {"grid": 8, "named": {"a": {"x": 1, "z": 1}}},
            "'named.z' in study.toml is not known.",
        ),
    ],
)
def test_that_a_bad_entry_is_named_in_one_sentence(
    document: object, sentence: str
) -> None:
    with pytest.raises(WrongUseError) as caught:
        made(Sheet, document, where="study.toml")
    assert caught.value.what.startswith(sentence)
    assert caught.value.how


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"colours": ["x"]}, "red, blue"),
        ({"counts": {"x": 1}}, "red, blue"),
        ({"shade": "x"}, "red, blue"),
        ({"side": "x"}, "left, right"),
        ({"layers": {"a": [{"shade": "x"}]}}, "red, blue"),
    ],
)
def test_that_the_words_to_choose_from_are_listed(
    entry: Mapping[str, object], words: str
) -> None:
    with pytest.raises(WrongUseError) as caught:
        made(Sheet, {"grid": 8, **entry}, where="study.toml")
    assert caught.value.how == f"Write one of {words}."


def test_that_a_type_that_no_document_describes_is_refused() -> None:
    with pytest.raises(WrongUseError, match="cannot be a complex"):
        made(complex, "1j", where="a number")


def test_that_kinds_come_back_by_their_tag() -> None:
    for value in (Spot(1), Blank()):
        assert KINDS.made(KINDS.plain(value), where="a file") == value
    assert KINDS.plain(Blank()) == {"type": "blank"}


@pytest.mark.parametrize("document", [{"type": "circle"}, {}, {"type": []}])
def test_that_an_unknown_kind_is_refused(document: object) -> None:
    with pytest.raises(WrongUseError, match="Write one of spot, blank"):
        KINDS.made(document, where="a file")


def test_that_a_number_below_the_least_is_named_with_it() -> None:
    with pytest.raises(WrongUseError, match="must be a whole number, 0 or more"):
        made(tuple[NotNegative, ...], [-1], where="x")


def test_that_what_is_packed_is_unpacked_as_it_was() -> None:
    assert unpacked(Sheet, packed(FULL)) == FULL


@pytest.mark.parametrize("data", [b"", b"[]", b'{"grid": "8"}', b"\xff"])
def test_that_what_was_not_packed_is_refused(data: bytes) -> None:
    with pytest.raises(WrongUseError, match="This is no Sheet"):
        unpacked(Sheet, data)
