"""Masks in files as marks of the images shown."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from viewer.domain.case import ImageHeader, ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.mark import Mark, MarkKind
from viewer.domain.reference import Mask, Patch
from viewer.readers.masks import read_mask
from viewer.readers.pixels import FileKind, file_kind
from viewer.readers.predictions.seg import segments_on
from viewer.writers.mask_files import UNNAMED


def masks_in(
    path: Path, images: Sequence[ImageHeader], active: ImageHeader
) -> tuple[tuple[ImageRef, Mark], ...]:
    """Return the masks in a file, each with its image.

    Parameters
    ----------
    path : Path
        A DICOM Segmentation, or a picture: a mask of the active image, of its size.
    images : sequence of ImageHeader
        The images that a segmentation may be about.
    active : ImageHeader
        The image on the screen.

    Raises
    ------
    UnreadableInputError
        If the file cannot be read, marks nothing, is about none of the images, or
        differs from its image in size.
    """
    if file_kind(path) is FileKind.RASTER:
        return ((active.ref, _of_picture(path, active.size)),)
    refs = {(image.ref.path, image.ref.frame): image.ref for image in images}
    found = segments_on(path, {image.ref.path for image in images})
    masks = tuple(
        (refs[file, one.frame], _mark(one.place.array(), path, _label(one.label)))
        for file, one in found
        if (file, one.frame) in refs and isinstance(one.place, Mask)
    )
    if not masks:
        raise UnreadableInputError(
            f"{path.name} holds no mask of the images on the screen.",
            "Open the series that it was derived from first.",
        )
    return masks


def _of_picture(path: Path, size: SizePx) -> Mark:
    bits = read_mask(path).marked
    if bits.shape != (size.rows, size.columns):
        raise UnreadableInputError(
            f"{path.name} has {bits.shape[1]} × {bits.shape[0]} pixels, the image "
            f"{size.words}.",
            "Choose a mask of the size of the image shown.",
        )
    return _mark(bits, path, "")


def _mark(bits: npt.NDArray[np.bool_], path: Path, text: str) -> Mark:
    painted = Patch.of_array(bits)
    if painted is None:
        raise UnreadableInputError(
            f"{path.name} marks nothing.", "Choose a mask with at least one pixel."
        )
    return Mark(MarkKind.MASK, (), text, painted)


def _label(written: str) -> str:
    return "" if written == UNNAMED else written
