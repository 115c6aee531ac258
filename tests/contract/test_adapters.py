"""What every adapter in the catalogue promises, proved for all of them."""

import dataclasses
import json
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.helpers import tiny_vlm
from tests.helpers.requests import facts, noise, request
from tests.helpers.scripted_endpoint import EndpointScript
from tests.helpers.scripted_server import ScriptedServer
from tests.helpers.tiny_gguf import write_tiny_model
from viewer.domain.exchange import (
    BoxPrompt,
    ModelProfile,
    ModelReply,
    ModelRequest,
    ReplyKind,
)
from viewer.domain.geometry import BoxPx
from viewer.domain.interpretability import Choices
from viewer.models.catalog import (
    ADAPTERS,
    adapter_for,
    missing_dependency,
    profile_from_table,
    spec_of,
)
from viewer.models.coordinates.settings import COORDINATE_SETTINGS
from viewer.models.openai_api.servers import SERVERS
from viewer.services.trials.request_key import request_document, request_key

ITEMS = tuple(f"patient{i}_study1_view1_frontal|Edema" for i in range(8))
CONFIGS = (
    *sorted(name for name, spec in ADAPTERS.items() if not spec.person),
    "openai_api:responses",
    *(f"openai_api:{kind}" for kind in SERVERS),
)
"""Each adapter once, and its other ways where it has several."""
REMOTE = [name for name in CONFIGS if ADAPTERS[name.partition(":")[0]].remote]
COUNTS = tuple(tuple(r * c for c in range(8)) for r in range(8))


_LISTENING: Final = "0A"
_STATE, _INODE = 3, 9
"""Columns of /proc/net/tcp."""


def tcp_listeners() -> set[str]:
    """Return the inodes of this process's listening TCP sockets."""
    rows = [
        line.split()
        for family in ("tcp", "tcp6")
        for line in Path("/proc/self/net", family).read_text().splitlines()[1:]
    ]
    listening = {row[_INODE] for row in rows if row[_STATE] == _LISTENING}
    return listening & set(_sockets())


def _sockets() -> Iterator[str]:
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            name = str(descriptor.readlink())
        except FileNotFoundError:
            continue  # closed meanwhile
        if name.startswith("socket:["):
            yield name.removeprefix("socket:[").removesuffix("]")


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(EndpointScript(answer_by_hash=True)) as running:
        yield running


@pytest.fixture(scope="module")
def tables(
    server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], dict[str, object]]:
    """Return what makes, once, a table that suffices for an adapter."""
    endpoint = {
        "base_url": server.base_url,
        "model": "tiny-vlm",
        "seed": 0,
        "timeout_s": 3600.0,  # of real time: a machine may be busy, or stand still
    }
    known: dict[str, dict[str, object]] = {
        "openai_api": endpoint,
        "openai_api:responses": {**endpoint, "api": "responses", "logprobs": 2},
        **{f"openai_api:{kind}": {**endpoint, "server": kind} for kind in SERVERS},
        "scripted": {"answer": "D4"},
    }

    def table(config: str) -> dict[str, object]:
        if config not in known:
            make = _FILES.get(config)
            known[config] = make(tmp_path_factory.mktemp(config)) if make else {}
        return known[config]

    return table


def _tiny_llava(folder: Path) -> dict[str, object]:
    tiny_vlm.build("llava", folder)
    return {"model": str(folder), "max_new_tokens": 6}


def _tiny_gguf(folder: Path) -> dict[str, object]:
    llm, eye = write_tiny_model(folder)
    return {"model": str(llm), "projector": str(eye), "n_ctx": 1024, "threads": 1}


def _tiny_network(folder: Path) -> dict[str, object]:
    from tests.helpers.tiny_cnn import FACTORY, write_tiny_network

    return {"card": str(write_tiny_network(folder)), "trusted": FACTORY}


def _tiny_segmenter(folder: Path) -> dict[str, object]:
    from tests.helpers.tiny_transformers import write_tiny_sam

    write_tiny_sam(folder)
    return {"model": str(folder), "device": "cpu"}


