"""The verifier reads plain replies alike to the program, and never guesses."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.studies.grid_localization.golden_replies import GOLDEN
from viewer.domain.answer import CellAnswer
from viewer.domain.exchange import RawReply, ReplyKind
from viewer.domain.grid import Grid
from viewer.models.reading import read_reply as program_reply
from viewer.studies.grid_localization.parse import read_cell
from viewer.writers.verify.replies import could_name, plain_cell, read_reply

GRID = Grid(8, 8)


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        *(("D4", "D4"), (" d-04. ", "D4"), ("**F6**", "F6"), ('{"cell": "C4"}', "C4")),
        *(('```json\n{"answer": "b 2"}\n```', "B2"), ("Z9", "Z9"), ("4D", None)),
        *(("The answer is E5.", None), ("", None), ("D4 or E5", None), ("[1]", None)),
        *(('{"cell": "C4", "other": 1}', None), ('{"cell": null}', None)),
    ],
)
def test_that_only_plain_replies_are_read(text: str, cell: str | None) -> None:
    assert plain_cell(text, whole_only=False) == cell


def test_that_json_is_not_read_off_a_reply_that_was_cut_short() -> None:
    assert plain_cell('{"cell": "C4"}', whole_only=True) is None
    assert plain_cell("C4", whole_only=True) == "C4"


@given(st.text(alphabet="abDEZ0149 .,-\n'\"*`_{}:cel", max_size=24))
def test_that_a_plain_reading_is_the_program_s(text: str) -> None:
    plain = plain_cell(text, whole_only=False)
    if plain is None:
        return
    read = read_cell(text, GRID, "Edema")
    if isinstance(read, CellAnswer):
        assert GRID.label(read.cell) == plain
    else:
        assert GRID.cell(plain) is None


def test_that_every_cell_the_program_reads_could_be_named() -> None:
    for text, _ in GOLDEN:
        read = read_cell(text, GRID, "Edema")
        if isinstance(read, CellAnswer):
            assert could_name(text, GRID.label(read.cell)), text


@pytest.mark.parametrize("kind", ["chat_completion", "response", "local", "plain"])
@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"choices": []}', b"\xff"])
def test_that_a_body_without_a_reply_is_none(kind: str, body: bytes) -> None:
    assert read_reply(kind, body, None) is None


def test_that_a_refusal_and_a_cut_are_seen() -> None:
    chat = {"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}
    reply = read_reply(
        "chat_completion", json.dumps({"choices": [chat]}).encode(), None
    )
    assert reply is not None
    assert (reply.text, reply.refusal) == ("", "No.")
    out = [{"type": "message", "content": [{"type": "output_text", "text": "D4"}]}]
    body = {"output": out, "status": "completed", "usage": {"output_tokens": 9}}
    for cap, finish in ((None, "stop"), (10, "stop"), (9, "length")):
        reply = read_reply("response", json.dumps(body).encode(), cap)
        assert reply is not None
        assert reply.finish == finish


ONE, OTHER = "data:image/png;base64,iVBORw==", {"url": "data:image/jpeg;base64,/9g="}
PARTS: tuple[list[Any], ...] = (
    [],
    [{"type": "image_url", "image_url": ONE}, {"type": "image", "data": "iVBORw=="}],
    [{"type": "output_image", "image_url": OTHER}, {"type": "text", "text": "D4"}],
    [{"type": "image", "b64_json": "iVBO\nRw=="}, {"type": "audio", "data": "AAAA"}],
    [
        {"type": "image_url", "image_url": "https://elsewhere.example/1.png"},
        *({"type": "image_url"}, {"type": "image_url", "image_url": 5}),
        *({"type": "image", "data": "*"}, {"type": "image", "data": ""}, "odd"),
    ],
)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.statement("E001-09")
def test_that_pictures_are_counted_as_the_program_counts_them(parts: list[Any]) -> None:
    drawn = [{"type": "image_generation_call", "result": "iVBORw=="}]
    inside = [part for part in parts if isinstance(part, dict)]
    bodies = (
        ("chat_completion", {"choices": [{"message": {"content": inside}}]}),
        ("chat_completion", {"choices": [{"message": {"images": parts}}]}),
        ("response", {"output": [{"type": "message", "content": parts}]}),
        ("response", {"output": drawn}),
        ("response", {"output": [{"type": "image_generation_call", "result": None}]}),
    )
    for kind, value in bodies:
        body = json.dumps(value).encode()
        pictures = program_reply(RawReply(ReplyKind(kind), body)).pictures
        reply = read_reply(kind, body, None)
        assert reply is not None
        assert reply.pictures == sum(bool(one.data) for one in pictures)
