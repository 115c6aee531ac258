"""Reference masks kept as files of their own."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.readers.isolation import isolated
from viewer.readers.pixels import load_pixels


@isolated
def load_mask(path: Path) -> npt.NDArray[np.bool_]:
    """Return a (rows, columns) mask, True where the file is not zero.

    Any image file of one frame: PNG as written by annotation tools, a one-slice volume,
    a DICOM image or segmentation. In colour a pixel counts if any channel is not zero.

    Raises
    ------
    UnreadableInputError
        If the file cannot be read or holds values that are not numbers.
    """
    values = load_pixels(ImageRef(path)).values
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise UnreadableInputError(
            f"The mask {path.name} holds values that are not numbers.",
            "Write it with 0 outside the finding and 1 or 255 inside.",
        )
    marked = np.asarray(values, dtype=bool)
    return np.any(marked, axis=2) if marked.ndim == 3 else marked
