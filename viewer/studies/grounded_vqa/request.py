"""The questions of one trial, step by step."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import BoxPrompt, ImagePart, Message, TextPart
from viewer.domain.image import Raster
from viewer.domain.interpretability import Highlight
from viewer.domain.reference import Mask
from viewer.domain.run import Step
from viewer.imaging.region_prompt import crop_and_zoom, draw_contour
from viewer.imaging.resample import shrunk, shrunk_mask, squared
from viewer.studies.grounded_vqa.arms import (
    CONTOUR,
    CROP,
    IMAGE_ARMS,
    LOBA,
    LOCATED,
    PLAIN,
    Change,
    change_of,
    is_perturbed,
    perturbation_of,
    shows_region,
    way_of,
)
from viewer.studies.grounded_vqa.attending import wishes
from viewer.studies.grounded_vqa.items import question_of
from viewer.studies.grounded_vqa.localizing import (
    EDITED,
    OUTLINE,
    box_in_words,
    located_box,
    locates,
    region_of_turn,
)
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.questions import Question, closed_text, open_text
from viewer.studies.grounded_vqa.templates import (
    LABELS,
    LOCATE,
    PROMPTS,
    SYSTEM,
    YES_NO,
    name_of,
    templates,
)
from viewer.studies.grounded_vqa.visual import Arm, edited, region_of
from viewer.studies.prompts import OwnPrompts, asked_with, fill, with_system
from viewer.studies.steps import Question as Asked
from viewer.studies.steps import Sources, Turn

EXTRACT: Final = "extract"
EXTRACT_BASE: Final = "extract base"
BASE: Final = "base"
ANSWER: Final = "answer"


def question(turn: Turn, step: Step, sources: Sources, params: Params) -> Asked:
    """Return the question of a step about the trial's item."""
    asked = readable(turn, params)
    if step.name in {EXTRACT, EXTRACT_BASE}:
        return _extraction(turn, step, asked, params)
    suffix = EDITED if step.name.endswith(EDITED) or step.name == ANSWER else ""
    view = _view(turn, asked, sources, params, suffix)
    if step.name == LOCATE + suffix:
        return _location(view)
    if step.name == OUTLINE + suffix:
        return _outline(turn, view)
    if shows_region(turn.trial.condition.name):
        return _with_region(turn, view)
    asked_plainly = _question(view, (_sent(view),))
    if params.plain_attention and turn.trial.condition.name == PLAIN:
        return replace(asked_plainly, measures=wishes(sources))
    return asked_plainly


@dataclass(frozen=True)
class _View:
    """What a step shows and asks: an image and a text, either of them perhaps changed.

    ``suffix`` is EDITED if a change is possible, "" for the question itself.
    """

    asked: Question
    raster: Raster
    change: Change
    sources: Sources
    params: Params
    suffix: str

    @property
    def anatomy(self) -> str:
        """The anatomy that is asked about after a change."""
        return self.change.pair[0] if self.change.pair else self.asked.anatomy


def _view(
    turn: Turn, asked: Question, sources: Sources, params: Params, suffix: str
) -> _View:
    condition = turn.trial.condition.name
    raster, change = sources.raster(asked.image), Change()
    if suffix and is_perturbed(condition):
        change = change_of(turn.trial.item, condition)
    if change.donor:
        arm = IMAGE_ARMS[perturbation_of(condition)]
        raster = edited_raster(asked, change.donor, arm, sources, params)
    # without a perturbation a region belongs to the question itself
    own = suffix if is_perturbed(condition) else ""
    return _View(asked, raster, change, sources, params, own)


def readable(turn: Turn, params: Params) -> Question:
    """Return the question of a trial's item; an item that is none is never asked."""
    found = question_of(turn.item, params.findings)
    if isinstance(found, Question):
        return found
    raise WrongUseError(
        f"The item {turn.item.key} is not a question of this study: {found.reason}.",
        "Remove it from the data set.",
    )


def words_of(asked: Question, change: Change, prompts: OwnPrompts) -> str:
    """Return the words of a question after a change of its text.

    A question that is not changed keeps the data set's words, unless a person has a
    text for its template.
    """
    number = _template_of(asked, change)
    if change.pair or change.template is not None:
        return closed_text(*(change.pair or asked.pair), number, prompts)
    if name_of(_kind(asked), number) not in prompts:
        return asked.text
    if asked.closed:
        return closed_text(*asked.pair, number, prompts)
    return open_text(asked.anatomy, number, prompts)


def _template_of(asked: Question, change: Change) -> int:
    return asked.template if change.template is None else change.template


def _kind(asked: Question) -> str:
    return "closed" if asked.closed else "open"


def edited_raster(
    asked: Question, donor: str, arm: Arm, sources: Sources, params: Params
) -> Raster:
    """Return a question's image with a donor's region in it, with square pixels."""
    image, other = sources.image(asked.image), sources.image(donor)
    target = region_of(image, sources.raster(asked.image), asked.anatomy)
    given = region_of(other, sources.raster(donor), asked.anatomy)
    return edited(arm, target, given, params).raster


