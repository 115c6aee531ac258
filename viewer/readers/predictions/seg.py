"""Predictions as DICOM Segmentations (PS3.3 A.51), binary and fractional.

A segment's label is the finding. A segmentation belongs to the image whose SOP
Instance UID its frames were derived from, pixel by pixel. A probability is a map over
the image; an occupancy of at least a half is part of a mask.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pydicom

from viewer.domain.answer import HeatMapAnswer
from viewer.domain.errors import OverreadError, UnreadableInputError
from viewer.domain.exchange import SentHeatMap
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.prediction import Coordinates, Prediction, Written
from viewer.domain.reference import Mask
from viewer.readers.datasets.files import files_below
from viewer.readers.datasets.findings import display_name
from viewer.readers.dicom.bounds import held_bytes
from viewer.readers.files.isolation import isolated
from viewer.readers.files.refusal import refusing

_SEGMENTATION: Final = "1.2.840.10008.5.1.4.1.1.66.4"
_HALF: Final = 0.5
_NO_SIZE: Final = SizePx(0, 0)
_WANTED: Final = ["SOPClassUID", "SOPInstanceUID", "Rows", "Columns"]


@dataclass(frozen=True, slots=True)
class _Header:
    """What a DICOM file is: its SOP class, its UID, and its size."""

    kind: str = ""
    uid: str = ""
    size: SizePx = _NO_SIZE


@dataclass(frozen=True, slots=True)
class _Segment:
    """A segment on the image with ``uid``; ``place`` is None if it has no pixel."""

    uid: str
    label: str
    size: SizePx
    place: Written | None


def read_segmentations(
    path: Path, images: Mapping[str, Path]
) -> tuple[Prediction, ...]:
    """Return the predictions of a DICOM Segmentation, or of all below a folder.

    Parameters
    ----------
    path : Path
        The file or folder; other files in a folder are ignored.
    images : Mapping
        The files of the data set's images by key.

    Returns
    -------
    tuple of Prediction
        One for each segment with a pixel on an image; an image that is not in
        ``images`` is identified by its SOP Instance UID.

    Raises
    ------
    UnreadableInputError
        If there is no segmentation, or one cannot be read.
    """
    files = files_below(path) if path.is_dir() else (path,)
    found = [file for file in files if _header(file).kind == _SEGMENTATION]
    if not found:
        raise UnreadableInputError(
            f"'{path.name}' is not a DICOM Segmentation and contains none.",
            "Name a .csv table, a .json of COCO results, or DICOM SEG files.",
        )
    headers = {key: _header(file) for key, file in images.items()}
    sources = {header.uid: (key, header) for key, header in headers.items()}
    return tuple(one for file in found for one in _of_file(file, sources))


@isolated
def _header(path: Path) -> _Header:
    """Return a file's identity, empty if it is not DICOM."""
    wanted = list(_WANTED)
    try:
        held_bytes(path)
        header = pydicom.dcmread(path, stop_before_pixels=True, specific_tags=wanted)
    except (OSError, OverreadError, pydicom.errors.InvalidDicomError):
        return _Header()
    return _Header(
        str(header.get("SOPClassUID", "")),
        str(header.get("SOPInstanceUID", "")),
        SizePx(int(header.get("Rows") or 0), int(header.get("Columns") or 0)),
    )


def _of_file(
    path: Path, sources: Mapping[str, tuple[str, _Header]]
) -> Iterator[Prediction]:
    for segment in _segments(path):
        image, header = sources.get(segment.uid, (segment.uid, None))
        if header is not None:
            _check_size(path, segment, header)
        place, label = segment.place, segment.label
        yield Prediction(image, label, place, coordinates=Coordinates.NATIVE)


@isolated
def _segments(path: Path) -> tuple[_Segment, ...]:
    """Return a segmentation's segments with at least one pixel, image by image."""
    with refusing(path, "cannot be read as a segmentation"):
        from highdicom.seg import segread

        held_bytes(path)
        segmentation = segread(path)
        # Each is a study's, a series' and an instance's UID.
        uids = [str(uids[2]) for uids in segmentation.get_source_image_uids()]
        labels = [
            display_name(segmentation.get_segment_description(n).segment_label)
            for n in segmentation.segment_numbers
        ]
        pixels = _pixels(segmentation, uids)
    is_map = segmentation.get("SegmentationFractionalType") == "PROBABILITY"
    return tuple(
        _Segment(uid, label, SizePx(*values.shape), _place(values, is_map=is_map))
        for uid, of_image in zip(uids, pixels, strict=True)
        for label, values in zip(labels, np.moveaxis(of_image, -1, 0), strict=True)
        if values.any()
    )


def _check_size(path: Path, segment: _Segment, header: _Header) -> None:
    if segment.size != header.size:
        raise UnreadableInputError(
            f"'{path.name}' is not the size of the image it was derived from.",
            "Write it in the pixels of that image.",
        )


def _pixels(segmentation: Any, uids: list[str]) -> npt.NDArray[np.float64]:  # noqa: ANN401 - highdicom, untyped
    """Return (images, rows, columns, segments), values 0 to 1."""
    read = segmentation.get_pixels_by_source_instance(
        # A DX image has no position; empty frames may be left out (PS3.3 C.8.20).
        uids,
        ignore_spatial_locations=True,
        assert_missing_frames_are_empty=True,
    )
    return np.asarray(read, dtype=np.float64)


def _place(values: npt.NDArray[np.float64], *, is_map: bool) -> Written | None:
    if is_map:
        rows, columns = values.shape
        whole = BoxPx(0.0, 0.0, float(columns), float(rows))
        return HeatMapAnswer(SentHeatMap.of(values), whole)
    mask = Mask.of_array(values >= _HALF)
    return None if mask.is_empty else mask
