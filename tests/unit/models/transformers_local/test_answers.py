import dataclasses
import json
import shutil
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers import tiny_vlm
from tests.helpers.requests import facts, png_of, request
from tests.helpers.tiny_vlm import encoded, local_model
from viewer.domain.errors import ProviderError, RetryClass
from viewer.domain.exchange import (
    Message,
    ModelReply,
    ModelRequest,
    TextPart,
    TokenLogprob,
)
from viewer.models.loaded import Loadable, LoadState, silent
from viewer.models.transformers_local import engine
from viewer.models.transformers_local.adapter import TransformersLocal
from viewer.models.transformers_local.conversation import conversation

FAMILIES = sorted(tiny_vlm.FAMILIES)
ModelOf = Callable[[str], TransformersLocal]


def question(seed: int = 0, repeat: int = 0) -> ModelRequest:
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, 256, (150, 120), dtype=np.uint8)
    return request(facts(repeat=repeat), png=png_of(pixels))


def ask(model: TransformersLocal, asked: ModelRequest) -> ModelReply:
    return model.read(model.generate(asked))


@pytest.mark.parametrize("family", FAMILIES)
def test_that_each_family_answers_the_same_question_the_same_way(
    family: str, model_of: ModelOf
) -> None:
    model = model_of(family)
    first, second = ask(model, question(0)), ask(model, question(1))
    assert ask(model, question(0)) == first
    assert first.logprobs != second.logprobs  # the image has an effect
    for reply in (first, second):
        assert reply.finish_reason in {"stop", "length"}
        assert reply.model_returned == family
        assert reply.usage.tokens_in is not None
        assert reply.usage.tokens_out == len(reply.logprobs)
        assert (reply.usage.tokens_out == 6) == (reply.finish_reason == "length")


@pytest.mark.parametrize("family", FAMILIES)
def test_that_log_probabilities_equal_an_independent_forward_pass(
    family: str, model_of: ModelOf
) -> None:
    import torch

    model = model_of(family)
    with model.alone() as loaded:
        turns = conversation(question())
        wanted = engine.Wanted(turns, 0, lambda: False)
        (answer,) = engine.generate(loaded, [wanted])
        inputs = encoded(loaded, turns)
        expected = []
        for i, token in enumerate(answer.tokens):
            longer = _with_tokens(inputs, answer.tokens[:i], family)
            with torch.no_grad():
                logits = loaded.model(**longer).logits[0, -1].double()
            expected.append((logits - logits.logsumexp(0))[token].item())
            best = logits.topk(5).values - logits.logsumexp(0)
            told = [value for _, value in answer.logprobs[i].top]
            assert told == pytest.approx(best.tolist(), abs=1e-4)
    assert [t.logprob for t in answer.logprobs] == pytest.approx(expected, abs=1e-4)
    assert answer.tokens_in == inputs["input_ids"].shape[1]


def _with_tokens(
    inputs: Mapping[str, Any], tokens: tuple[int, ...], family: str
) -> dict[str, Any]:
    """Return the inputs of a prompt followed by tokens, without any cache."""
    import torch

    ones, zeros = (1,) * len(tokens), (0,) * len(tokens)
    after = {
        "input_ids": tokens,
        "attention_mask": ones,
        # PaliGemma tells the prompt from what follows by it, Gemma 3 images
        "token_type_ids": ones if family == "paligemma" else zeros,
        "mm_token_type_ids": zeros,
    }

    longer = dict(inputs)
    for name in after.keys() & longer.keys():
        row = torch.tensor([after[name]]).to(inputs[name])
        longer[name] = torch.cat([inputs[name], row], dim=1)
    return longer


