import json
from typing import Any

import pytest

from viewer.domain.answer import BoxesAnswer, Status, Unparsed
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile, ModelReply
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.grid import Grid
from viewer.models.catalog import profile_from_table
from viewer.models.coordinates.asking import ASKING
from viewer.models.coordinates.conventions import CONVENTIONS
from viewer.models.coordinates.forms import FORMED, form_of
from viewer.models.coordinates.settings import CONVENTION_NAMES
from viewer.services.trials.placed_answer import Shown, form_of_answer, placed_answer

SIDE = SizePx(1000, 1000)
SHOWN = Shown("Edema", SIDE, BoxPx(0, 0, 1000, 1000), SIDE, Grid(8, 8))
PLACED = [name for name in FORMED if name != "grid"]
TABLES: list[dict[str, object]] = [
    {"name": "m", "adapter": "openai_api", "server": "vllm", "model": "m"},
    {"name": "m", "adapter": "gguf_local", "model": "m.gguf"},
]


def smallest(schema: dict[str, Any], numbers: list[int], places: int) -> object:
    """Return a document that a schema allows, with numbers taken in turn."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        assert schema["required"] == list(schema["properties"])
        return {
            key: smallest(value, numbers, places)
            for key, value in schema["properties"].items()
        }
    if schema["type"] == "array":
        times = range(schema.get("minItems", places))
        return [smallest(schema["items"], numbers, places) for _ in times]
    assert schema["type"] == "integer"
    return numbers.pop(0)


def answered(convention: str, numbers: list[int], places: int = 1) -> object:
    schema = form_of(convention, "Edema")
    assert schema is not None
    text = json.dumps(smallest(schema, list(numbers), places))
    profile = ModelProfile("m", "openai_api", {"convention": convention})
    return placed_answer(profile, ModelReply(text), SHOWN)


@pytest.mark.parametrize("name", PLACED)
def test_that_what_a_form_allows_is_read_back(name: str) -> None:
    numbers = [100, 200, 300, 400]
    box = BoxPx(200, 100, 400, 300) if name == "gemini" else BoxPx(100, 200, 300, 400)
    assert answered(name, numbers) == BoxesAnswer((box,))


@pytest.mark.parametrize("name", ["qwen2_5_vl", "qwen3_vl", "gemini"])
def test_that_a_form_of_several_places_may_hold_many_or_none(name: str) -> None:
    both = answered(name, [1, 2, 30, 40, 500, 600, 700, 800], places=2)
    assert isinstance(both, BoxesAnswer)
    assert len(both.boxes) == 2
    nothing = answered(name, [], places=0)
    assert nothing == Unparsed(Status.DENIED_FINDING, "empty_list")


@pytest.mark.parametrize("name", PLACED)
def test_that_a_form_has_the_members_that_the_words_ask_for(name: str) -> None:
    written = json.dumps(form_of(name, "{condition}"))
    for key in ("bbox_2d", "box_2d", "box", "label"):
        assert (f'"{key}"' in ASKING[name]) is (f'"{key}"' in written)
    assert ('"maximum": 1000' in written) is ("thousandths" in ASKING[name])
    assert CONVENTIONS[name].summary


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", CONVENTION_NAMES)
def test_that_a_form_is_refused_where_the_convention_is_no_json(
    name: str, table: dict[str, object]
) -> None:
    settings = {**table, "convention": name}
    assert profile_from_table(settings).settings["convention"] == name
    if name in FORMED:
        assert profile_from_table({**settings, "structured": True})
        return
    with pytest.raises(WrongUseError, match=f"convention {name} is not JSON"):
        profile_from_table({**settings, "structured": True})
    old = ModelProfile("m", "gguf_local", {"convention": name, "structured": True})
    with pytest.raises(WrongUseError, match="Remove structured"):
        form_of_answer(old, "Edema")


def test_that_only_a_structured_answer_has_a_form() -> None:
    free = ModelProfile("m", "openai_api", {"convention": "gemini"})
    cell = ModelProfile("m", "openai_api", {"structured": True})
    assert form_of_answer(free, "Edema") is None
    assert form_of_answer(cell, "Edema") is None
    assert profile_from_table({**TABLES[0], "structured": True})
