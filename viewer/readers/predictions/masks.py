"""Predictions as a folder of mask pictures, ``<image>.<Finding>.png``.

`rasters.mask_rule` decides which pixels belong to a mask; a picture that marks none is
a prediction without a location.
"""

from pathlib import Path

from viewer.domain.errors import UnreadableInputError
from viewer.domain.prediction import Coordinates, Prediction
from viewer.domain.reference import Mask
from viewer.readers.datasets.files import files_below
from viewer.readers.datasets.findings import display_name
from viewer.readers.masks import load_mask


def mask_pictures(folder: Path) -> tuple[Path, ...]:
    """Return the PNG files below a folder."""
    return tuple(p for p in files_below(folder) if p.suffix.lower() == ".png")


def read_masks(folder: Path) -> tuple[Prediction, ...]:
    """Return the masks below a folder.

    Raises
    ------
    UnreadableInputError
        If a picture's name does not give image and finding, or it cannot be read.
    """
    return tuple(map(_prediction, mask_pictures(folder)))


def _prediction(path: Path) -> Prediction:
    image, _, finding = path.stem.rpartition(".")
    if not image or not finding:
        raise UnreadableInputError(
            f"The name '{path.name}' does not give an image and a finding.",
            "Name each mask <image>.<Finding>.png.",
        )
    mask = Mask.of_array(load_mask(path))
    place = None if mask.is_empty else mask
    return Prediction(
        image, display_name(finding), place, coordinates=Coordinates.NATIVE
    )
