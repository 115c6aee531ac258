import dataclasses
import json
import shutil
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import tiny_gguf
from tests.helpers.llama_server import MODEL, llama_server
from tests.helpers.requests import facts, noise, request
from viewer.domain.errors import OverreadError, ProviderError, RetryClass, WrongUseError
from viewer.domain.exchange import ModelProfile, ModelReply, ModelRequest
from viewer.models.gguf_local import adapter as adapter_module
from viewer.models.gguf_local import engine
from viewer.models.gguf_local.adapter import GgufAdapter
from viewer.models.loaded import Loadable, LoadCancelledError, LoadState, silent
from viewer.models.reading import read_reply

SETTINGS: dict[str, object] = {
    "n_ctx": 2048,
    "n_gpu_layers": 0,
    "threads": 1,
    "temperature": 0.0,
    "max_tokens": 16,
    "logprobs": 3,
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return tiny_gguf.write_tiny_model(tmp_path_factory.mktemp("gguf"))


def made(files: tuple[Path, Path | None], **changes: object) -> GgufAdapter:
    llm, eye = files
    named = {"model": str(llm), **({} if eye is None else {"projector": str(eye)})}
    return GgufAdapter(
        ModelProfile("tiny", "gguf_local", {**SETTINGS, **named, **changes})
    )


@pytest.fixture(scope="module")
def tiny(files: tuple[Path, Path]) -> Iterator[GgufAdapter]:
    adapter = made(files)
    yield adapter
    adapter.unload()


def ask(adapter: GgufAdapter, question: ModelRequest) -> ModelReply:
    return adapter.read(adapter.generate(question))


def question(seed: int = 0, repeat: int = 0) -> ModelRequest:
    return request(facts(plain=noise(56, seed), repeat=repeat))


def test_that_it_answers_as_the_real_server_with_the_same_files(
    tiny: GgufAdapter, tmp_path: Path
) -> None:
    with llama_server(tmp_path) as url:
        for seed in range(5):
            ours = ask(tiny, question(seed))
            body = tiny._body(question(seed)) | {"stream": False, "model": MODEL}
            theirs = _posted(f"{url}/chat/completions", body)
            choice = theirs["choices"][0]
            assert ours.text == choice["message"]["content"]
            assert ours.finish_reason == choice["finish_reason"]
            assert ours.usage.tokens_in == theirs["usage"]["prompt_tokens"]
            assert ours.usage.tokens_out == theirs["usage"]["completion_tokens"]
            # the server also tells of the token that ends the answer
            tokens = choice["logprobs"]["content"][: len(ours.logprobs)]
            assert len(ours.logprobs) >= 1
            assert [t.token for t in ours.logprobs] == [t["token"] for t in tokens]
            assert [t.logprob for t in ours.logprobs] == [t["logprob"] for t in tokens]
            assert [dict(t.top) for t in ours.logprobs] == [
                {top["token"]: top["logprob"] for top in t["top_logprobs"]}
                for t in tokens
            ]


def _posted(url: str, body: dict[str, Any]) -> dict[str, Any]:
    data = json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    sent = urllib.request.Request(url, data, headers)  # noqa: S310 - loopback
    with urllib.request.urlopen(sent, timeout=600) as reply:  # noqa: S310 - loopback
        read: dict[str, Any] = json.load(reply)
    return read


def test_that_the_image_matters_and_the_same_question_has_the_same_answer(
    tiny: GgufAdapter,
) -> None:
    bodies = [tiny.generate(question(seed)).body for seed in (1, 2, 1)]
    assert bodies[0] == bodies[2]
    assert bodies[0] != bodies[1]


def test_that_a_repeat_has_a_seed_of_its_own(files: tuple[Path, Path]) -> None:
    warm = made(files, temperature=5.0, seed=7)
    texts = [[ask(warm, question(1, r)).text for r in range(8)] for _ in range(2)]
    assert texts[0] == texts[1]
    assert len(set(texts[0])) > 1
    assert [warm.identity(r).params["seed"] for r in range(2)] == [7, 8]
    warm.unload()


def test_that_an_answer_asked_for_in_a_form_has_it(files: tuple[Path, Path]) -> None:
    formal = made(files, structured=True, max_tokens=200)
    choice = {"type": "string", "enum": ["A1", "B2"]}
    schema = {
        "type": "object",
        "properties": {"cell": choice},
        "required": ["cell"],
        "additionalProperties": False,
    }
    asked = dataclasses.replace(question(), answer_schema=schema)
    assert json.loads(ask(formal, asked).text)["cell"] in ("A1", "B2")
    assert formal.identity(0).params["structured"] is True
    formal.unload()


def test_that_its_identity_knows_both_files_by_content(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    moved = [tmp_path / f"moved-{file.name}" for file in files]
    for file, copy in zip(files, moved, strict=True):
        shutil.copy(file, copy)
    identity = made(files).identity(0)
    assert made((moved[0], moved[1])).identity(0) == identity
    assert len(identity.revision) == 64
    assert identity.local["device"] == "cpu"
    moved[1].write_bytes(files[1].read_bytes()[:-4] + b"\x00\x00\x80\x3f")
    other = made((moved[0], moved[1])).identity(0)
    assert other.revision == identity.revision
    assert other.local["projector_sha256"] != identity.local["projector_sha256"]


def test_that_it_is_loaded_and_unloaded_as_told(files: tuple[Path, Path]) -> None:
    adapter = made(files)
    assert isinstance(adapter, Loadable)
    told: list[float] = []
    states = [adapter.state]
    adapter.load(lambda part, _what: told.append(part), threading.Event())
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, 1.0)
    states.append(adapter.state)
    assert adapter.memory_bytes() > sum(file.stat().st_size for file in files)
    adapter.unload()
    states.append(adapter.state)
    assert states == [LoadState.UNLOADED, LoadState.LOADED, LoadState.UNLOADED]
    assert ask(adapter, question()).text
    adapter.unload()


def test_that_loading_can_be_cancelled(files: tuple[Path, Path]) -> None:
    cancelled = threading.Event()
    cancelled.set()
    adapter = made(files)
    with pytest.raises(LoadCancelledError):
        adapter.load(silent, cancelled)
    assert adapter.state is LoadState.UNLOADED


def _endless(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, **changes: object
) -> GgufAdapter:
    """Return the tiny model talking on until its longest length."""
    adapter = made(files, max_tokens=1800, **changes)
    params = adapter._params(0)
    monkeypatch.setattr(adapter, "_params", lambda _: {**params, "ignore_eos": True})
    return adapter


def test_that_an_answer_is_interrupted_between_two_tokens(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = _endless(files, monkeypatch)
    adapter.load(silent, threading.Event())
    errors: list[ProviderError] = []

    def asking() -> None:
        try:
            adapter.generate(question())
        except ProviderError as error:
            errors.append(error)

    thread = threading.Thread(target=asking)
    thread.start()
    while thread.is_alive() and not errors:
        time.sleep(0.02)
        adapter.interrupt()
    thread.join(300)
    assert [e.reason for e in errors] == ["cancelled"]
    adapter.unload()


def test_that_an_answer_that_takes_too_long_is_stopped(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = _endless(files, monkeypatch, timeout_s=0.01)
    with pytest.raises(ProviderError, match=r"within 0\.01 s") as caught:
        adapter.generate(question())
    assert caught.value.reason == "timeout"
    assert caught.value.retry_class is RetryClass.FAIL
    adapter.unload()


def test_that_an_answer_cut_by_its_longest_length_says_so(
    files: tuple[Path, Path],
) -> None:
    adapter = made(files, max_tokens=1)
    assert ask(adapter, question()).finish_reason == "length"
    adapter.unload()


def test_that_a_model_without_projector_sees_no_image(
    files: tuple[Path, Path],
) -> None:
    blind = made((files[0], None))
    with pytest.raises(ProviderError, match="cannot see images") as caught:
        blind.generate(question())
    assert caught.value.retry_class is RetryClass.STOP_RUN
    assert blind.identity(0).local["projector_sha256"] == "none"


def test_that_a_question_longer_than_the_context_is_a_failed_trial(
    tiny: GgufAdapter,
) -> None:
    with pytest.raises(ProviderError, match="longer than the context of 2048") as error:
        tiny.generate(request(text="where " * 2000))
    assert error.value.reason == "too_long"
    assert ask(tiny, question()).text


def test_that_an_image_that_cannot_be_read_is_a_failed_trial(
    tiny: GgufAdapter,
) -> None:
    with pytest.raises(ProviderError, match="rejects the question"):
        tiny.generate(request(png=b"\x89PNG no"))
    assert ask(tiny, question()).text


def test_that_files_the_wrong_way_round_are_told_apart(
    files: tuple[Path, Path],
) -> None:
    llm, eye = files
    with pytest.raises(WrongUseError, match="is a projector, not a model"):
        made((eye, llm)).identity(0)
    with pytest.raises(WrongUseError, match="is a model, not a projector"):
        made((llm, llm)).identity(0)


def test_that_a_projector_of_another_model_does_not_fit(
    files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiny_gguf, "_WIDTH", 32)
    _, narrow = tiny_gguf.write_tiny_model(tmp_path)
    with pytest.raises(
        WrongUseError, match=r"produces 32 numbers per token.*model takes 64"
    ):
        made((files[0], narrow)).identity(0)


def test_that_what_llama_cpp_cannot_load_stops_the_run_with_a_sentence(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    other = tmp_path / "odd.gguf"
    data = files[0].read_bytes()
    other.write_bytes(data.replace(b"blk.0.attn_q.weight", b"blk.0.attn_x.weight"))
    adapter = made((other, files[1]))
    with pytest.raises(ProviderError, match=r"could not load 'odd\.gguf'") as caught:
        adapter.generate(question())
    assert caught.value.retry_class is RetryClass.STOP_RUN
    assert adapter.state is LoadState.UNLOADED


def test_that_a_model_larger_than_the_machine_is_not_even_tried(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        adapter_module, "make_engine", lambda *_: pytest.fail("was tried")
    )
    adapter = made(files, n_ctx=2**40)
    with pytest.raises(WrongUseError, match="GB of memory; this machine has"):
        adapter.load(silent, threading.Event())


def test_that_a_split_model_needs_all_its_parts(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    first = tmp_path / "m-00001-of-00002.gguf"
    shutil.copy(files[0], first)
    with pytest.raises(OverreadError, match=r"'m-00002-of-00002\.gguf' is not next to"):
        made((first, None)).identity(0)
    shutil.copy(files[0], tmp_path / "m-00002-of-00002.gguf")
    assert len(made((first, None)).identity(0).revision) == 2 * 64 + 1


def test_that_a_stored_reply_is_read_where_the_model_is_gone(
    tiny: GgufAdapter, tmp_path: Path
) -> None:
    raw = tiny.generate(question())
    gone = made((tmp_path / "gone.gguf", None))
    with pytest.raises(WrongUseError, match="cannot be read"):  # not the image's fault
        gone.identity(0)
    assert gone.read(raw) == tiny.read(raw)
    with pytest.raises(ProviderError, match="cannot be read") as caught:
        gone.generate(question())
    assert caught.value.retry_class is RetryClass.STOP_RUN


def test_that_the_memory_of_keys_and_values_is_counted(
    files: tuple[Path, Path],
) -> None:
    opened = made(files)._files()
    layers, heads, head = 2, 2, 64 // 4
    assert opened.cache_bytes(10) == 10 * layers * heads * 2 * head * 2


def test_that_thoughts_kept_apart_by_the_template_stay_apart() -> None:
    collected = engine.Collected()
    for delta in (
        {"role": "assistant"},
        {"reasoning_content": "hm"},
        {"content": "D4"},
    ):
        collected.add({"choices": [{"delta": delta, "finish_reason": None}]})
    collected.add({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    raw = adapter_module._reply(collected, "m", 3)
    reply = read_reply(raw)
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("D4", "hm", "stop")


@pytest.mark.skipif(sys.platform == "win32", reason="llama.cpp listens on TCP there")
def test_that_a_loaded_model_listens_where_nobody_can_connect(
    tiny: GgufAdapter,
) -> None:
    tiny.load(silent, threading.Event())
    with tiny._holder.in_use() as running:
        scheme, _, path = running.listening_address.partition("://")
    assert scheme == "unix"
    assert not Path(path).parent.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="llama.cpp listens on TCP there")
def test_that_a_model_loads_where_the_temporary_folder_has_a_long_name(
    files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 120)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    adapter = made(files)
    assert ask(adapter, question()).text
    assert not list(long.iterdir())
    adapter.unload()
