"""Headers of image files, read without decoding pixels.

Each format's reader is imported with its first file: most processes that import this
module never read one themselves.
"""

from pathlib import Path

from viewer.domain.case import ImageRef, View
from viewer.domain.errors import MissingDependencyError, UnreadableInputError
from viewer.domain.file_header import MOST_FRAMES, FileHeader
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.slide import SLIDE_MODALITY
from viewer.readers.files.isolation import isolated
from viewer.readers.pixels import FileKind, file_kind


@isolated
def read_file_header(path: Path) -> FileHeader:
    """Return the header of any image file.

    Raises
    ------
    UnreadableInputError
        If the file is not an image, or its size or frames are implausible.
    """
    header = _header_of(path, file_kind(path))
    if header.frames > MOST_FRAMES:
        raise UnreadableInputError(
            f"{path.name} claims to have {header.frames:,} frames; at most "
            f"{MOST_FRAMES:,} are read from one file.",
            "Export it again in smaller parts.",
        )
    return header


def load_geometry(ref: ImageRef) -> ImageGeometry:
    """Return the geometry of the image that ``load_pixels`` returns.

    Raises
    ------
    UnreadableInputError
        If the file is not an image.
    """
    return read_file_header(ref.path).geometry(ref.frame)


def _header_of(path: Path, kind: FileKind) -> FileHeader:
    if kind is FileKind.DICOM:
        from viewer.readers.dicom.header import dicom_header

        return dicom_header(path)
    if kind is FileKind.SLIDE:
        return _slide_header(path)
    if kind is FileKind.RASTER:
        from viewer.readers.rasters.raster_files import raster_geometries

        return FileHeader(path, *raster_geometries(path))
    from viewer.readers.volumes.volume import volume_geometries

    geometries, frames = volume_geometries(path)
    view = View.OTHER if frames > 1 else View.UNKNOWN
    return FileHeader(path, geometries, frames, view=view)


def _slide_header(path: Path) -> FileHeader:
    from viewer.readers.slides.annotation import scan_words
    from viewer.readers.slides.slide import read_slide

    try:
        slide = read_slide(path)
    except MissingDependencyError as error:
        # A folder is indexed to its end; its slides are told as what cannot be read.
        raise UnreadableInputError(error.what, error.how) from error
    facts = slide.facts
    return FileHeader(
        facts.path,
        (slide.map.scan,),
        slide.map.frames,
        modality=SLIDE_MODALITY,
        view=View.OTHER,
        patient_key=facts.patient_key,
        study_key=facts.study_key,
        series_key=facts.series_key,
        study_date=facts.study_date,
        study_description=facts.study_description or scan_words(facts),
        slide=slide.map,
    )
