"""Thumbnails of masks on their images, to check before a data set is registered."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from viewer.domain.case import Dataset, ImageRef, Notice
from viewer.domain.image import Raster
from viewer.domain.reference import Mask


@dataclass(frozen=True, slots=True)
class MaskShown:
    """A mask of an image; ``odd`` are doubts about it in sentences, if any."""

    image: str
    finding: str
    ref: ImageRef
    mask: Mask
    odd: tuple[str, ...]


def masks_to_look_at(dataset: Dataset, most: int) -> tuple[MaskShown, ...]:
    """Return some masks of a data set, those of images with doubts first."""
    notices = _mask_notices(dataset.notices)
    images = sorted(dataset.images, key=lambda image: image.key not in notices)
    found: list[MaskShown] = []
    for image in images:
        for finding, mask in image.masks.items():
            if len(found) == most:
                return tuple(found)
            odd = tuple(notices.get(image.key, ()))
            found.append(MaskShown(image.key, finding, image.ref, mask, odd))
    return tuple(found)


def _mask_notices(notices: Sequence[Notice]) -> Mapping[str, Sequence[str]]:
    """Return the notices on images whose masks somebody should check."""
    from viewer.readers.rasters.mask_rule import CAUTIONS

    told: dict[str, list[str]] = defaultdict(list)
    for notice in notices:
        if notice.kind in CAUTIONS:
            told[notice.subject].append(notice.text)
    return told


def mask_picture(shown: MaskShown, side: int) -> Raster:
    """Return an image as a square of RGB, a mask outlined and tinted.

    An image that cannot be read raises UnreadableInputError.
    """
    from viewer.imaging.answer_overlay import REFERENCE, draw_regions
    from viewer.imaging.luts import to_raster
    from viewer.imaging.resample import FitMode, fit, fit_mask
    from viewer.readers.pixels import load_pixels

    raster = to_raster(load_pixels(shown.ref))
    small = fit(raster, side, FitMode.LETTERBOX)
    mask = fit_mask(shown.mask.array(), raster.pixel_aspect, side, FitMode.LETTERBOX)
    pixels = draw_regions(small, [mask], REFERENCE).pixels
    pixels[mask] = pixels[mask] // 4 * 3 + np.array(REFERENCE, dtype=np.uint8) // 4
    return Raster(pixels)
