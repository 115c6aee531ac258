"""PNG bytes that depend on the pixels alone: no metadata, fixed settings."""

import io

import numpy as np
from PIL import Image, UnidentifiedImageError

from viewer.domain.errors import UnreadableInputError
from viewer.domain.image import Raster


def encode_png(raster: Raster) -> bytes:
    """Return ``raster`` as an 8-bit grey or RGB PNG without ancillary chunks."""
    stream = io.BytesIO()
    Image.fromarray(raster.pixels).save(stream, "PNG", compress_level=6)
    return stream.getvalue()


def decode_png(data: bytes) -> Raster:
    """Return the pixels of an 8-bit grey or RGB PNG; anything else raises."""
    try:
        with Image.open(io.BytesIO(data), formats=("PNG",)) as image:
            kept = image if image.mode in {"L", "RGB"} else image.convert("RGB")
            return Raster(np.array(kept, dtype=np.uint8))
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise UnreadableInputError(
            "A PNG image cannot be decoded.", "Send or store it again."
        ) from error
