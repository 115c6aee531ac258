"""Reference masks in separate files."""

from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.readers.files.isolation import isolated
from viewer.readers.pixels import FileKind, file_kind, load_pixels
from viewer.readers.rasters.mask_rule import (
    Caution,
    ReadMask,
    binarized,
    mask_of_values,
)

_JPEG: Final = b"\xff\xd8\xff"
_ALTERED: Final = Caution(
    "mask_jpeg", "is a JPEG, which alters values and edges; write it as PNG"
)


@isolated
def read_mask(path: Path) -> ReadMask:
    """Return the mask in a file, upright, and doubts about it.

    Any single-frame image file works: PNG as written by annotation tools, a one-slice
    volume, a DICOM image or segmentation. `rasters.mask_rule` decides which pixels are
    marked.

    Raises
    ------
    UnreadableInputError
        If the file cannot be read, has several pages, or does not show which of its
        values are the finding.
    """
    if file_kind(path) is not FileKind.RASTER:
        return mask_of_values(load_pixels(ImageRef(path)).values, path)
    from viewer.readers.rasters.raster_files import raster_geometries, raster_page

    _, pages = raster_geometries(path)
    if pages > 1:
        raise UnreadableInputError(
            f"The mask {path.name} has {pages} pages.", "Keep one mask in each file."
        )
    mask = binarized(raster_page(path, 0), path)
    with path.open("rb") as stream:
        is_jpeg = stream.read(len(_JPEG)) == _JPEG
    return ReadMask(mask.marked, (*mask.cautions, _ALTERED)) if is_jpeg else mask


def load_mask(path: Path) -> npt.NDArray[np.bool_]:
    """Return a (rows, columns) bool mask, True where a file marks the finding."""
    return read_mask(path).marked
