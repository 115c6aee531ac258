"""Chat templates and stop strings, against llama.cpp's own completion endpoint."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.requests import facts, noise, request
from tests.helpers.tiny_gguf import CHAT_TEMPLATE, write_tiny_model
from viewer.domain.errors import ProviderError, RetryClass, WrongUseError
from viewer.domain.exchange import Message, ModelProfile, ModelReply, TextPart
from viewer.models.catalog import ADAPTERS, adapter_for, profile_from_table
from viewer.models.gguf_local import templates
from viewer.models.gguf_local.adapter import GgufAdapter
from viewer.models.gguf_local.engine import EngineSettings, make_engine
from viewer.models.gguf_local.files import open_model
from viewer.services.configuring.model_profiles import settings_fields

SETTINGS: dict[str, object] = {
    "n_ctx": 2048,
    "n_gpu_layers": 0,
    "threads": 1,
    "temperature": 0.0,
    "max_tokens": 16,
    "rehearse": False,
}
Continues = Callable[[str], tuple[str, int]]
WORDS = ("Answer with a cell.", "Where is it? The cell:")


@pytest.fixture(scope="module")
def chat_model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_tiny_model(tmp_path_factory.mktemp("chat"))


@pytest.fixture(scope="module")
def base_model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_tiny_model(tmp_path_factory.mktemp("base"), template="")


@pytest.fixture(scope="module")
def completes(base_model: tuple[Path, Path]) -> Continues:
    """Return llama.cpp's own continuation of a text, with its prompt tokens."""
    engine = make_engine(open_model(*base_model), EngineSettings(2048, 0, 1))

    def continued(prompt: str) -> tuple[str, int]:
        pieces: list[dict[str, Any]] = []

        def collect(piece: dict[str, Any]) -> bool:
            pieces.append(piece)
            return False

        body = {"prompt": prompt, "max_tokens": 16, "temperature": 0.0, "seed": 0}
        engine.handle_completions(body, collect)
        last = pieces[-1]
        return last["choices"][0]["text"], last["usage"]["prompt_tokens"]

    return continued


def made(files: tuple[Path, Path], **changes: object) -> GgufAdapter:
    llm, eye = files
    named = {"model": str(llm), "projector": str(eye)}
    return GgufAdapter(
        ModelProfile("tiny", "gguf_local", {**SETTINGS, **named, **changes})
    )


def said(files: tuple[Path, Path], **changes: object) -> ModelReply:
    """Return the reply of a model to both WORDS, of system and user."""
    system, user = (TextPart(words) for words in WORDS)
    asked = request(facts(plain=noise(56, 0)))
    turns = (Message("system", (system,)), Message("user", (user,)))
    adapter = made(files, **changes)
    try:
        return adapter.read(adapter.generate(type(asked)(turns, asked.facts, "0" * 64)))
    finally:
        adapter.unload()


def test_that_a_base_model_continues_the_plain_text(
    base_model: tuple[Path, Path], completes: Continues
) -> None:
    reply = said(base_model)
    assert (reply.text, reply.usage.tokens_in) == completes("\n\n".join(WORDS))
    assert made(base_model).identity(0).local["chat_template"] == "none"


def test_that_a_chat_model_can_be_asked_for_a_plain_completion(
    chat_model: tuple[Path, Path], completes: Continues
) -> None:
    reply = said(chat_model, chat_template="none")
    assert (reply.text, reply.usage.tokens_in) == completes("\n\n".join(WORDS))
    own = said(chat_model)
    written = f"system: {WORDS[0]}\nuser: {WORDS[1]}\nassistant:"
    assert (own.text, own.usage.tokens_in) == completes(written)
    assert own.usage.tokens_in != reply.usage.tokens_in
    assert "chat_template" not in made(chat_model).identity(0).local


