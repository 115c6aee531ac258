"""Windows by modality, and windows that start at zero.

Those of CT are in Hounsfield units. Radiographs and MR have no such scale, so theirs
are parts of the file's own window; those of PET and nuclear medicine start at zero.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from viewer.domain.image import PixelImage, VoiFunction, Window
from viewer.imaging.luts import default_window, is_inverted

FULL_RANGE, FILES_FIRST, FILES_NEXT = 0, 1, 2
"""The keys that every image has; those of its modality follow."""
FIRST_KEY: Final = 3
COUNTED: Final = frozenset({"NM", "PT"})
"""Modalities whose windows start at zero (IHE BIR 5.4)."""
_RESCALE_IGNORED: Final = frozenset({"MR", "PT", "XA", "RF"})
"""Modalities whose windows ignore slope and intercept in IHE BIR 5.4."""
_HOUNSFIELD: Final = "HU"
_RADIOGRAPHS: Final = frozenset({"CR", "DR", "DX", "IO", "MG", "PX", "RF", "RG", "XA"})
_SUV: Final = frozenset({"SUV", "G/ML", "GML"})
_CT: Final = (
    Window(-500, 1500, explanation="Lung"),
    Window(350, 2000, explanation="Bone"),
    Window(40, 400, explanation="Soft tissue"),
    Window(80, 400, explanation="Mediastinum"),
    Window(50, 320, explanation="Abdomen"),
    Window(35, 110, explanation="Brain"),
    Window(90, 150, explanation="Liver"),
)
"""Centre and width in Hounsfield units, as common viewers set them."""
_CONTRASTS: Final = (("High contrast", 0.0, 0.6), ("Low contrast", 0.0, 1.6))
"""Name, how far towards bright the centre moves, and width; in widths of the file's."""
_FILM: Final = (("Lung", -0.25, 0.5), ("Bone", 0.25, 0.5), *_CONTRASTS)
_TOPS: Final[Mapping[str, float]] = {
    "0 to maximum": 1.0, "0 to half": 0.5, "0 to a quarter": 0.25, "0 to a tenth": 0.1,
}  # fmt: skip
_SUV_TOPS: Final = (5, 10, 15, 20)


@dataclass(frozen=True, slots=True)
class NoWindow:
    """A preset does not apply to an image; the message says why."""

    sentence: str


def presets_of(image: PixelImage, modality: str) -> Sequence[Window]:
    """Return the presets of an image's modality, for the keys from 3 on.

    Each is named by its explanation; a colour image has none.
    """
    if image.values.ndim == 3:
        return ()
    if image.units == _HOUNSFIELD:
        return _CT
    if modality in COUNTED:
        return _from_zero(image)
    parts = _FILM if modality in _RADIOGRAPHS else _CONTRASTS
    first, sign = default_window(image), -1 if is_inverted(image) else 1
    return tuple(
        replace(
            first,
            center=first.center + sign * shift * first.width,
            width=max(1.0, first.width * width),
            explanation=name,
        )
        for name, shift, width in parts
    )


def file_windows(
    image: PixelImage, modality: str, *, of_stored: bool
) -> tuple[Window, ...]:
    """Return the file's windows, in modality units.

    ``of_stored`` takes those of MR, PET and XA for windows of stored values, as IHE BIR
    asks; PS3.3 C.11.2.1.2 has them apply after the modality LUT in every modality.
    """
    slope, intercept = image.rescale
    if not of_stored or modality not in _RESCALE_IGNORED:
        return image.windows
    return tuple(
        replace(
            window,
            center=window.center * slope + intercept,
            width=window.width * abs(slope),
        )
        for window in image.windows
    )


def preset_window(
    number: int,
    image: PixelImage,
    modality: str,
    shown: Window | None,
    *,
    of_stored: bool = False,
) -> Window | NoWindow:
    """Return the window on a key.

    Parameters
    ----------
    number : int
        0 to 9.
    image : PixelImage
        The image that it is for.
    modality : str
        The image's modality, such as CT.
    shown : Window
        The window in use; the file's next one follows it.
    of_stored : bool
        See :func:`file_windows`.
    """
    if image.values.ndim == 3:
        return NoWindow("A colour image has no window.")
    if number == FULL_RANGE:
        return _full_range(image)
    if number >= FIRST_KEY:
        known = presets_of(image, modality)
        if number < FIRST_KEY + len(known):
            return known[number - FIRST_KEY]
        return NoWindow(f"There is no window preset on key {number} for this image.")
    named = file_windows(image, modality, of_stored=of_stored)
    if not named:
        return NoWindow("The file names no window. Press 0 for the full range.")
    if number == FILES_FIRST or shown is None or shown not in named:
        return named[0]
    return named[(named.index(shown) + 1) % len(named)]


def at_zero(window: Window) -> Window:
    """Return a window whose lower limit is 0 and whose upper limit stays.

    A sigmoid has no limits, and a window below zero cannot start there: both stay.
    """
    high = window.center + window.width / 2
    if window.function is VoiFunction.SIGMOID or high <= 0:
        return window
    least = 1.0 if window.function is VoiFunction.LINEAR else 0.0
    high = max(high, least)
    return replace(window, center=high / 2, width=high)


def _from_zero(image: PixelImage) -> tuple[Window, ...]:
    if image.units.upper() in _SUV:
        return tuple(
            Window(top / 2, top, explanation=f"SUV 0 to {top}") for top in _SUV_TOPS
        )
    top = max(1.0, _range(image)[1])
    return tuple(
        Window(top * part / 2, max(1.0, top * part), explanation=name)
        for name, part in _TOPS.items()
    )


def _full_range(image: PixelImage) -> Window:
    low, high = _range(image)
    return Window((low + high + 1) / 2, max(1.0, high - low + 1), explanation="Full")


def _range(image: PixelImage) -> tuple[float, float]:
    """Return lowest and highest value without padding; 0 and 0 if there is none."""
    values = image.values if image.padding is None else image.values[~image.padding]
    return (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
