import importlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import numpy as np
import pytest
from scipy.stats import chisquare

from tests.helpers.tiny_vlm import local_model, tokenizer
from viewer.domain.errors import WrongUseError
from viewer.models.protocol import SamplesTokens
from viewer.models.transformers_local.foreign import Foreign
from viewer.models.transformers_local.random_tokens import ordinary_tokens, random_text

pytest.importorskip("transformers")

LIKE = "The patient's chest radiograph: naïve nodule in the left upper lobe, no café. "

UNKNOWN: Final = {"unk_token": "<unk>"}


def metaspace(kind: str) -> Foreign:
    """Return a tokenizer that writes blanks as Llama's and Gemma's do."""
    tk: Foreign = importlib.import_module("tokenizers")
    model, trainer = {
        "unigram": (tk.models.Unigram(), tk.trainers.UnigramTrainer),
        "bpe": (tk.models.BPE(**UNKNOWN), tk.trainers.BpeTrainer),
    }[kind]
    words = tk.Tokenizer(model)
    words.pre_tokenizer = tk.pre_tokenizers.Metaspace()
    words.decoder = tk.decoders.Metaspace()
    settings = UNKNOWN if kind == "unigram" else {}
    corpus = [LIKE, "differential diagnosis of a mass", "evidence and findings"] * 20
    words.train_from_iterator(
        corpus,
        trainer(
            vocab_size=120,
            special_tokens=["<unk>"],
            show_progress=False,
            **settings,
        ),
    )
    fast = importlib.import_module("transformers").PreTrainedTokenizerFast
    return fast(tokenizer_object=words, **UNKNOWN)


TOKENIZERS: dict[str, Callable[[], Foreign]] = {
    "byte level": lambda: tokenizer("<image>"),
    "unigram": lambda: metaspace("unigram"),
    "metaspace bpe": lambda: metaspace("bpe"),
}


@pytest.mark.statement("E004-14")
@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("times", [0, 1, 12])
def test_that_random_text_is_as_long_and_holds_no_special_token(
    kind: str, times: int
) -> None:
    words = TOKENIZERS[kind]()
    length = len(words.encode(LIKE * times, add_special_tokens=False))
    text, tokens = random_text(words, LIKE * times, seed=5)
    again = words.encode(text, add_special_tokens=False)
    assert tokens == len(again) == length
    assert not set(again) & set(words.all_special_ids)
    assert random_text(words, LIKE * times, seed=5)[0] == text
    assert times == 0 or random_text(words, LIKE * times, seed=6)[0] != text


@pytest.mark.statement("E004-14")
def test_that_every_token_that_can_stand_alone_comes_equally_often() -> None:
    words = tokenizer("<image>")
    special = set(words.all_special_ids)
    alone = [
        token
        for token in range(len(words))
        if token not in special
        and len(words.encode(words.decode([token]), add_special_tokens=False)) == 1
    ]
    assert set(alone) < set(ordinary_tokens(words).tolist())
    assert len(ordinary_tokens(words)) == len(words) - len(special)
    drawn = [
        words.encode(random_text(words, "A", seed)[0], add_special_tokens=False)[0]
        for seed in range(4000)
    ]
    counts = np.bincount(drawn, minlength=len(words))[alone]
    assert counts.sum() == 4000
    assert chisquare(counts).pvalue > 1e-6


def test_that_a_tokenizer_that_keeps_no_length_is_told() -> None:
    growing = SimpleNamespace(
        encode=lambda text, **_: list(text) * 2,
        decode=lambda tokens, **_: "x" * len(tokens),
        all_special_ids=[],
        added_tokens_decoder={},
        get_vocab=lambda: {"x": 0},
    )
    with pytest.raises(WrongUseError, match="keep the number"):
        random_text(growing, "abc", 0)


def test_that_text_whose_whole_is_read_otherwise_is_drawn_again() -> None:
    reads: list[int] = []

    def encode(text: str, **_: object) -> list[int]:
        """Read every letter as a token, and the last b of a long text as two."""
        reads.append(len(text))
        return [0] * (len(text) + (len(text) > 20 and text.endswith("b")))

    odd = SimpleNamespace(
        encode=encode,
        decode=lambda tokens, **_: "".join("ab"[token] for token in tokens),
        all_special_ids=[],
        added_tokens_decoder={},
        get_vocab=lambda: {"a": 0, "b": 1},
    )
    found = [random_text(odd, "a" * 30, seed) for seed in range(8)]
    assert all(tokens == len(text) == 30 for text, tokens in found)
    assert all(text.endswith("a") for text, _ in found)
    assert max(reads) == 30


@pytest.mark.statement("E004-14")
def test_that_a_model_writes_random_text_without_being_loaded(
    folder_of: Callable[[str], Path],
) -> None:
    model = local_model(folder_of("smolvlm"))
    assert isinstance(model, SamplesTokens)
    found = model.random_text(LIKE, 3)
    assert model.state.value == "unloaded"
    assert found.tokenizer == "smolvlm"
    with model.alone() as loaded:
        again = loaded.encoder.tokenizer.encode(found.text, add_special_tokens=False)
    assert found.tokens == len(again)
    assert model.random_text(LIKE, 3) == found
    model.unload()
    assert model.random_text(LIKE, 3) == found
