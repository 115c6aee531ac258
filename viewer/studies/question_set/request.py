"""The question of one trial: its images or their replacement, then its text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from viewer.domain.case import Dataset
from viewer.domain.exchange import ImagePart, Message, TextPart
from viewer.domain.image import Raster
from viewer.domain.interpretability import Choices
from viewer.domain.run import Step
from viewer.imaging.grid_overlay import GridStyle, draw_grid
from viewer.imaging.resample import squared
from viewer.studies.controls import noise_for
from viewer.studies.prompts import asked_with, fill, with_system
from viewer.studies.question_set.arms import option_order, other_images, shows_image
from viewer.studies.question_set.params import Arm, Params
from viewer.studies.question_set.plan import usable_questions
from viewer.studies.question_set.questions import Asked, asked_of
from viewer.studies.question_set.templates import JUDGE, PROMPTS, SYSTEM
from viewer.studies.question_set.wording import Wording, grid_of, question_text
from viewer.studies.steps import Question, Sources, Turn

JUDGING = Step(JUDGE, JUDGE)


def question(turn: Turn, sources: Sources, params: Params) -> Question:
    """Return a fresh message with what a condition shows of an item."""
    asked, condition = asked_of(turn.item), turn.trial.condition
    arm, prompts = Arm(condition.name), params.prompts
    order, words = option_order(asked, condition), Wording(prompts, sources.place_words)
    open_text, system = words.template(asked, arm), PROMPTS.text(SYSTEM, prompts)
    text = TextPart(question_text(asked, order, open_text))
    pictures = tuple(_pictures(asked, arm, sources, params))
    shown = tuple(asked.options[i] for i in order)
    told = "" if arm is Arm.OPTIONS_ONLY else asked.question
    return Question(
        messages=asked_with(system, (*pictures, text)),
        prompt=words.prompt_name(asked, arm),
        template=with_system(system, open_text),
        choices=Choices(told, shown) if shown else None,
    )


def judging(turn: Turn, given: str, params: Params) -> Question:
    """Return the question whether an answer means the right one."""
    asked, words = asked_of(turn.item), PROMPTS.text(JUDGE, params.prompts)
    right = str(turn.item.reference.get("text", ""))
    values = {"question": asked.question, "right": right, "given": given}
    message = Message("user", (TextPart(fill(words, values)),))
    return Question((message,), JUDGE, words)


def _pictures(
    asked: Asked, arm: Arm, sources: Sources, params: Params
) -> Iterator[ImagePart]:
    if not shows_image(arm):
        return
    for place, key in enumerate(shown(asked, arm, sources.dataset, sources.seed)):
        raster = _raster(asked, key, arm, sources, params)
        yield sources.picture(_gridded(asked, raster) if place == 0 else raster)


def shown(asked: Asked, arm: Arm, dataset: Dataset, seed: int) -> Sequence[str]:
    """Return the images that are shown: a question's own, or another patient's."""
    if arm is not Arm.OTHER_IMAGE:
        return asked.images
    return _donors(_Content(dataset.root_sha256, dataset), seed)[asked.key]


def _raster(
    asked: Asked, key: str, arm: Arm, sources: Sources, params: Params
) -> Raster:
    if arm is Arm.NOISE:
        mean, sd = params.noise_mean, params.noise_sd
        return noise_for(key, asked.key, sources, mean, sd)
    return squared(sources.raster(key))


def _gridded(asked: Asked, raster: Raster) -> Raster:
    grid = grid_of(asked)
    return raster if grid is None else draw_grid(raster, grid, GridStyle())


@dataclass(frozen=True)
class _Content:
    """A data set, hashed by its content, so that draws from it can be cached."""

    root_sha256: str
    dataset: Dataset = field(compare=False, repr=False)


@lru_cache(maxsize=2)
def _donors(content: _Content, seed: int) -> Mapping[str, Sequence[str]]:
    """Return each question's images of another patient."""
    usable = {one.key: one for one in usable_questions(content.dataset)}
    given = other_images(usable.values(), seed)
    return {key: usable[other].images for key, other in given.items() if other}
