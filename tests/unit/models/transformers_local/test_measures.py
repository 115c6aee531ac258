from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.helpers.requests import facts, png_of, request
from tests.helpers.tiny_vlm import encoded, local_model
from viewer.domain.errors import ProviderError
from viewer.domain.exchange import (
    ImagePart,
    Message,
    ModelReply,
    ModelRequest,
    TextPart,
)
from viewer.domain.interpretability import (
    Measured,
    Measures,
    QueryPosition,
    Section,
    SectionAttention,
    letter_spellings,
)
from viewer.imaging.patch_cover import share_inside
from viewer.metrics.posterior import from_letters, from_sequences
from viewer.metrics.rapt import rapt, weighted_sum
from viewer.models.transformers_local.adapter import TransformersLocal
from viewer.models.transformers_local.conversation import conversation
from viewer.models.transformers_local.foreign import Foreign

ModelOf = Callable[[str], TransformersLocal]
FAMILIES = ("llava", "gemma3", "idefics3", "smolvlm", "paligemma", "qwen2_5_vl")
STEM = "What is the single best diagnosis?"
OPTIONS = ("pneumonia", "lung nodule, left", "naïve café", "no finding")
TEXT = (
    "History: a chest radiograph of the left upper lobe.\n"
    f"{STEM}\n"
    + "\n".join(f"{x}) {text}" for x, text in zip("ABCD", OPTIONS, strict=True))
    + "\nAnswer:"
)
SECTIONS = (
    Section("stem", STEM),
    Section("options", TEXT[TEXT.index("A)") : TEXT.index("\nAnswer:")]),
)


def question(measures: Measures | None) -> ModelRequest:
    pixels = np.random.default_rng(3).integers(0, 256, (160, 200), dtype=np.uint8)
    return replace(request(facts(), TEXT, png_of(pixels)), measures=measures)


def answer(model: TransformersLocal, asked: ModelRequest) -> ModelReply:
    return model.read(model.generate(asked))


def measured(model: TransformersLocal, measures: Measures) -> Measured:
    told = answer(model, question(measures)).measured
    assert told is not None
    return told


def attention(model: TransformersLocal, measures: Measures) -> SectionAttention:
    told = measured(model, measures).attention
    assert told is not None
    return told


def whole_logprob(loaded: Foreign, text: str) -> tuple[int, float]:
    """Return a text's tokens and log-probability by one pass over prompt and text."""
    import torch

    inputs = encoded(loaded, conversation(question(None)))
    words = loaded.encoder.tokenizer
    ids = [words.encode(text, add_special_tokens=False)]
    said = torch.tensor(ids, device=loaded.device)
    n, m = inputs["input_ids"].shape[1], said.shape[1]
    inputs["input_ids"] = torch.cat([inputs["input_ids"], said], dim=1)
    ones = torch.ones_like(said)
    inputs["attention_mask"] = torch.cat([inputs["attention_mask"], ones], dim=1)
    for name in ("token_type_ids", "mm_token_type_ids"):
        if name in inputs:
            inputs[name] = torch.cat([inputs[name], ones * 0], dim=1)
    logits = loaded.model(**inputs).logits[0, n - 1 : n + m - 1].double()
    told = logits.log_softmax(-1).gather(-1, said[0][:, None])
    return m, float(told.sum())


@pytest.mark.statement("E004-17")
@pytest.mark.parametrize(
    "family",
    [f for f in FAMILIES if f != "paligemma"],  # whose prompt looks ahead
)
def test_that_likelihoods_are_those_of_one_pass_over_prompt_and_text(
    family: str, model_of: ModelOf
) -> None:
    import torch

    model = model_of(family)
    letters = letter_spellings("ABCD")
    told = measured(model, Measures((*letters, *((o,) for o in OPTIONS)), answer=False))
    assert len(told.options) == 8
    with model.alone() as loaded, torch.no_grad():
        for option in told.options:
            for spelled in option:
                tokens, logprob = whole_logprob(loaded, spelled.text)
                assert spelled.tokens == tokens
                assert spelled.logprob == pytest.approx(logprob, abs=2e-4)
    assert [s.text for s in told.options[0]] == ["A", " A", "(A"]
    assert told.options[0][2].tokens == 2


@pytest.mark.statement("E004-17")
def test_that_a_posterior_comes_of_letters_and_of_option_texts(
    model_of: ModelOf,
) -> None:
    model = model_of("llava")
    told = measured(model, Measures(letter_spellings("ABCD")))
    found = from_letters(
        {s.text: s.logprob for option in told.options for s in option}, "ABCD"
    )
    chances = [sum(np.exp(s.logprob) for s in option) for option in told.options]
    assert found.p == pytest.approx(np.array(chances) / sum(chances), abs=1e-12)
    texts = measured(model, Measures(tuple((o,) for o in OPTIONS))).options
    sums = [option[0].logprob for option in texts]
    counts = [option[0].tokens for option in texts]
    by_length = from_sequences(sums, counts, by_length=True)
    each = np.exp(np.array(sums) / np.array(counts))
    assert by_length.p == pytest.approx(each / each.sum(), abs=1e-12)


