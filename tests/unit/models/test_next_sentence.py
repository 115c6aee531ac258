import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.requests import facts, request
from tests.helpers.tiny_transformers import write_tiny_bert
from viewer.domain.errors import ProviderError, RetryClass, WrongUseError
from viewer.domain.exchange import ModelProfile, ModelReply, ModelRequest
from viewer.domain.interpretability import Choices
from viewer.models.catalog import ADAPTERS, missing_dependency
from viewer.models.next_sentence import NextSentence
from viewer.models.transformers_local.foreign import transformers

MISSING = missing_dependency(ADAPTERS["next_sentence"])
pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
OPTIONS = ("necrosis", "mitosis of a nucleus", "none of these", "a gland")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_bert(tmp_path_factory.mktemp("models") / "bert")


def model(folder: Path | str, **settings: object) -> NextSentence:
    values = {"model": str(folder), "device": "cpu", **settings}
    return NextSentence(ModelProfile("b", "next_sentence", values))


def question(text: str, options: tuple[str, ...] = OPTIONS) -> ModelRequest:
    return request(facts(choices=Choices(text, options)))


def answered(one: NextSentence, asked: ModelRequest) -> ModelReply:
    return one.read(one.generate(asked))


@pytest.mark.statement("E003-10")
def test_that_the_answer_is_the_option_likeliest_to_follow(folder: Path) -> None:
    import torch

    hf = transformers()
    network = hf.BertForNextSentencePrediction.from_pretrained(folder).eval()
    words = hf.AutoTokenizer.from_pretrained(folder)
    letters = set()
    for number in range(12):
        text = f"which stain shows {'mitosis ' * number}in the tile"
        chances = []
        for option in OPTIONS:
            ids = [words.cls_token_id, *words.encode(text, add_special_tokens=False)]
            ids.append(words.sep_token_id)
            second = words.encode(option, add_special_tokens=False)
            second.append(words.sep_token_id)
            with torch.no_grad():
                logits = network(
                    torch.tensor([ids + second]),
                    token_type_ids=torch.tensor([[0] * len(ids) + [1] * len(second)]),
                ).logits[0]
            chances.append(float(logits.softmax(-1)[0]))
        reply = answered(model(folder), question(text))
        assert reply.measured is not None
        told = [option[0].logprob for option in reply.measured.options]
        assert np.exp(told) == pytest.approx(chances, abs=1e-6)
        assert reply.text == "ABCD"[int(np.argmax(chances))]
        letters.add(reply.text)
    assert len(letters) > 1


@pytest.mark.statement("E003-10")
def test_that_a_long_question_is_cut_and_an_image_plays_no_part(folder: Path) -> None:
    long = question("necrosis in the tile " * 60)
    asked = replace(long, messages=())
    assert answered(model(folder), long) == answered(model(folder), asked)


@pytest.mark.parametrize("choices", [None, Choices("which?", ())])
def test_that_a_question_without_options_is_refused(
    folder: Path, choices: Choices | None
) -> None:
    with pytest.raises(ProviderError, match="has none") as caught:
        model(folder).generate(request(facts(choices=choices)))
    assert caught.value.retry_class is RetryClass.STOP_RUN


def test_that_a_model_without_the_head_is_refused(tmp_path: Path) -> None:
    headless = model(write_tiny_bert(tmp_path / "biomed", head=False))
    with pytest.raises(WrongUseError, match="next-sentence head"):
        headless.load(lambda _part, _what: None, threading.Event())


def test_that_a_name_without_a_folder_and_no_gpu_are_told(folder: Path) -> None:
    import torch

    with pytest.raises(WrongUseError, match="without its folder"):
        model("google-bert/bert-large-uncased").identity(0)
    if not torch.cuda.is_available():
        with pytest.raises(ProviderError, match="cuda"):
            model(folder, device="cuda").generate(question("which?"))


def test_that_another_seed_is_another_model(folder: Path, tmp_path: Path) -> None:
    other = model(write_tiny_bert(tmp_path / "bert", seed=1))
    assert other.identity(0).revision != model(folder).identity(0).revision
    assert other.identity(0) == other.identity(1)