def test_that_a_named_template_is_the_one_published_under_that_name(
    base_model: tuple[Path, Path], completes: Continues
) -> None:
    for name, written in {
        "chatml": "<|im_start|>system\n{}<|im_end|>\n<|im_start|>user\n{}<|im_end|>\n"
        "<|im_start|>assistant\n",
        "gemma": "<start_of_turn>user\n{}\n\n{}<end_of_turn>\n<start_of_turn>model\n",
        "zephyr": "<|system|>\n{}<|endoftext|>\n<|user|>\n{}<|endoftext|>\n"
        "<|assistant|>\n",
    }.items():
        reply = said(base_model, chat_template=name)
        assert (reply.text, reply.usage.tokens_in) == completes(written.format(*WORDS))
        local = made(base_model, chat_template=name).identity(0).local
        assert local["chat_template"] == name


@pytest.mark.parametrize("name", templates.NAMED)
def test_that_llama_cpp_knows_every_template_that_is_offered(
    base_model: tuple[Path, Path], name: str
) -> None:
    plain = said(base_model).usage.tokens_in or 0
    assert (said(base_model, chat_template=name).usage.tokens_in or 0) > plain


def test_that_a_template_from_a_file_is_used_and_known_by_its_content(
    base_model: tuple[Path, Path], chat_model: tuple[Path, Path], tmp_path: Path
) -> None:
    file = tmp_path / "chat.jinja"
    file.write_text(CHAT_TEMPLATE)
    assert said(base_model, chat_template_file=str(file)) == said(chat_model)
    first = made(base_model, chat_template_file=str(file)).identity(0)
    file.write_text(CHAT_TEMPLATE + " ")
    other = made(base_model, chat_template_file=str(file)).identity(0)
    assert first.local["chat_template"] != other.local["chat_template"]


@pytest.mark.parametrize("text", [b"{% for m in %}", b"", b" \n", b"\xff\xfe"])
def test_that_a_template_that_cannot_be_used_is_named(
    base_model: tuple[Path, Path], tmp_path: Path, text: bytes
) -> None:
    file = tmp_path / "bad.jinja"
    file.write_bytes(text)
    with pytest.raises(ProviderError, match=r"cannot use the chat template 'bad\.jin"):
        said(base_model, chat_template_file=str(file))
    with pytest.raises(ProviderError, match=r"'gone\.jinja' cannot be read") as caught:
        said(base_model, chat_template_file=str(tmp_path / "gone.jinja"))
    assert caught.value.retry_class is RetryClass.STOP_RUN


def test_that_a_base_model_that_goes_on_ends_at_a_stop_string(
    base_model: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    params = GgufAdapter._params

    def endless(adapter: GgufAdapter, repeat: int) -> dict[str, Any]:
        return params(adapter, repeat) | {"ignore_eos": True}

    monkeypatch.setattr(GgufAdapter, "_params", endless)
    whole = said(base_model, max_tokens=60)
    assert whole.finish_reason == "length"
    middle = whole.text[10:13]
    written = middle.replace("\n", r"\n").replace(" ", r"\s")
    stopped = said(base_model, max_tokens=60, stop=f"<|im_end|> {written}")
    assert stopped.text == whole.text[: whole.text.index(middle)]
    assert stopped.finish_reason == "stop"


def test_that_stop_strings_are_part_of_the_question(
    base_model: tuple[Path, Path],
) -> None:
    one = made(base_model, stop=r"</s> \n\n Question:\s")
    assert one.identity(0).params["stop"] == ["</s>", "\n\n", "Question: "]
    assert "stop" not in made(base_model).identity(0).params


def test_that_a_profile_has_them_as_settings() -> None:
    table: dict[str, object] = {
        "name": "base",
        "adapter": "gguf_local",
        "model": "base.gguf",
        "chat_template": "none",
        "stop": "<|im_end|>",
    }
    assert adapter_for(profile_from_table(table))
    fields = {field.name: field for field in settings_fields("gguf_local")}
    assert fields["chat_template"].kind == "choice"
    assert fields["chat_template"].default == "file"
    assert fields["chat_template_file"].ending == ".jinja"
    assert {s.key for s in ADAPTERS["gguf_local"].settings} >= {"stop"}
    with pytest.raises(WrongUseError, match="chat_template that is not known"):
        profile_from_table({**table, "chat_template": "chatlm"})
    with pytest.raises(WrongUseError, match="both a chat_template and a"):
        profile_from_table({**table, "chat_template_file": "x.jinja"})
