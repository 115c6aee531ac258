"""Headers of image files, read without decoding pixels."""

from pathlib import Path

from pydicom.datadict import tag_for_keyword
from pydicom.dataset import Dataset
from pydicom.errors import InvalidDicomError

from viewer.domain.case import ImageRef, View
from viewer.domain.errors import MissingDependencyError, UnreadableInputError
from viewer.domain.file_header import MOST_FRAMES, FileHeader
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.slide import SLIDE_MODALITY
from viewer.readers.dicom.bounds import (
    DEFLATED,
    check_frames,
    frame_count,
    held_bytes,
    may_be_dataset,
    read_before_pixels,
)
from viewer.readers.dicom.decoding import MAX_PIXELS
from viewer.readers.dicom.geometry import KEYWORDS, geometries_of
from viewer.readers.files.isolation import isolated
from viewer.readers.files.refusal import DAMAGED, refusing
from viewer.readers.pixels import FileKind, file_kind
from viewer.readers.rasters.raster_files import raster_geometries
from viewer.readers.slides.annotation import scan_words
from viewer.readers.slides.slide import read_slide
from viewer.readers.volumes.volume import volume_geometries

_KEYWORDS = (
    *KEYWORDS,
    "SOPClassUID",
    "StudyDate",
    "StudyDescription",
    "SeriesDescription",
    "PatientID",
    "ViewPosition",
    "StudyInstanceUID",
    "SeriesInstanceUID",
    "InstanceNumber",
    "SamplesPerPixel",
    "PhotometricInterpretation",
    "BitsAllocated",
)
_TAGS = [tag for tag in map(tag_for_keyword, _KEYWORDS) if tag is not None]
_DICOM_SUFFIXES = frozenset({"", ".dcm", ".dicom", ".ima"})
_PROJECTIONS = frozenset({"CR", "DR", "DX", "PX", "RF", "RG"})
_UNSPOKEN = frozenset({"", "OT"})
"""Modalities that do not tell a radiograph from anything else."""
_FRONTAL_WORDS = frozenset({"AP", "PA", "FRONTAL"})
_LATERAL_WORDS = frozenset({"LL", "RL", "LAT", "LATERAL", "LLAT", "RLAT"})


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
        return _dicom_header(path)
    if kind is FileKind.SLIDE:
        return _slide_header(path)
    measure = raster_geometries if kind is FileKind.RASTER else volume_geometries
    geometries, frames = measure(path)
    stack = kind is not FileKind.RASTER and frames > 1
    return FileHeader(
        path,
        geometries,
        frames,
        view=View.OTHER if stack else View.UNKNOWN,
    )


def _slide_header(path: Path) -> FileHeader:
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


def view_of(modality: str, view_position: str) -> View:
    """Return the projection that View Position names (PS3.3 C.8.7.1, C.8.11.5).

    Obliques and decubitus positions are neither frontal nor lateral and stay unknown,
    as do ambiguous values; CT and the like have no projection.
    """
    if modality not in _PROJECTIONS:
        return View.UNKNOWN if modality in _UNSPOKEN else View.OTHER
    return projection(view_position)


def projection(written: str) -> View:
    """Return the projection that a text names, whoever wrote it; else unknown."""
    words = set(written.upper().replace("_", " ").replace("-", " ").split())
    frontal, lateral = words & _FRONTAL_WORDS, words & _LATERAL_WORDS
    if frontal and not lateral:
        return View.FRONTAL
    return View.LATERAL if lateral and not frontal else View.UNKNOWN


def _dicom_header(path: Path) -> FileHeader:
    with refusing(path):
        dataset = _read_tags(path)
        rows, columns = int(dataset.get("Rows") or 0), int(dataset.get("Columns") or 0)
        if rows < 1 or columns < 1 or rows * columns > MAX_PIXELS:
            raise UnreadableInputError(
                f"{path.name} claims an impossible size of {columns} × {rows} pixels.",
                DAMAGED,
            )
        modality = _text(dataset, "Modality")
        return FileHeader(
            path,
            geometries_of(dataset),
            frame_count(dataset),
            modality=modality,
            view=view_of(modality, _text(dataset, "ViewPosition")),
            patient_key=_text(dataset, "PatientID"),
            study_key=_text(dataset, "StudyInstanceUID"),
            series_key=_text(dataset, "SeriesInstanceUID"),
            study_date=_text(dataset, "StudyDate"),
            study_description=_text(dataset, "StudyDescription"),
            series_description=_text(dataset, "SeriesDescription"),
            instance=_instance(dataset),
        )


def _read_tags(path: Path) -> Dataset:
    """Read the few tags needed, and check that pixels follow them."""
    held = held_bytes(path)
    with path.open("rb") as stream:
        try:
            dataset = read_before_pixels(stream, _TAGS)
        except InvalidDicomError:
            if not may_be_dataset(stream):
                raise _not_an_image(path) from None
            dataset = read_before_pixels(stream, _TAGS, force=True)
            if "Rows" not in dataset and "SOPClassUID" not in dataset:
                raise _not_an_image(path) from None
        syntax = dataset.file_meta.get("TransferSyntaxUID")
        deflated = syntax in DEFLATED
        # Reading stopped at the pixels, so one more byte proves them; a deflated file
        # was read to its end to inflate it.
        if "Rows" not in dataset or not (deflated or stream.read(1)):
            raise UnreadableInputError(
                f"{path.name} contains no pixels.", "Open an image, or export it again."
            )
        before = 0 if deflated else stream.tell()
    check_frames(dataset, path, held - before)
    return dataset


def _not_an_image(path: Path) -> UnreadableInputError:
    """Return the error for a file that is neither DICOM nor another image."""
    named = path.suffix.lower() in _DICOM_SUFFIXES or path.suffix[1:].isdecimal()
    return UnreadableInputError(
        f"{path.name} is not {'a DICOM file' if named else 'an image'}.",
        "Open DICOM, PNG, JPEG, TIFF, NIfTI, NRRD, MetaImage or slide files.",
    )


def _text(dataset: Dataset, keyword: str) -> str:
    return str(dataset.get(keyword) or "").strip()


def _instance(dataset: Dataset) -> int | None:
    value = _text(dataset, "InstanceNumber")
    return int(value) if value.lstrip("+-").isdecimal() else None