def test_that_the_log_probabilities_are_those_that_transformers_computes(
    model_of: ModelOf,
) -> None:
    with model_of("llava").alone() as loaded:
        turns = conversation(question())
        wanted = engine.Wanted(turns, 0, lambda: False)
        (answer,) = engine.generate(loaded, [wanted])
        inputs = encoded(loaded, turns)
        told = loaded.model.generate(
            **inputs,
            max_new_tokens=6,
            do_sample=False,
            return_dict_in_generate=True,
            output_scores=True,
        )
        scores = loaded.model.compute_transition_scores(
            told.sequences, told.scores, normalize_logits=True
        )[0]
    ours = [t.logprob for t in answer.logprobs]
    assert ours == pytest.approx(scores[: len(ours)].tolist(), abs=1e-6)


def test_that_a_drawn_answer_is_its_seeds_and_leaves_the_random_state(
    folder_of: Callable[[str], Path],
) -> None:
    import torch

    model = local_model(
        folder_of("llava"), temperature=1.5, seed=3, max_new_tokens=16, batch_size=4
    )
    torch.manual_seed(11)
    before = torch.get_rng_state()
    first = ask(model, question())
    assert torch.equal(torch.get_rng_state(), before)
    assert ask(model, question()) == first
    assert ask(model, question(repeat=1)).text != first.text
    assert model.identity(1).params["seed"] == 4
    assert model.identity(1).params["batch_size"] == 1
    again = local_model(folder_of("llava"), temperature=1.5, seed=4, max_new_tokens=16)
    assert ask(again, question()).text == ask(model, question(repeat=1)).text


def test_that_the_identity_names_everything_that_shapes_an_answer(
    folder_of: Callable[[str], Path],
) -> None:
    folder = folder_of("llava")
    identity = local_model(folder, max_new_tokens=7).identity(0)
    assert identity.model == "llava"
    assert identity.revision.startswith("sha256:")
    assert identity.params == {
        "temperature": 0.0,
        "max_new_tokens": 7,
        "top_logprobs": 5,
        "batch_size": 1,
    }
    assert set(identity.local) == {
        "architecture",
        "attention",
        "chat_template_sha256",
        "device",
        "dtype",
        "quantization",
        "torch",
        "torchvision",
        "transformers",
    }
    assert identity.local["dtype"] == "float32"
    assert identity.local["device"].startswith(local_model(folder).options.device)
    other = local_model(folder, dtype="bfloat16", attention="eager").identity(0)
    assert {k for k in identity.local if identity.local[k] != other.local[k]} == {
        "dtype",
        "attention",
    }


def test_that_numbers_of_half_the_size_take_half_the_memory(
    folder_of: Callable[[str], Path],
) -> None:
    sizes = {}
    for dtype in ("float32", "bfloat16"):
        model = local_model(folder_of("llava"), dtype=dtype, max_new_tokens=2)
        estimated = model.memory_bytes()
        assert ask(model, question()).text
        sizes[dtype] = model.memory_bytes()
        assert sizes[dtype] == pytest.approx(estimated, rel=0.01)
    assert sizes["bfloat16"] == pytest.approx(sizes["float32"] / 2, rel=0.01)