def test_that_spellings_of_the_same_tokens_count_once_and_empty_ones_are_refused(
    model_of: ModelOf,
) -> None:
    model = model_of("llava")
    told = measured(model, Measures((("A", "A", "no"), ("A",)), answer=False))
    assert [[s.text for s in option] for option in told.options] == [["A", "no"], ["A"]]
    assert told.options[0][0] == told.options[1][0]
    with pytest.raises(ProviderError, match="has no text"):
        model.generate(question(Measures((("A",), ("",)))))


def test_that_measuring_changes_no_answer_and_may_go_without_one(
    model_of: ModelOf,
) -> None:
    model = model_of("idefics3")
    plain = answer(model, question(None))
    assert plain.measured is None
    wishes = Measures(letter_spellings("AB"), SECTIONS, QueryPosition.GENERATED)
    told = answer(model, question(wishes))
    assert (told.text, told.logprobs) == (plain.text, plain.logprobs)
    silent = answer(model, question(replace(wishes, answer=False)))
    assert silent.text == ""
    assert silent.measured == told.measured
    last = replace(wishes, attention=QueryPosition.LAST_PROMPT)
    assert answer(model, question(last)).text == plain.text
    quick = answer(model, question(replace(last, answer=False))).measured
    assert quick == answer(model, question(last)).measured


def prompt_rows(
    model: TransformersLocal, steps: int
) -> tuple[list[int], list[npt.NDArray[np.float64]]]:
    """Return the prompt's tokens and what transformers tells: (layers, tokens)."""
    import torch

    with model.alone() as loaded, torch.no_grad():
        inputs = encoded(loaded, conversation(question(None)))
        told = loaded.model.generate(
            **inputs,
            max_new_tokens=steps,
            do_sample=False,
            return_dict_in_generate=True,
            output_attentions=True,
        )
    ids: list[int] = inputs["input_ids"][0].tolist()
    rows = [
        torch.stack([layer[0, :, -1, : len(ids)] for layer in step]).double().mean(1)
        for step in told.attentions
    ]
    return ids, [(row / row.sum(dim=1, keepdim=True)).cpu().numpy() for row in rows]


def sections_by_hand(model: TransformersLocal, ids: list[int]) -> dict[str, list[int]]:
    """Return the tokens of each section, told token by token."""
    with model.alone() as loaded:
        words, image = loaded.encoder.tokenizer, loaded.model.config.image_token_id
    byte_of = {v: k for k, v in bytes_of_unicode().items()}
    spans, text = [], b""
    for token in words.convert_ids_to_tokens(ids):
        plain = token in words.all_special_tokens
        raw = token.encode() if plain else bytes(byte_of[c] for c in token)
        spans.append((len(text), len(text) + len(raw)))
        text += raw
    found: dict[str, list[int]] = {n: [] for n in ("image", "text", "special")}
    for section in SECTIONS:
        start = text.index(section.text.encode())
        end = start + len(section.text.encode())
        found[section.name] = [
            i for i, (a, b) in enumerate(spans) if a < end and b > start
        ]
    named = {i for section in SECTIONS for i in found[section.name]}
    for i, token in enumerate(ids):
        if token == image:
            found["image"].append(i)
        elif token in words.all_special_ids:
            found["special"].append(i)
        elif i not in named:
            found["text"].append(i)
    return found


