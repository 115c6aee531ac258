"""The geometry of an image without decoding it."""

from viewer.domain.case import ImageRef
from viewer.domain.image_geometry import ImageGeometry
from viewer.readers.headers import read_file_header


def load_geometry(ref: ImageRef) -> ImageGeometry:
    """Return the geometry of the image that ``load_pixels`` returns.

    Raises
    ------
    UnreadableInputError
        If the file is no image.
    """
    return read_file_header(ref.path).geometry(ref.frame)