def test_that_a_models_own_penalties_and_sampling_change_nothing(
    folder_of: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tmp_path / "llava"
    shutil.copytree(folder_of("llava"), folder)
    path = folder / "generation_config.json"
    own = json.loads(path.read_text())
    own |= {
        "do_sample": True,
        "repetition_penalty": 5.0,
        "suppress_tokens": list(range(5, 260)),
        "temperature": 9.0,
        "top_k": 3,
    }
    path.write_text(json.dumps(own))
    for settings in ({}, {"temperature": 1.0}):
        penalized, plain = (
            local_model(f, max_new_tokens=12, **settings)
            for f in (folder, folder_of("llava"))
        )
        assert ask(penalized, question()).logprobs == ask(plain, question()).logprobs


def test_that_log_probabilities_can_be_left_out(
    folder_of: Callable[[str], Path],
) -> None:
    model = local_model(folder_of("llava"), logprobs=False, max_new_tokens=4)
    reply = ask(model, question())
    assert (reply.logprobs, reply.usage.tokens_out) == ((), 4)
    bare = local_model(folder_of("llava"), top_logprobs=0, max_new_tokens=4)
    tokens = ask(bare, question()).logprobs
    assert all(isinstance(t, TokenLogprob) and t.top == () for t in tokens)


def test_that_a_question_may_show_two_images_or_none(model_of: ModelOf) -> None:
    one = question()
    two = dataclasses.replace(
        one,
        messages=(
            *one.messages,
            Message("user", (*question(5).images, TextPart("And here?"))),
        ),
    )
    none = dataclasses.replace(one, messages=(Message("user", (TextPart("Hi?"),)),))
    for family in FAMILIES:
        # PaliGemma's processor takes no question without an image
        asked = (one, two) if family == "paligemma" else (none, one, two)
        tokens = [ask(model_of(family), q).usage.tokens_in for q in asked]
        counts = [0 if n is None else n for n in tokens]
        assert counts == sorted(set(counts))


def test_that_a_template_without_a_system_role_is_told_its_text_all_the_same(
    folder_of: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tmp_path / "gemma-like"
    tiny_vlm.build("llava", folder)
    template = folder / "chat_template.jinja"
    refusing = (
        "{% if messages[0]['role'] == 'system' %}"
        "{{ raise_exception('System role not supported') }}{% endif %}"
    )
    template.write_text(refusing + template.read_text())
    plain, model = ask(local_model(folder_of("llava")), question()), local_model(folder)
    reply = ask(model, question())
    assert reply.usage.tokens_in is not None
    assert plain.usage.tokens_in is not None
    assert 0 < plain.usage.tokens_in - reply.usage.tokens_in < 12  # only "system: "
    template.write_text("{{ raise_exception('No') }}")
    with pytest.raises(ProviderError, match="chat template") as caught:
        ask(local_model(folder), question())
    assert caught.value.retry_class is RetryClass.STOP_RUN


def test_that_an_answer_can_be_stopped_between_two_tokens(
    folder_of: Callable[[str], Path],
) -> None:
    model = local_model(folder_of("llava"), max_new_tokens=4000)
    model.load(silent, threading.Event())
    failures: list[ProviderError] = []

    def answer() -> None:
        with pytest.raises(ProviderError) as caught:
            model.generate(question(2))
        failures.append(caught.value)

    asking = threading.Thread(target=answer)
    asking.start()
    asking.join(0.3)
    assert asking.is_alive()
    model.interrupt()
    asking.join(300)
    assert not asking.is_alive()
    assert failures[0].reason == "cancelled"
    assert failures[0].retry_class is RetryClass.RETRY


def test_that_a_stopped_answer_tells_what_was_written(model_of: ModelOf) -> None:
    looks = 0

    def after_three() -> bool:
        nonlocal looks
        looks += 1
        return looks == 3

    with model_of("llava").alone() as loaded:
        wanted = engine.Wanted(conversation(question()), 0, after_three)
        (answer,) = engine.generate(loaded, [wanted])
    assert (answer.finish, len(answer.tokens), len(answer.logprobs)) == (
        "cancelled",
        3,
        3,
    )


def test_that_the_catalogues_model_is_loadable_and_comes_and_goes(
    folder_of: Callable[[str], Path],
) -> None:
    model = local_model(folder_of("qwen3_vl"), max_new_tokens=3)
    assert isinstance(model, Loadable)
    told: list[tuple[float, str]] = []
    model.load(lambda part, what: told.append((part, what)), threading.Event())
    parts = [part for part, _ in told]
    assert parts == sorted(parts)
    assert parts[-1] == 1.0
    assert len(parts) > 10
    first = ask(model, question())
    states = [model.state]
    model.unload()
    states.append(model.state)
    assert ask(model, question()) == first
    assert [*states, model.state] == [
        LoadState.LOADED,
        LoadState.UNLOADED,
        LoadState.LOADED,
    ]