def prompts(texts: OwnPrompts) -> tuple[tuple[str, str], ...]:
    """Return every prompt by name, with its placeholders."""
    asked = [
        name_of(kind, i)
        for kind in ("closed", "open")
        for i in range(len(templates(kind)))
    ]
    return (
        *((name, _under_system(name, texts)) for name in (*asked, LOCATE)),
        *((name, PROMPTS.text(name, texts)) for name in (LABELS, YES_NO)),
    )


def _under_system(name: str, prompts: OwnPrompts) -> str:
    return with_system(PROMPTS.text(SYSTEM, prompts), PROMPTS.text(name, prompts))


def _question(
    view: _View, pictures: tuple[ImagePart, ...], highlight: Highlight | None = None
) -> Asked:
    asked, change, prompts = view.asked, view.change, view.params.prompts
    name = name_of(_kind(asked), _template_of(asked, change))
    words = TextPart(words_of(asked, change, prompts))
    messages = asked_with(PROMPTS.text(SYSTEM, prompts), (*pictures, words))
    return Asked(messages, name, _under_system(name, prompts), highlight=highlight)


def _with_region(turn: Turn, view: _View) -> Asked:
    """Return the question with the region marked (E002-14, E002-15)."""
    params, picture = view.params, view.sources.picture
    way, mask = way_of(turn.trial.condition.name), _region(turn, view)
    plain = shrunk(view.raster, params.longest_side)
    small = shrunk_mask(mask, plain.size)
    if way == CONTOUR:
        return _question(view, (picture(draw_contour(plain, small)),))
    if way == CROP:
        whole = squared(view.raster)
        zoomed = crop_and_zoom(whole, shrunk_mask(mask, whole.size))
        crop = shrunk(zoomed, params.longest_side)
        return _question(view, (picture(plain), picture(crop)))
    if way == LOCATED:
        return _after_location(turn, view, picture(plain), mask)
    highlight = Highlight(
        Mask.of_array(small),
        weight=float(way.removeprefix(LOBA)),
        form=params.weight_form,
        contrast=params.contrast,
        space=params.contrast_space,
    )
    lit = _question(view, (picture(plain),), highlight)
    return replace(lit, measures=wishes(view.sources))


def _after_location(
    turn: Turn, view: _View, picture: ImagePart, mask: npt.NDArray[np.bool_]
) -> Asked:
    """Return the question after the region was named, as LobA's template has it.

    Without a first pass the box around the reference's mask stands for its reply.
    """
    asked, first = _question(view, ()), turn.reply_to(LOCATE + view.suffix)
    told = first.text if first else box_in_words(mask)
    *before, last = asked.messages
    where = fill(PROMPTS.text(LOCATE, view.params.prompts), {"anatomy": view.anatomy})
    turns = (
        Message("user", (picture, TextPart(where))),
        Message("assistant", (TextPart(told),)),
    )
    return replace(asked, messages=(*before, *turns, last))


def _region(turn: Turn, view: _View) -> npt.NDArray[np.bool_]:
    image = view.sources.image(view.asked.image)
    if not locates(view.params):
        own = view.sources.raster(view.asked.image)
        return region_of(image, own, view.anatomy).mask
    region = region_of_turn(turn, image.size, view.suffix)
    if region is None:
        raise WrongUseError(
            f"No region of {view.asked.image} was located that could be pointed out.",
            "Ask again with a model that names boxes, or use the data set's masks.",
        )
    return region


def _location(view: _View) -> Asked:
    prompts = view.params.prompts
    text = TextPart(fill(PROMPTS.text(LOCATE, prompts), {"anatomy": view.anatomy}))
    messages = asked_with(PROMPTS.text(SYSTEM, prompts), (_sent(view), text))
    return Asked(messages, LOCATE, _under_system(LOCATE, prompts))


def _outline(turn: Turn, view: _View) -> Asked:
    first = turn.reply_to(LOCATE + view.suffix)
    box = located_box(first.text, view.raster.size) if first else None
    boxes = (box,) if box else ()
    return Asked((), OUTLINE, "", boxes=BoxPrompt(view.raster, boxes))


def _extraction(turn: Turn, step: Step, asked: Question, params: Params) -> Asked:
    name, prompts = YES_NO if asked.closed else LABELS, params.prompts
    of_base = step.name == EXTRACT_BASE
    template = PROMPTS.text(name, prompts)
    answer = turn.reply_to(BASE if of_base else ANSWER)
    change = change_of(turn.trial.item, turn.trial.condition.name)
    values = {
        "question": words_of(asked, Change() if of_base else change, prompts),
        "labels": ", ".join(params.findings),
        "reply": answer.text if answer else "",
    }
    message = Message("user", (TextPart(fill(template, values)),))
    return Asked((message,), name, template)


def _sent(view: _View) -> ImagePart:
    return view.sources.picture(shrunk(view.raster, view.params.longest_side))
