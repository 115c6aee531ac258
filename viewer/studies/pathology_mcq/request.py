"""The question of one trial (E003-04, -06, -07, -09)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from viewer.domain.case import Dataset
from viewer.domain.exchange import ImagePart, TextPart
from viewer.domain.image import Raster
from viewer.domain.interpretability import Choices
from viewer.imaging.corruptions import Corruption, corrupt
from viewer.imaging.resample import squared
from viewer.studies.controls import noise_for
from viewer.studies.pathology_mcq.arms import (
    arm_of,
    corruption_of,
    donors,
    shows_image,
)
from viewer.studies.pathology_mcq.params import Arm, Family, LineBreaks, Params
from viewer.studies.pathology_mcq.plan import questions_asked
from viewer.studies.pathology_mcq.questions import Asked, asked_of
from viewer.studies.pathology_mcq.templates import PROMPTS, SYSTEM, TEXT_ONLY
from viewer.studies.pathology_mcq.wording import question_text, template
from viewer.studies.prompts import asked_with, with_system
from viewer.studies.steps import Question, Sources, Turn


def question(turn: Turn, sources: Sources, params: Params) -> Question:
    """Return a new message: the images or their replacement, then the question."""
    mcq, arm = asked_of(turn.item), arm_of(turn.trial.condition.name)
    words = mcq.question
    if arm is Arm.MISMATCH:
        words = _exchanged(mcq, sources, params).question
    family = params.family_of(turn.trial.model)
    prompts, breaks = params.prompts, params.line_breaks
    open_text = template(family, breaks, prompts, image=shows_image(arm))
    system = PROMPTS.text(SYSTEM, prompts)
    text = TextPart(question_text(words, mcq.options, open_text))
    pictures = tuple(_pictures(turn, mcq, arm, sources, params))
    return Question(
        messages=asked_with(system, (*pictures, text)),
        prompt=prompt_name(family, breaks, image=shows_image(arm)),
        template=with_system(system, open_text),
        choices=Choices(words, mcq.options),
    )


def prompts(params: Params) -> tuple[tuple[str, str], ...]:
    """Return each family's name and template, with an image and without."""
    prompts, breaks = params.prompts, params.line_breaks
    return tuple(
        (
            prompt_name(family, breaks, image=image),
            with_system(
                PROMPTS.text(SYSTEM, prompts),
                template(family, breaks, prompts, image=image),
            ),
        )
        for family in params.families
        for image in (True, False)
    )


def prompt_name(family: Family, breaks: LineBreaks, *, image: bool) -> str:
    """Return the name of a prompt, such as ``llava_folded_text_only``."""
    parts = (
        family.value,
        *(("folded",) if breaks is LineBreaks.FOLDED else ()),
        *(() if image else (TEXT_ONLY,)),
    )
    return "_".join(parts)


def _pictures(
    turn: Turn, mcq: Asked, arm: Arm, sources: Sources, params: Params
) -> Iterator[ImagePart]:
    if not shows_image(arm):
        return
    for key in mcq.images:
        yield sources.picture(_shown(turn, key, arm, sources, params))


def _shown(turn: Turn, key: str, arm: Arm, sources: Sources, params: Params) -> Raster:
    """Return what is sent for an image: itself, corrupted, or noise of its size."""
    if arm is Arm.NOISE:
        mean, sd = params.noise_mean, params.noise_sd
        return noise_for(key, turn.item.key, sources, mean, sd)
    raster = squared(sources.raster(key))
    if arm is Arm.IMAGE:
        return raster
    name, level = corruption_of(turn.trial.condition.name)
    kind, side, seed = Corruption(name), int(params.blur_table), sources.seed
    return sources.made(
        (name, level, key), lambda: corrupt(raster, kind, level, seed, side)
    )


@dataclass(frozen=True)
class _Content:
    """A data set, hashed by its content, so that draws from it can be cached."""

    root_sha256: str
    dataset: Dataset = field(compare=False, repr=False)


def _exchanged(asked: Asked, sources: Sources, params: Params) -> Asked:
    """Return the item whose question stands over this one's options."""
    content = _Content(sources.dataset.root_sha256, sources.dataset)
    return _donors(content, params, sources.seed)[asked.key]


@lru_cache(maxsize=2)
def _donors(content: _Content, params: Params, seed: int) -> Mapping[str, Asked]:
    asked = {one.key: one for one in questions_asked(content.dataset, params)}
    found = donors(asked.values(), params, seed)
    return {key: asked[donor] for key, donor in found.items() if donor}