def bytes_of_unicode() -> dict[int, str]:
    """Return how byte-level tokenizers write each byte (Radford 2019)."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    return {
        **{b: chr(b) for b in plain},
        **{b: chr(256 + i) for i, b in enumerate(others)},
    }


@pytest.mark.statement("E004-16")
@pytest.mark.parametrize("family", FAMILIES)
def test_that_relative_attention_is_that_of_transformers_and_sums_to_one(
    family: str, model_of: ModelOf
) -> None:
    model = model_of(family)
    ids, rows = prompt_rows(model, 6)
    by_hand = sections_by_hand(model, ids)
    assert all(by_hand.values())
    told = attention(model, Measures((), SECTIONS, QueryPosition.LAST_PROMPT))
    generated = attention(model, Measures((), SECTIONS, QueryPosition.GENERATED))
    assert dict(zip(told.names, told.tokens, strict=True)) == {
        name: len(of) for name, of in by_hand.items()
    }
    for found, expected in ((told, rows[0]), (generated, np.mean(rows, axis=0))):
        ratios = rapt(found.per_token, found.places)
        for name, ratio in rapt(expected, by_hand).items():
            assert ratios[name] == pytest.approx(ratio, abs=1e-5)
        sums = weighted_sum(ratios, found.places)
        assert sums == pytest.approx(np.ones(2), abs=1e-6)


@pytest.mark.statement("E002-16", "E002-17")
@pytest.mark.parametrize("family", FAMILIES)
def test_that_relevance_is_told_of_every_text_token_beside_the_image(
    family: str, model_of: ModelOf
) -> None:
    model = model_of(family)
    ids, rows = prompt_rows(model, 1)
    wishes = Measures((), SECTIONS, QueryPosition.LAST_PROMPT, relevance=True)
    told = measured(model, wishes)
    assert told.relevance is not None
    assert told.attention is not None
    (shown,) = told.relevance.images
    expected = rows[0].mean(axis=0)
    with model.alone() as loaded:
        words, image = loaded.encoder.tokenizer, loaded.model.config.image_token_id
    spoken = [i for i, token in enumerate(ids) if token != image]
    assert [text for text, _ in told.relevance.tokens] == [
        words.decode([ids[i]]) for i in spoken
    ]
    weights = [weight for _, weight in told.relevance.tokens]
    assert weights == pytest.approx(expected[spoken], abs=1e-6)
    on_image = float(np.sum(shown.values))
    assert on_image + sum(weights) == pytest.approx(1.0, abs=1e-9)
    assert on_image == pytest.approx(np.mean(told.attention.sums, axis=0)[0], abs=1e-9)
    everywhere = np.ones((160, 200), dtype=np.bool_)
    left = everywhere.copy()
    left[:, 100:] = False
    share = [
        share_inside(shown.values, shown.to_sent, mask) for mask in (everywhere, left)
    ]
    assert share[0] == pytest.approx(1.0)
    columns = len(shown.values[0])
    if columns % 2 == 0:
        half = np.sum([row[: columns // 2] for row in shown.values])
        assert share[1] == pytest.approx(half / on_image)


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ((Section("stem", "no such text"),), "'stem' appears 0 times"),
        ((Section("letter", "a"),), "times in the prompt"),
        ((Section("nothing", ""),), "'nothing' appears 0 times"),
        ((*SECTIONS, Section("again", "best diagnosis")), "'again' of a prompt over"),
    ],
)
def test_that_a_section_must_stand_in_the_prompt_once(
    sections: tuple[Section, ...], said: str, model_of: ModelOf
) -> None:
    wishes = Measures((), sections, QueryPosition.LAST_PROMPT, answer=False)
    with pytest.raises(ProviderError, match=said):
        model_of("llava").generate(question(wishes))


@pytest.mark.statement("E004-16")
def test_that_a_model_whose_attention_is_not_eager_says_so(
    folder_of: Callable[[str], Path],
) -> None:
    fast = local_model(folder_of("llava"), attention="sdpa", max_new_tokens=4)
    wishes = Measures((), (), QueryPosition.LAST_PROMPT)
    with pytest.raises(ProviderError, match='Set attention = "eager"'):
        fast.generate(question(wishes))
    assert answer(fast, question(Measures(letter_spellings("AB")))).measured is not None


def test_that_measuring_is_stopped_between_two_tokens(model_of: ModelOf) -> None:
    from viewer.models.transformers_local.answering import ask

    wishes = question(Measures(letter_spellings("AB"), answer=False))
    with model_of("llava").alone() as loaded, pytest.raises(ProviderError) as caught:
        ask(loaded, wishes, 0, lambda: True)
    assert caught.value.reason == "cancelled"


def test_that_images_shown_in_other_tokens_than_expected_are_told(
    monkeypatch: pytest.MonkeyPatch, model_of: ModelOf
) -> None:
    from viewer.models.transformers_local import answering

    monkeypatch.setattr(answering, "layouts", lambda *_: [])
    wishes = Measures((), (), QueryPosition.LAST_PROMPT, relevance=True)
    with pytest.raises(ProviderError, match="16 tokens, but 0"):
        model_of("llava").generate(question(wishes))


@pytest.mark.statement("E004-13", "E004-16", "E004-17")
@pytest.mark.parametrize("shown", [0, 3])
@pytest.mark.parametrize("family", FAMILIES)
def test_that_questions_without_images_and_with_several_are_measured(
    family: str, shown: int, model_of: ModelOf
) -> None:
    model = model_of(family)
    rng = np.random.default_rng(shown)
    sizes = [(160, 200), (112, 112), (200, 90)][:shown]
    parts = [ImagePart(png_of(rng.integers(0, 256, s, dtype=np.uint8))) for s in sizes]
    wishes = Measures(
        letter_spellings("ABCD"),
        SECTIONS,
        QueryPosition.LAST_PROMPT,
        relevance=True,
        answer=False,
    )
    message = Message("user", (*parts, TextPart(TEXT)))
    asked = ModelRequest((message,), facts(), "", measures=wishes)
    if family == "paligemma" and not shown:
        with pytest.raises(ProviderError, match="without an image"):
            model.generate(asked)
        return
    told = answer(model, asked).measured
    assert told is not None
    assert told.attention is not None
    assert told.relevance is not None
    ratios = rapt(told.attention.per_token, told.attention.places)
    assert np.isnan(ratios["image"]).all() == (shown == 0)
    sums = weighted_sum(ratios, told.attention.places)
    assert sums == pytest.approx(np.ones(2), abs=1e-6)
    assert len(told.relevance.images) == shown
    assert all(s.logprob < 0 for option in told.options for s in option)
