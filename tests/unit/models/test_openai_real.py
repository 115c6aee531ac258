"""Both interfaces against llama.cpp's own server, compared with its own answers."""

import base64
import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.helpers.llama_server import MODEL, llama_server
from tests.helpers.requests import facts, noise, request
from viewer.domain.exchange import ModelReply, ModelRequest
from viewer.domain.geometry import SizePx
from viewer.models.catalog import adapter_for, profile_from_table
from viewer.models.coordinates.conventions import CONVENTIONS
from viewer.models.coordinates.forms import FORMED, form_of
from viewer.models.coordinates.frame import Frame
from viewer.models.protocol import Adapter, ListsModels

CELLS = [f"{row}{column}" for row in "ABCDEFGH" for column in range(1, 9)]
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"cell": {"type": "string", "enum": CELLS}},
    "required": ["cell"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with llama_server(tmp_path_factory.mktemp("llama")) as url:
        yield url


def adapter_at(base_url: str, **settings: object) -> Adapter:
    table = {
        "name": "s",
        "adapter": "openai_api",
        "server": "llama_cpp",
        "base_url": base_url,
        "model": MODEL,
        "temperature": 0,
        "max_tokens": 12,
        **settings,
    }
    return adapter_for(profile_from_table(table))


def ask(adapter: Adapter, question: ModelRequest) -> ModelReply:
    return adapter.read(adapter.generate(question))


def question(number: int, schema: dict[str, object] | None = None) -> ModelRequest:
    made = request(facts(plain=noise(112, number)), text=f"Question {number}:")
    return ModelRequest(made.messages, made.facts, made.prompt_sha256, schema)


def own_answer(base_url: str, question: ModelRequest) -> dict[str, Any]:
    """Return what the server says to the same question without any of our code."""
    png = base64.b64encode(question.images[0].png).decode()
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png}"}}
    text = question.messages[1].parts[1]
    body = {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": "You are an expert chest radiologist."},
            {"role": "user", "content": [image, {"type": "text", "text": text.text}]},  # type: ignore[union-attr]
        ],
        "temperature": 0,
        "max_tokens": 12,
        "logprobs": True,
        "top_logprobs": 5,
    }
    sent = urllib.request.Request(  # noqa: S310 - loopback
        f"{base_url}/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(sent, timeout=600) as reply:  # noqa: S310 - loopback
        document: dict[str, Any] = json.loads(reply.read())
    return document["choices"][0]  # type: ignore[no-any-return]


def test_that_logprobs_are_the_server_s_own(base_url: str) -> None:
    adapter = adapter_at(base_url, logprobs=5)
    for number in range(8):
        asked = question(number)
        reply, own = ask(adapter, asked), own_answer(base_url, asked)
        tokens = own["logprobs"]["content"]
        assert reply.text == own["message"]["content"]
        assert [t.token for t in reply.logprobs] == [t["token"] for t in tokens]
        assert [t.logprob for t in reply.logprobs] == pytest.approx(
            [t["logprob"] for t in tokens], abs=1e-9
        )
        for ours, theirs in zip(reply.logprobs, tokens, strict=True):
            pairs = [(t["token"], t["logprob"]) for t in theirs["top_logprobs"]]
            assert list(ours.top) == pairs


def test_that_chat_and_responses_say_the_same(base_url: str) -> None:
    chat, responses = adapter_at(base_url), adapter_at(base_url, api="responses")
    said = [(ask(chat, question(n)), ask(responses, question(n))) for n in range(10)]
    for one, other in said:
        assert one.text == other.text
        assert one.usage == other.usage
        assert one.model_returned == other.model_returned == MODEL
    assert len({one.text for one, _ in said}) > 3


def test_that_an_answer_keeps_to_its_form(base_url: str) -> None:
    adapter = adapter_at(base_url, structured=True, max_tokens=256)
    for number in range(5):
        document = json.loads(ask(adapter, question(number, SCHEMA)).text)
        assert set(document) == {"cell"}
        assert document["cell"] in CELLS


@pytest.mark.parametrize("convention", [name for name in FORMED if name != "grid"])
def test_that_an_answer_in_coordinates_keeps_to_its_conventions_form(
    base_url: str, convention: str
) -> None:
    """The model is a random one, so its numbers fit and its boxes may have no area."""
    adapter = adapter_at(
        base_url, structured=True, convention=convention, max_tokens=600
    )
    frame = Frame.of_sent(SizePx(112, 112))
    whole = 0
    for number in range(4):
        asked = question(number, form_of(convention, "Edema"))
        reply = ask(adapter, asked)
        if reply.finish_reason == "length":
            continue
        reading = CONVENTIONS[convention].read(reply.text, frame)
        found = len(reading.places) + len(reading.rejected)
        assert reply.text.count("_2d") + reply.text.count('"box"') == found
        assert all(place.label == "Edema" for place in reading.places)
        assert not {r.reason for r in reading.rejected} & {"malformed"}
        whole += 1
    assert whole > 0


def test_that_what_responses_passes_over_is_left_out_and_named(base_url: str) -> None:
    adapter = adapter_at(base_url, api="responses", logprobs=5, structured=True)
    assert adapter.generate(question(0)).dropped == ("logprobs", "structured")


def test_that_its_models_are_listed(base_url: str) -> None:
    adapter = adapter_at(base_url)
    assert isinstance(adapter, ListsModels)
    assert adapter.listed_models() == (MODEL,)


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_that_a_reply_cut_short_is_called_so(base_url: str, api: str) -> None:
    """The server says so in chat; of a response it says that it is complete."""
    for cap, end in ((1, "length"), (12, "stop")):
        reply = ask(adapter_at(base_url, max_tokens=cap, api=api), question(0))
        assert reply.finish_reason == end
