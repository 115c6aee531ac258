"""Controls: a question asked without what should answer it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Control(StrEnum):
    """What a question is asked with in the place of its images or its options."""

    NO_IMAGE = "no_image"
    """No image, in the same words, as if there were one."""
    GUESS = "guess"
    """No image, and the words say so and ask for a guess."""
    NOISE = "noise"
    """Gaussian noise of the images' sizes."""
    OTHER_IMAGE = "other_image"
    """Images of other patients."""
    OPTIONS_ONLY = "options_only"
    """The options alone."""
    SHUFFLED_OPTIONS = "shuffled_options"
    """Its own images, and its options in another order."""


CONTROLS: Final = tuple(control.value for control in Control)
OF_IMAGES: Final = CONTROLS[:4]
"""Those that any question about an image can be asked under."""
HIDING: Final = (
    *(Control.NO_IMAGE.value, Control.GUESS.value),
    Control.OPTIONS_ONLY.value,
)
"""Those that send no image."""
CONTROL_WORDS: Final[Mapping[str, str]] = {
    Control.NO_IMAGE: "without the image",
    Control.GUESS: "without the image, asked to guess",
    Control.NOISE: "noise instead of the image",
    Control.OTHER_IMAGE: "another patient's image",
    Control.OPTIONS_ONLY: "options only",
    Control.SHUFFLED_OPTIONS: "options shuffled",
}
