"""Masks that a reader painted as files: DICOM Segmentations or pictures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from viewer.domain.case import ImageHeader
from viewer.domain.mark import Mark
from viewer.services.exporting.export_marks import made, numbered
from viewer.writers.files import write_atomically
from viewer.writers.mask_files import mask_picture, mask_segmentation

PICTURE: Final = ".png"
_INSTEAD: Final = "Save the masks as PNG files instead."


def export_masks(
    images: Sequence[tuple[ImageHeader, tuple[Mark, ...]]], path: Path
) -> tuple[Path, ...]:
    """Write the masks of images; return the files.

    A name that ends in .png gives a picture of each mask, any other a DICOM
    Segmentation of each image. The first file has the name of ``path``, each further
    one a number after it. Marks that are no masks are left out.

    Raises
    ------
    WrongUseError
        If a segmentation cannot refer to an image, or a file cannot be written.
    """
    masks = [(i, [m for m in marks if m.painted is not None]) for i, marks in images]
    if path.suffix.lower() == PICTURE:
        written = [
            mask_picture(mark.painted, image.size)
            for image, marks in masks
            for mark in marks
            if mark.painted is not None
        ]
    else:
        written = made(
            lambda: [mask_segmentation(i.ref, marks) for i, marks in masks if marks],
            _INSTEAD,
        )
    names = numbered(path, len(written))
    for name, data in zip(names, written, strict=True):
        write_atomically(name, data)
    return names
