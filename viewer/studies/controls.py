"""Controls used by several studies: no image, noise, or another patient's image.

A study that is ``Controlled`` says which of its trials are asked under them as well;
what is sent instead of their images is the same for all.
"""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from viewer.domain.case import Dataset
from viewer.domain.conditions import under_control
from viewer.domain.controls import CONTROL_WORDS, OF_IMAGES, Control
from viewer.domain.exchange import Facts, TextPart
from viewer.domain.image import Raster
from viewer.domain.item import Item, item_of
from viewer.domain.run import Condition, Trial
from viewer.domain.study_words import StudyWords
from viewer.imaging.noise import gaussian_noise
from viewer.imaging.resample import shrunk_size
from viewer.metrics.seeding import generator
from viewer.studies.exclusions import NO_OTHER_PATIENT
from viewer.studies.fields import Names, param
from viewer.studies.steps import Question, Sources

_MOST_DRAWN: Final = 100
"""Random orders tried; of different texts about every third is a derangement."""
NO_RASTER: Final = Raster(np.zeros((1, 1), dtype=np.uint8))
"""What stands for an image where none is sent."""
NOISE_MEAN, NOISE_SD = 127.5, 50.0
"""Of the noise in grey levels, before it is cut to 0 to 255 (Sun 2024, 4.2)."""
GUESS: Final = "There is no image with this question. Guess the answer."
"""The words before a question that is asked to be guessed."""


def controls_param(choices: Sequence[str] = OF_IMAGES) -> tuple[str, ...]:
    """Return the parameter ``controls`` of a study, none of which is the default."""
    return param(
        (),
        Names(tuple(choices), may_be_empty=True),
        "Also ask each question without its image (no_image), without it and asked to "
        "guess (guess), with noise instead (noise), or with another patient's image "
        f"(other_image){_OF_OPTIONS if len(choices) > len(OF_IMAGES) else ''}; departs "
        "from the paper.",
        "Image controls",
        tuple(CONTROL_WORDS[one] for one in choices),
    )


_OF_OPTIONS: Final = (
    ", with the options alone (options_only), or with its options in another order "
    "(shuffled_options)"
)


class Controlled(ABC):
    """Base class of studies whose questions can also be asked under controls.

    The parameter ``controls`` names the controls to ask under. ``scores`` is a numeric
    score that is compared as well, with its minimum and maximum; ``judged`` is False if
    no program can tell which answers are right.
    """

    words: StudyWords
    scores: tuple[str, float, float] | None = None
    judged: bool = True

    @abstractmethod
    def shown_under(self, trial: Trial, control: Control) -> Condition | None:
        """Return a trial's condition under a control, None if it is not asked."""

    def image_kinds(self, dataset: Dataset) -> Mapping[str, str]:
        """Return the kind of each image; a swapped image has the same kind."""
        return {image.key: image.view.value for image in dataset.images}

    def guess_words(self, prompt: str) -> str:  # noqa: ARG002 - one language
        """Return the request to guess that precedes a prompt, "" for other roles."""
        return GUESS

    def chance(self, condition: str, gold: Mapping[str, Any]) -> float | None:  # noqa: ARG002 - of no interest here
        """Return the accuracy of guessing, None if it follows from the options."""
        return None


def with_controls(
    trials: Sequence[Trial],
    study: Controlled,
    dataset: Dataset,
    controls: Sequence[str],
    seed: int,
) -> Iterator[Trial]:
    """Yield each trial, and after it the same under every control that is wanted."""
    wanted = [control for control in Control if control in controls]
    given = other_images(study, dataset, seed) if wanted else {}
    items = {item.key: item for item in dataset.items}
    for trial in trials:
        yield trial
        for control in wanted:
            shown = study.shown_under(trial, control)
            if shown is not None:
                lonely = control is Control.OTHER_IMAGE and not all(
                    given.get(image) for image in _images(trial, study, items)
                )
                yield replace(
                    trial,
                    condition=under_control(trial.condition, control, shown),
                    exclusion=trial.exclusion or (NO_OTHER_PATIENT if lonely else ""),
                )


