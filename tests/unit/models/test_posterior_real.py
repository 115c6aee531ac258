"""Posteriors of options through llama.cpp's own server, against all its tokens."""

import base64
import json
import urllib.request
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from tests.helpers.llama_server import MODEL, llama_server
from tests.helpers.requests import facts, noise, request
from viewer.domain.exchange import ModelReply, ModelRequest, TextPart
from viewer.metrics.posterior import Estimator, from_letters, from_top_logprobs
from viewer.models.catalog import adapter_for, profile_from_table

LETTERS = "ABCD"
WHOLE = 4000
"""More tokens than the tiny model has."""


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with llama_server(tmp_path_factory.mktemp("llama")) as url:
        yield url


def asked(number: int) -> ModelRequest:
    text = f"Case {number}. A) edema B) mass C) nodule D) none. Answer:"
    return request(facts(plain=noise(112, number)), text=text)


def replied(base_url: str, question: ModelRequest, top: int) -> ModelReply:
    table = {
        "name": "s",
        "adapter": "openai_api",
        "server": "llama_cpp",
        "base_url": base_url,
        "model": MODEL,
        "temperature": 0,
        "max_tokens": 2,
        "logprobs": top,
    }
    adapter = adapter_for(profile_from_table(table))
    return adapter.read(adapter.generate(question))


def whole_distribution(
    base_url: str, question: ModelRequest
) -> list[tuple[str, float]]:
    """Return how likely the server says each token of its vocabulary comes first.

    Several tokens, parts of a character, may be written the same.
    """
    png = base64.b64encode(question.images[0].png).decode()
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png}"}}
    system, user = (
        next(p.text for p in message.parts if isinstance(p, TextPart))
        for message in question.messages
    )
    body = {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": [image, {"type": "text", "text": user}]},
        ],
        "temperature": 0,
        "max_tokens": 1,
        "logprobs": True,
        "top_logprobs": WHOLE,
    }
    sent = urllib.request.Request(  # noqa: S310 - loopback
        f"{base_url}/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(sent, timeout=600) as reply:  # noqa: S310 - loopback
        first = json.loads(reply.read())["choices"][0]["logprobs"]["content"][0]
    return [(token["token"], token["logprob"]) for token in first["top_logprobs"]]


@pytest.mark.statement("E004-17")
def test_that_bounds_of_the_likeliest_tokens_hold_the_posterior_of_all(
    base_url: str,
) -> None:
    widths = []
    for number in range(6):
        question = asked(number)
        told = whole_distribution(base_url, question)
        assert np.exp([logprob for _, logprob in told]).sum() == pytest.approx(
            1, abs=1e-4
        )
        truth = from_letters(dict(told), LETTERS)
        for top in (1, 5, 20):
            reply = replied(base_url, question, top)
            place = reply.logprobs[0]
            found = from_top_logprobs(place.top, LETTERS, precision=1e-4)
            assert found.estimator is Estimator.TOP_LOGPROBS
            assert len(place.top) <= top
            for low, p, high in zip(found.low, truth.p, found.high, strict=True):
                assert low - 1e-3 <= p <= high + 1e-3
            widths.append((top, np.subtract(found.high, found.low).mean()))
    by_top = [np.mean([w for top, w in widths if top == t]) for t in (1, 5, 20)]
    assert by_top[0] >= by_top[1] >= by_top[2]


@pytest.mark.statement("E004-17")
def test_that_all_tokens_told_leave_no_bounds(base_url: str) -> None:
    question = asked(9)
    told = whole_distribution(base_url, question)
    exact = from_letters(dict(told), LETTERS)
    found = from_top_logprobs(told, LETTERS)
    assert found.p == pytest.approx(exact.p, abs=1e-6)
    again = replied(base_url, replace(question), 5)
    assert again.logprobs[0].logprob == pytest.approx(max(n for _, n in told), abs=1e-3)