def _tiny_bert(folder: Path) -> dict[str, object]:
    from tests.helpers.tiny_transformers import write_tiny_bert

    write_tiny_bert(folder)
    return {"model": str(folder), "device": "cpu"}


def _items_file(folder: Path) -> dict[str, object]:
    lines = ["item,condition,repeat,model,status,answer,request_sha256"]
    lines += [
        f"{item},grid=8,{repeat},m,scored_wrong,B{i % 8 + 1},k"
        for i, item in enumerate(ITEMS)
        for repeat in range(2)
    ]
    path = folder / "items.csv"
    path.write_text("\n".join(lines) + "\n")
    return {"items_file": str(path)}


def _replies_file(folder: Path) -> dict[str, object]:
    lines = [
        json.dumps(
            {
                "item": item,
                "condition": "grid=8",
                "repeat": repeat,
                "model": "m",
                "step": "answer",
                "reply": f"B{i % 8 + 1}",
            }
        )
        for i, item in enumerate(ITEMS)
        for repeat in range(2)
    ]
    path = folder / "replies.jsonl"
    path.write_text("\n".join(lines))
    return {"replies_file": str(path)}


_FILES: Mapping[str, Callable[[Path], dict[str, object]]] = {
    "replay": _items_file,
    "imported": _replies_file,
    "transformers_local": _tiny_llava,
    "gguf_local": _tiny_gguf,
    "cnn_cam": _tiny_network,
    "segmenter": _tiny_segmenter,
    "next_sentence": _tiny_bert,
}
"""Who writes, into a folder, what an adapter answers from; it returns the settings."""


@pytest.fixture(params=CONFIGS)
def profile(
    request: pytest.FixtureRequest, tables: Callable[[str], dict[str, object]]
) -> ModelProfile:
    adapter = request.param.partition(":")[0]
    missing = missing_dependency(ADAPTERS[adapter])
    if missing is not None:
        pytest.skip(missing)
    name = request.param.replace(":", "-")
    table = {"name": f"a-{name}", "adapter": adapter, **tables(request.param)}
    return profile_from_table(table)


@cache
def questions() -> tuple[ModelRequest, ...]:
    return tuple(
        request(
            facts(
                item=item,
                repeat=repeat,
                plain=noise(48, i),
                reference_counts=COUNTS,
                prompt=BoxPrompt(noise(48, i), (BoxPx(8.0, 8.0, 32.0, 40.0),)),
                choices=Choices(f"Stain {i}?", ("necrosis", "mitosis", "none")),
            )
        )
        for i, item in enumerate(ITEMS)
        for repeat in range(2)
    )


def ask(profile: ModelProfile, question: ModelRequest) -> ModelReply:
    adapter = adapter_for(profile)
    return adapter.read(adapter.generate(question))


@pytest.fixture(scope="module")
def asked() -> dict[str, list[ModelReply]]:
    """Answers to all questions by the name of who gave them."""
    return {}


@pytest.fixture
def answers(
    profile: ModelProfile, asked: dict[str, list[ModelReply]]
) -> list[ModelReply]:
    if profile.name not in asked:
        asked[profile.name] = [ask(profile, question) for question in questions()]
    return asked[profile.name]


def test_that_it_is_described_and_installed(profile: ModelProfile) -> None:
    spec = spec_of(profile)
    assert spec.summary
    assert all(setting.meaning for setting in spec.settings)
    assert missing_dependency(spec) is None
    assert all(p.adapter == spec.name for p in spec.builtin_profiles)


def test_that_how_its_answers_are_read_does_not_change_what_is_asked(
    profile: ModelProfile,
) -> None:
    read = {
        setting.key: setting.choices[-1]
        for setting in spec_of(profile).settings
        if setting.key in {each.key for each in COORDINATE_SETTINGS}
    }
    other = dataclasses.replace(profile, settings={**profile.settings, **read})
    assert adapter_for(other).identity(0) == adapter_for(profile).identity(0)