def _images(
    trial: Trial, study: Controlled, items: Mapping[str, Item]
) -> tuple[str, ...]:
    """Return the images that a trial may show."""
    return (trial.image,) if study.words.places else item_of(items, trial.item).images


def other_images(study: Controlled, dataset: Dataset, seed: int) -> Mapping[str, str]:
    """Return for each image another patient's of the same kind; each is given once.

    "" where no other patient has one.
    """
    patients = {image.key: image.patient for image in dataset.images}
    patients |= {key: item.patient for item in dataset.items for key in item.images}
    kinds, alike = study.image_kinds(dataset), defaultdict[str, dict[str, str]](dict)
    for image in dataset.images:
        if image.key in kinds and "*" not in image.defects:
            alike[kinds[image.key]][image.key] = patients[image.key]
    found: dict[str, str] = {}
    for kind, of in alike.items():
        found |= exchanged(of, generator(seed, "other patients' images", kind))
    return found


def without_images(question: Question, guess: str = "") -> Question:
    """Return a question without its images, and with words that ask to guess.

    Solved examples before it keep theirs.
    """
    *first, last = question.messages
    words = [part for part in last.parts if isinstance(part, TextPart)]
    asked = replace(question, facts=_unseen(question.facts))
    if guess:
        words[0] = TextPart(f"{guess}\n\n{words[0].text}")
        asked = replace(
            asked,
            prompt=guess_name(question.prompt),
            template=guessed(question.template, guess),
        )
    return replace(asked, messages=(*first, replace(last, parts=tuple(words))))


def guess_name(prompt: str) -> str:
    """Return what a prompt is called where it asks to guess."""
    return f"{prompt}_{Control.GUESS}"


def guessed(template: str, guess: str) -> str:
    """Return a template where it asks to guess."""
    return f"{guess}\n\n{template}"


def _unseen(facts: Facts | None) -> Facts | None:
    return facts and replace(facts, plain=NO_RASTER, plain_sha256="")


def noise_for(
    image: str, item: str, sources: Sources, mean: float, sd: float
) -> Raster:
    """Return Gaussian noise of an image's size, in grey levels, for one item."""
    size, seed = shrunk_size(sources.image(image).geometry, None), sources.seed
    return sources.made(
        ("noise", item, image),
        lambda: gaussian_noise(size, mean, sd, seed, item, image),
    )


def exchanged(texts: Mapping[str, str], rng: np.random.Generator) -> dict[str, str]:
    """Return for each key another key with a different text; each is used once.

    If more than half have the same text, those without a counterpart get "".
    """
    keys = list(texts)
    moved = _exchangeable([texts[key] for key in keys], rng)
    places = derangement([texts[keys[i]] for i in moved], rng)
    given = {keys[i]: keys[moved[j]] for i, j in zip(moved, places, strict=True)}
    return {key: given.get(key, "") for key in keys}


def _exchangeable(texts: Sequence[str], rng: np.random.Generator) -> list[int]:
    """Return the indices of texts, without the surplus of a majority text."""
    if not texts:
        return []
    commonest, count = Counter(texts).most_common(1)[0]
    alike = [i for i, text in enumerate(texts) if text == commonest]
    surplus = max(0, 2 * count - len(texts))
    # A text held by more than half cannot be given to others alone.
    dropped = {alike[i] for i in rng.permutation(count)[:surplus].tolist()}
    return [i for i in range(len(texts)) if i not in dropped]


def derangement(texts: Sequence[str], rng: np.random.Generator) -> Sequence[int]:
    """Return a random permutation that leaves no text at a place with the same text.

    Permutations are drawn until one qualifies, so that all are equally likely. With
    many identical texts none may turn up: then each place left with its own text swaps
    with a random place for which that helps. No text may make up more than half of
    all; then such a permutation always exists.
    """
    for _ in range(_MOST_DRAWN):
        order: list[int] = rng.permutation(len(texts)).tolist()
        if all(texts[i] != text for i, text in zip(order, texts, strict=True)):
            return order
    for place, text in enumerate(texts):
        if texts[order[place]] == text:
            fit = [
                other
                for other, own in enumerate(texts)
                if own != text and texts[order[other]] != text
            ]
            other = fit[int(rng.integers(len(fit)))]
            order[place], order[other] = order[other], order[place]
    return order
