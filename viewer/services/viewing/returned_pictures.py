"""Pictures that a model returned, decoded like any file from outside.

They are read by the same limited readers as images, from a temporary file, and shown as
bare PNG: whatever else their files contain stays in the stored reply.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viewer.domain.case import ImageRef
from viewer.domain.errors import OverreadError
from viewer.domain.exchange import ModelReply
from viewer.domain.image import Raster
from viewer.imaging.luts import to_raster
from viewer.imaging.png import encode_png
from viewer.readers.pixels import FileKind, file_kind, load_pixels

_NAME: Final = "picture"
_NOT_READ: Final = (
    "A picture in the reply cannot be decoded; the reply keeps its bytes."
)


@dataclass(frozen=True)
class Returned:
    """The pictures of a reply as PNG, and a sentence for each that cannot be shown."""

    pngs: tuple[bytes, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[tuple[str, str], ...]:
        """What to say beside the text of the reply."""
        return tuple(("not shown", sentence) for sentence in self.missing)


NOTHING_RETURNED: Final = Returned()


def returned_pictures(reply: ModelReply | None) -> Returned:
    """Decode the pictures of a reply; none of it is fetched from anywhere."""
    shown: list[bytes] = []
    missing: list[str] = []
    for picture in reply.pictures if reply else ():
        raster = _decoded(picture.data)
        if raster is not None:
            shown.append(encode_png(raster))
        else:
            missing.append(picture.missing or _NOT_READ)
    return Returned(tuple(shown), tuple(missing))


def returned_rasters(reply: ModelReply) -> tuple[Raster, ...]:
    """Return the pictures of a reply that can be shown, as arrays."""
    every = (_decoded(picture.data) for picture in reply.pictures)
    return tuple(raster for raster in every if raster is not None)


def _decoded(data: bytes) -> Raster | None:
    if not data:
        return None
    with tempfile.TemporaryDirectory(prefix="overread-") as folder:
        path = Path(folder, _NAME)
        path.write_bytes(data)
        try:
            # A model's bytes must not reach the readers of DICOM, volumes or slides.
            if file_kind(path) is not FileKind.RASTER:
                return None
            return to_raster(load_pixels(ImageRef(path, 0)))
        except OverreadError:
            return None
