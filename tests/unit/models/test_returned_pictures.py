"""Pictures in replies, encoded by another library, in every form that servers use."""

import base64
import io
import json
import urllib.request

import pytest
from PIL import Image

from tests.helpers.scripted_endpoint import response
from tests.helpers.scripted_server import completion
from viewer.domain.exchange import ModelReply, RawReply, ReplyKind, ReturnedPicture
from viewer.models.reading import read_reply


def picture(shade: int = 90, form: str = "PNG") -> bytes:
    file = io.BytesIO()
    Image.new("L", (6, 4), shade).save(file, form)
    return file.getvalue()


def url(data: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def part(address: str) -> dict[str, object]:
    return {"type": "image_url", "image_url": {"url": address}}


def said(document: object, kind: ReplyKind = ReplyKind.CHAT_COMPLETION) -> ModelReply:
    return read_reply(RawReply(kind, json.dumps(document).encode()))


def responded(*output: dict[str, object]) -> ModelReply:
    return said(response("", output=list(output)), ReplyKind.RESPONSE)


ONE, OTHER = picture(90), picture(200, "JPEG")


@pytest.mark.statement("E001-09")
def test_that_pictures_in_chat_come_in_order_beside_the_text() -> None:
    content = [
        {"type": "text", "text": "The heart is large."},
        part(url(ONE)),
        {"type": "text", "text": " No effusion."},
        part(url(OTHER, "jpeg")),
    ]
    reply = said(completion(content))
    assert reply.text == "The heart is large. No effusion."
    assert [one.data for one in reply.pictures] == [ONE, OTHER]
    beside = said(completion("The heart is large.", images=[part(url(ONE))]))
    assert beside.text == "The heart is large."
    assert [one.data for one in beside.pictures] == [ONE]


@pytest.mark.statement("E001-09")
def test_that_pictures_in_responses_come_in_order_beside_the_text() -> None:
    encoded = base64.b64encode(ONE).decode()
    words = {"type": "output_text", "text": "The heart is large."}
    drawn = {"type": "output_image", "image_url": url(OTHER, "jpeg")}
    message: dict[str, object] = {"type": "message", "content": [words, drawn]}
    generated: dict[str, object] = {"type": "image_generation_call", "result": encoded}
    reply = responded(generated, message)
    assert reply.text == "The heart is large."
    assert [one.data for one in reply.pictures] == [ONE, OTHER]


def test_that_a_picture_elsewhere_is_named_and_never_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(urllib.request, "urlopen", lambda *_: pytest.fail("fetched"))
    for address, host in (
        ("https://elsewhere.example/patient.png?key=1", "elsewhere.example"),
        ("http://[broken", "another address"),
        ("file:///etc/passwd", "another address"),
        ("data:text/html;base64,PGI+", "another address"),
    ):
        (found,) = said(completion([part(address)])).pictures
        assert found.data == b""
        assert found.missing.startswith(f"A picture at {host} was not fetched")
        assert "key=1" not in found.missing


@pytest.mark.parametrize(
    "address", ["data:image/png;base64,", "data:image/png;base64,*"]
)
def test_that_a_picture_without_bytes_says_so(address: str) -> None:
    (found,) = said(completion([part(address)])).pictures
    assert found == ReturnedPicture(
        missing="A picture in the reply is not valid base64."
    )


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "image_url"},
        {"type": "image_url", "image_url": 5},
        {"type": "image_url", "image_url": {"url": None}},
        {"type": "audio", "data": "AAAA"},
        {"type": ["image_url"]},
        {},
    ],
)
def test_that_a_part_that_is_no_picture_is_passed_over(odd: dict[str, object]) -> None:
    assert said(completion([odd, {"type": "text", "text": "D4"}])).pictures == ()
    assert responded({"type": "message", "content": [odd]}).pictures == ()
    assert responded({"type": "image_generation_call", "result": None}).pictures == ()
    assert said(completion("D4", images=odd)).pictures == ()
