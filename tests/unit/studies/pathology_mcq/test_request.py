from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import pytest

from tests.unit.studies.pathology_mcq.small import dataset, item, spec
from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.exchange import ImagePart, ModelReply, TextPart
from viewer.domain.image import Raster, Window
from viewer.domain.item import Item
from viewer.domain.run import Step
from viewer.imaging.corruptions import Corruption, corrupt
from viewer.imaging.png import decode_png, encode_png
from viewer.studies.pathology_mcq.params import Params, read_params
from viewer.studies.pathology_mcq.plan import plan
from viewer.studies.pathology_mcq.study import STUDY
from viewer.studies.steps import Question, Sources, StepReply, Turn

ARMS = ["image", "text_only", "noise", "corruption", "mismatch"]
ITEMS = (
    item("PubMed-test_tiny-1", images=("a.png",)),
    item("PubMed-test_tiny-2", 1, images=("b.png", "a.png")),
)


@dataclass
class Pictures:
    """What a question may take: an image of 48 × 64 by its key; notes which were."""

    dataset: Dataset
    seed: int = 5
    read: list[str] = field(default_factory=list)
    names: list[tuple[object, ...]] = field(default_factory=list)

    def image(self, key: str) -> DatasetImage:
        return next(image for image in self.dataset.images if image.key == key)

    def raster(self, key: str, window: Window | None = None) -> Raster:
        assert window is None
        self.read.append(key)
        shade = np.indices((48, 64)).sum(axis=0)[..., None] * 2 + ord(key[0])
        return Raster(np.repeat(shade.astype(np.uint8), 3, axis=2))

    def made(self, name: tuple[object, ...], make: Callable[[], Raster]) -> Raster:
        self.names.append(name)
        return make()

    def picture(self, raster: Raster, detail: str | None = None) -> ImagePart:
        assert detail is None
        return ImagePart(encode_png(raster))


def params(**overrides: object) -> Params:
    return read_params("pathmmu2024", {"arms": ARMS, **overrides})


def turn(one: Item, condition: str) -> Turn:
    trials = plan(dataset(ITEMS), spec(settings={"arms": ARMS}))
    chosen = next(
        t for t in trials if (t.item, t.condition.name) == (one.key, condition)
    )
    return Turn(chosen, one)


def asked(
    one: Item, condition: str, pictures: Pictures | None = None, **overrides: object
) -> Question:
    sources = cast("Sources", pictures or Pictures(dataset(ITEMS)))
    step = Step("answer")
    return STUDY.question(turn(one, condition), step, sources, params(**overrides))


def parts(question: Question) -> tuple[list[ImagePart], str]:
    (message,) = question.messages
    assert message.role == "user"
    *images, text = message.parts
    assert isinstance(text, TextPart)
    return [part for part in images if isinstance(part, ImagePart)], text.text


@pytest.mark.statement("E003-04", "E003-13")
def test_that_images_stand_first_in_their_order_and_then_the_question() -> None:
    question = asked(ITEMS[1], "plain")
    images, text = parts(question)
    pictures = Pictures(dataset(ITEMS))
    drawn = [encode_png(pictures.raster(key)) for key in ("b.png", "a.png")]
    assert [image.png for image in images] == drawn
    assert text.startswith("What about PubMed-test_tiny-2?\n\n(A) text 0\n(B) text 1\n")
    assert question.prompt == "llava"
    assert "{question}" in question.template
    assert question.choices is not None
    assert question.choices.options == ("text 0", "text 1", "text 2", "text 3")


@pytest.mark.statement("E003-04")
def test_that_a_question_without_an_image_reads_none() -> None:
    pictures = Pictures(dataset(ITEMS))
    question = asked(ITEMS[0], "text_only", pictures, line_breaks="folded")
    images, text = parts(question)
    assert (images, pictures.read) == ([], [])
    assert "educated guess" in text
    assert question.prompt == "llava_folded_text_only"
    names = dict(STUDY.prompts(params(prompt_by_model="m=blip2")))
    assert set(names) == {"llava", "llava_text_only", "blip2", "blip2_text_only"}
    blip = asked(ITEMS[0], "plain", prompt_by_model="m=blip2")
    assert blip.template == names["blip2"]


@pytest.mark.statement("E003-07")
def test_that_noise_has_the_images_size_and_the_items_seed() -> None:
    pictures = Pictures(dataset(ITEMS))
    shown = [parts(asked(one, "noise", pictures))[0][0].png for one in ITEMS]
    assert decode_png(shown[0]).size == pictures.image("a.png").size
    assert shown[0] != shown[1]
    assert shown[0] == parts(asked(ITEMS[0], "noise"))[0][0].png
    other = Pictures(dataset(ITEMS), seed=6)
    assert shown[0] != parts(asked(ITEMS[0], "noise", other))[0][0].png
    assert pictures.read == []


@pytest.mark.statement("E003-06")
def test_that_a_corrupted_image_is_sent_as_corrupted() -> None:
    pictures = Pictures(dataset(ITEMS))
    images, _ = parts(asked(ITEMS[0], "jpeg-3"))
    wanted = corrupt(pictures.raster("a.png"), Corruption.JPEG, 3, 5)
    assert images[0].png == encode_png(wanted)
    narrow, _ = parts(asked(ITEMS[0], "motion-5", blur_table="96"))
    wide, _ = parts(asked(ITEMS[0], "motion-5"))
    assert narrow[0].png != wide[0].png


@pytest.mark.statement("E003-09")
def test_that_a_mismatched_question_keeps_its_options_and_has_anothers_words() -> None:
    images, text = parts(asked(ITEMS[0], "mismatch"))
    assert images == []
    assert "What about PubMed-test_tiny-2?" in text
    assert "(A) text 0\n" in text


def test_that_one_question_is_all_and_its_reply_is_read_and_scored() -> None:
    first = turn(ITEMS[1], "plain")
    step = STUDY.next_step(first, params())
    assert step == Step("answer")
    answered = Turn(first.trial, first.item, (StepReply(step, ModelReply("(B)")),))
    assert STUDY.next_step(answered, params()) is None
    answer = STUDY.parse(answered, params())
    score = STUDY.score(answered, answer, params())
    assert (score.answer, score.number("official")) == ("B", 1.0)
    assert STUDY.roles(params()) == {}
    assert STUDY.notices(params()) == ()


def test_that_the_longest_question_has_the_longest_words_and_every_image() -> None:
    (longest,) = STUDY.longest(dataset(ITEMS), params())
    assert len(longest.images) == 2
    assert "What about" in longest.text
    (empty,) = STUDY.longest(dataset(()), params())
    assert (empty.text, empty.images) == ("", ())
