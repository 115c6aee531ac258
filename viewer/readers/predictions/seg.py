"""Predictions as DICOM Segmentations (PS3.3 A.51), binary and fractional.

A segment's label is the finding. A segmentation belongs to the image whose SOP
Instance UID its frames were derived from, pixel by pixel. A probability is a map over
the image; an occupancy of at least a half is part of a mask.
"""

from collections.abc import Iterable, Iterator, Mapping
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
class Segment:
    """A segment on a frame, from 0, of the image with ``uid``.

    ``place`` is None if no pixel is more than half occupied.
    """

    uid: str
    frame: int
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


def segments_on(path: Path, images: Iterable[Path]) -> tuple[tuple[Path, Segment], ...]:
    """Return the segments of a DICOM Segmentation on any frame of some image files.

    Raises
    ------
    UnreadableInputError
        If it cannot be read, or differs from an image in size.
    """
    if _header(path).kind != _SEGMENTATION:
        raise UnreadableInputError(
            f"'{path.name}' is not a DICOM Segmentation.",
            "Choose a DICOM Segmentation, or a picture of the mask.",
        )
    headers = {file: _header(file) for file in images}
    files = {header.uid: file for file, header in headers.items()}
    found = tuple((files[one.uid], one) for one in _segments(path) if one.uid in files)
    for file, segment in found:
        _check_size(path, segment, headers[file])
    return found


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
        if segment.frame:
            raise UnreadableInputError(
                f"'{path.name}' marks frame {segment.frame + 1} of an image.",
                "Predictions are about the first frame: write a file a frame.",
            )
        place, label = segment.place, segment.label
        yield Prediction(image, label, place, coordinates=Coordinates.NATIVE)


@isolated
def _segments(path: Path) -> tuple[Segment, ...]:
    """Return a segmentation's segments with at least one pixel, image by image."""
    with refusing(path, "cannot be read as a segmentation"):
        from highdicom.seg import segread

        held_bytes(path)
        segmentation = segread(path)
        labels = [
            display_name(segmentation.get_segment_description(n).segment_label)
            for n in segmentation.segment_numbers
        ]
        pixels = list(_pixels(segmentation))
    is_map = segmentation.get("SegmentationFractionalType") == "PROBABILITY"
    return tuple(
        Segment(uid, frame, label, SizePx(*values.shape), _place(values, is_map=is_map))
        for uid, frame, of_frame in pixels
        for label, values in zip(labels, np.moveaxis(of_frame, -1, 0), strict=True)
        if values.any()
    )


def _check_size(path: Path, segment: Segment, header: _Header) -> None:
    if segment.size != header.size:
        raise UnreadableInputError(
            f"'{path.name}' is not the size of the image it was derived from.",
            "Write it in the pixels of that image.",
        )


def _pixels(
    segmentation: Any,  # noqa: ANN401 - highdicom, untyped
) -> Iterator[tuple[str, int, npt.NDArray[np.float64]]]:
    """Yield image, its frame and (rows, columns, segments), values 0 to 1."""
    # A DX image has no position; empty frames may be left out (PS3.3 C.8.20).
    read = {"ignore_spatial_locations": True, "assert_missing_frames_are_empty": True}
    for _, _, uid in segmentation.get_source_image_uids():
        frames = sorted(_frames_of(segmentation, uid))
        if frames:
            values = segmentation.get_pixels_by_source_frame(uid, frames, **read)
        else:
            values = segmentation.get_pixels_by_source_instance([uid], **read)
        for number, of_frame in zip(frames or (1,), values, strict=True):
            yield str(uid), number - 1, np.asarray(of_frame, dtype=np.float64)


def _frames_of(segmentation: Any, uid: str) -> set[int]:  # noqa: ANN401 - highdicom
    """Return the frames, from 1, that it names of an image with several."""
    sources = (
        source
        for frame in segmentation.PerFrameFunctionalGroupsSequence
        for derived in frame.get("DerivationImageSequence") or ()
        for source in derived.get("SourceImageSequence") or ()
    )
    named = (s.get("ReferencedFrameNumber") for s in sources if _is_of(s, uid))
    return {int(n) for one in named if one for n in np.atleast_1d(one)}


def _is_of(source: pydicom.Dataset, uid: str) -> bool:
    return str(source.get("ReferencedSOPInstanceUID")) == str(uid)


def _place(values: npt.NDArray[np.float64], *, is_map: bool) -> Written | None:
    if is_map:
        rows, columns = values.shape
        whole = BoxPx(0.0, 0.0, float(columns), float(rows))
        return HeatMapAnswer(SentHeatMap.of(values), whole)
    mask = Mask.of_array(values >= _HALF)
    return None if mask.is_empty else mask
