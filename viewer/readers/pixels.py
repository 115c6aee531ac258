"""Reading of any image file as pixels in modality units.

Each format's reader is imported with its first file: most processes that import this
module never read one themselves, least of all a window that should start fast.
"""

import re
from enum import Enum
from pathlib import Path

from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.domain.image import PixelImage
from viewer.readers.files.isolation import isolated
from viewer.readers.files.refusal import refusing
from viewer.readers.files.regular import regular_file


class FileKind(Enum):
    """The kinds of files, one for each reader."""

    DICOM = "DICOM"
    RASTER = "image file"
    VOLUME = "volume"
    SLIDE = "whole slide"


_RASTER_STARTS = (
    b"\x89PNG\r\n",
    b"\xff\xd8\xff",
    b"II*\x00",
    b"MM\x00*",
    b"II+\x00",
    b"MM\x00+",
    b"BM",
    b"GIF8",
    b"\x00\x00\x00\x0cjP  ",
    b"\xff\x4f\xff\x51",
)
_WEBP = re.compile(rb"RIFF....WEBP", re.DOTALL)
RASTER_SUFFIXES = (
    ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif", ".webp", ".jp2", ".j2k",
)  # fmt: skip
VOLUME_SUFFIXES = (".nii", ".nii.gz", ".nrrd", ".nhdr", ".mha", ".mhd")


@isolated
def load_pixels(ref: ImageRef) -> PixelImage:
    """Return one frame of a file: DICOM, a picture, a volume or a slide.

    A whole slide's frames are its overview and its fields (`viewer.domain.slide`).
    Thread-safe.

    Raises
    ------
    UnreadableInputError
        If the file is missing, damaged, not an image, or has no such frame; the message
        names the file without its folder.
    MissingDependencyError
        If it is a whole slide and the package for slides is not installed.
    """
    kind = file_kind(ref.path)
    if kind is FileKind.VOLUME:
        from viewer.readers.volumes.volume import load_slice

        return load_slice(ref.path, ref.frame)
    if kind is FileKind.SLIDE:
        from viewer.readers.slides.slide import load_field

        return load_field(ref.path, ref.frame)
    if kind is FileKind.RASTER:
        from viewer.readers.rasters.raster_files import load_raster_file

        return load_raster_file(ref.path, ref.frame)
    from viewer.readers.dicom.decoding import load_dicom

    return load_dicom(ref.path, ref.frame)


def is_volume_name(path: Path) -> bool:
    """Tell whether a file is a volume, by its name."""
    return path.name.lower().endswith(VOLUME_SUFFIXES)


def file_kind(path: Path) -> FileKind:
    """Return the kind of a file, by its first bytes rather than by its name.

    Anything not recognised counts as DICOM, because DICOM files may lack their
    preamble; the reader refuses the others.
    """
    regular_file(path)
    # By name first: gzip's magic would tell nothing of the NIfTI inside.
    if is_volume_name(path):
        return FileKind.VOLUME
    from viewer.readers.slides.slide import START_BYTES, is_slide

    with refusing(path), path.open("rb") as stream:
        start = stream.read(START_BYTES)
    if not start:
        raise UnreadableInputError(f"{path.name} is empty.", "Copy or export it again.")
    with refusing(path):
        # Before DICOM and TIFF, as which the files of most slides begin.
        if is_slide(path, start):
            return FileKind.SLIDE
    if start[128:132] == b"DICM":
        return FileKind.DICOM
    if start.startswith(_RASTER_STARTS) or _WEBP.match(start):
        return FileKind.RASTER
    if path.suffix.lower() in RASTER_SUFFIXES:
        return FileKind.RASTER
    return FileKind.DICOM
