"""The settings of a run of a question set; every choice is a recorded parameter."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from viewer.studies.fields import Decimal, MaybeText, Names, param, read_preset
from viewer.studies.prompts import (
    BUILT_IN,
    NO_VARIANTS,
    OWN_PROMPTS,
    PROMPT_VARIANTS,
    OwnPrompts,
    PromptVariants,
    Variants,
)
from viewer.studies.question_set.templates import PROMPTS


class Arm(StrEnum):
    """What a question is asked with."""

    IMAGE = "image"
    """Its own image or images."""
    NO_IMAGE = "no_image"
    """None, in the same words, as if there were one."""
    GUESS = "guess"
    """None, and the words say so and ask for a guess."""
    NOISE = "noise"
    """Gaussian noise of the images' sizes."""
    OTHER_IMAGE = "other_image"
    """The images of another patient's question."""
    OPTIONS_ONLY = "options_only"
    """The options alone, without question and image."""
    SHUFFLED_OPTIONS = "shuffled_options"
    """Its own images, and its options in another order."""


ARMS: Final = tuple(arm.value for arm in Arm)


@dataclass(frozen=True, slots=True)
class Params:
    """The study's parameters; the data set's own description is not part of them."""

    arms: tuple[str, ...] = param(
        ARMS,
        Names(ARMS),
        "What each question is asked with: image shows it; no_image leaves it out and "
        "does not say so; guess leaves it out, says so and asks for a guess; noise and "
        "other_image show noise or another patient's image instead; options_only "
        "leaves out question and image; shuffled_options changes the options' order.",
        "Asked with",
        (
            *("the image", "no image", "no image, guessing", "noise as image"),
            *("another's image", "options only", "shuffled options"),
        ),
    )
    noise_mean: float = param(
        127.5, Decimal(0, 255), "Mean of the noise, in grey levels.", "Noise, mean"
    )
    noise_sd: float = param(
        50.0,
        Decimal(0, 255),
        "Standard deviation of the noise, in grey levels, before it is cut to 0 to "
        "255.",
        "Noise, SD",
    )
    judge: str = param(
        "",
        MaybeText(),
        "Model that judges answers in words, where the data set wants them judged.",
    )
    prompts: OwnPrompts = param(BUILT_IN, PROMPTS, OWN_PROMPTS, "Custom prompts")
    prompt_variants: PromptVariants = param(
        NO_VARIANTS, Variants(PROMPTS), PROMPT_VARIANTS, "Prompt variants"
    )


PRESETS: Mapping[str, Mapping[str, object]] = {
    "controls": {},
    "image_only": {"arms": [Arm.IMAGE.value]},
}
"""What each preset pins beyond the defaults."""
PRESET_TITLES: Mapping[str, str] = {
    "controls": "With every control",
    "image_only": "With the image only",
}
"""What people call each preset."""


def read_params(preset: str, overrides: Mapping[str, object]) -> Params:
    """Return a preset's parameters with some replaced; a bad one raises."""
    return read_preset(Params, "question set", PRESETS, preset, overrides)