def test_that_its_identity_is_stable_json(profile: ModelProfile) -> None:
    adapter = adapter_for(profile)
    for repeat in range(3):
        identity = dataclasses.asdict(adapter.identity(repeat))
        assert json.loads(json.dumps(identity)) == identity
        assert dataclasses.asdict(adapter.identity(repeat)) == identity
        assert {"kind", "api"} <= set(identity["endpoint"])
        assert identity["model"]
        assert identity["revision"]


def test_that_it_answers_with_text(profile: ModelProfile) -> None:
    for question in questions()[:4]:
        raw = adapter_for(profile).generate(question)
        assert raw.kind in ReplyKind
        assert isinstance(raw.body, bytes)
        assert adapter_for(profile).read(raw).text


def test_that_an_answer_tells_its_end_its_usage_and_its_tokens_or_nothing(
    profile: ModelProfile,
) -> None:
    reply = ask(profile, questions()[0])
    assert reply.finish_reason in {"stop", "length", "content_filter"}
    for count in (reply.usage.tokens_in, reply.usage.tokens_out):
        assert count is None or count >= 0
    for token in reply.logprobs:
        assert token.logprob <= 0
        assert [n for _, n in token.top] == sorted((n for _, n in token.top))[::-1]


def test_that_reading_a_stored_reply_again_gives_the_same(
    profile: ModelProfile,
) -> None:
    raw = adapter_for(profile).generate(questions()[0])
    stored = pickle.loads(pickle.dumps(raw))  # noqa: S301 - our own bytes
    assert stored == raw
    assert adapter_for(profile).read(stored) == adapter_for(profile).read(raw)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_that_asking_opens_no_port(profile: ModelProfile) -> None:
    before = tcp_listeners()
    assert ask(profile, questions()[0])
    assert tcp_listeners() <= before


def test_that_the_same_question_has_the_same_answer_in_any_thread(
    profile: ModelProfile, answers: list[ModelReply]
) -> None:
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda q: ask(profile, q), questions()))
    assert together == answers


def test_that_a_question_and_its_profile_cross_processes(
    profile: ModelProfile,
) -> None:
    question = questions()[0]
    sent = pickle.dumps((profile, question))
    their_profile, theirs = pickle.loads(sent)  # noqa: S301 - our own bytes
    assert their_profile == profile
    assert ask(their_profile, theirs) == ask(profile, question)


def test_that_an_answer_that_depends_on_facts_has_them_in_its_key(
    profile: ModelProfile, answers: list[ModelReply]
) -> None:
    adapter, spec = adapter_for(profile), spec_of(profile)
    by_key: dict[str, ModelReply] = {}
    for question, reply in zip(questions(), answers, strict=True):
        repeat = question.facts.repeat
        document = request_document(
            adapter.identity(repeat), question, repeat, reads_facts=spec.reads_facts
        )
        assert by_key.setdefault(request_key(document), reply) == reply


@pytest.mark.parametrize("profile", REMOTE, indirect=True)
def test_that_facts_never_reach_an_endpoint(
    profile: ModelProfile, server: ScriptedServer
) -> None:
    plain = noise(40, seed=99)
    canaries = facts(
        item="CANARY-item|CANARY-finding",
        finding="CANARY-finding",
        view="CANARY-view",
        condition="CANARY-condition",
        letters="CANARY-letters",
        seed=918273645,
        plain=plain,
        plain_sha256="CANARY-sha256",
        reference_counts=((564738291,),),
    )
    before = len(server.script.received)
    ask(profile, request(canaries, png=questions()[0].images[0].png))
    (received,) = server.script.received[before:]
    said = received.body + str(received.headers).encode() + received.path.encode()
    for canary in (b"CANARY", b"918273645", b"564738291"):
        assert canary not in said
    other = dataclasses.replace(canaries, item="x", finding="y", seed=1, view="z")
    ask(profile, request(other, png=questions()[0].images[0].png))
    assert server.script.received[-1].body == received.body
