import hashlib

import pytest

from tests.helpers.requests import facts, noise, request
from tests.helpers.scripted_server import Script, ScriptedServer
from viewer.models.catalog import profile_from_table
from viewer.models.openai_api.adapter import OpenAIAdapter


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_that_what_is_said_to_leave_is_what_leaves(api: str) -> None:
    question = request(facts(plain=noise(64)), text="Où est ‘Édème’?\nZeile 2")
    with ScriptedServer(Script(default="not-json")) as server:
        table = {"name": "s", "adapter": "openai_api", "base_url": server.base_url}
        settings = {"model": "tiny-vlm", "temperature": 0.1, "seed": 7, "api": api}
        adapter = OpenAIAdapter(profile_from_table({**table, **settings}))
        said = adapter.body(question)
        adapter.generate(question)
        (received,) = server.script.received
    assert hashlib.sha256(received.body).digest() == hashlib.sha256(said).digest()
    assert received.headers["content-type"] == "application/json"
