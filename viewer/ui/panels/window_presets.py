"""Windows on the keys 0 to 9: the whole range, the file's own, and those of CT."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from viewer.domain.image import PixelImage, Window

FULL_RANGE, FILES_FIRST, FILES_NEXT = 0, 1, 2
_HOUNSFIELD: Final = "HU"
_CT: Final[Mapping[int, Window]] = {
    3: Window(-500, 1500, explanation="Lung"),
    4: Window(350, 2000, explanation="Bone"),
    5: Window(40, 400, explanation="Soft tissue"),
    6: Window(80, 400, explanation="Mediastinum"),
    7: Window(50, 320, explanation="Abdomen"),
    8: Window(35, 110, explanation="Brain"),
    9: Window(90, 150, explanation="Liver"),
}
"""Centre and width in Hounsfield units, as common viewers set them."""


@dataclass(frozen=True, slots=True)
class NoWindow:
    """A preset has no meaning for an image; the sentence says why."""

    sentence: str


def preset_window(
    number: int, image: PixelImage, shown: Window | None
) -> Window | NoWindow:
    """Return the window on a key.

    Parameters
    ----------
    number : int
        0 to 9.
    image : PixelImage
        The image it is for; a preset of CT needs Hounsfield units.
    shown : Window
        The window in use; the file's next one follows it.
    """
    if image.values.ndim == 3:
        return NoWindow("A colour image has no window.")
    if number == FULL_RANGE:
        return _full_range(image)
    if number in _CT:
        if image.units == _HOUNSFIELD:
            return _CT[number]
        name = _CT[number].explanation.lower()
        return NoWindow(f"The {name} window is for CT, in Hounsfield units.")
    if not image.windows:
        return NoWindow("The file names no window. Press 0 for the full range.")
    if number == FILES_FIRST or shown is None or shown not in image.windows:
        return image.windows[0]
    after = image.windows.index(shown) + 1
    return image.windows[after % len(image.windows)]


def _full_range(image: PixelImage) -> Window:
    values = image.values if image.padding is None else image.values[~image.padding]
    if not values.size:
        return _NO_RANGE
    low, high = float(values.min()), float(values.max())
    return Window((low + high + 1) / 2, max(1.0, high - low + 1), explanation="Full")


_NO_RANGE: Final = Window(0.5, 1.0, explanation="Full")
"""The window of an image without any measurement."""
