"""The geometry of a DICOM image's frames: pixel size, position and orientation.

Enhanced multi-frame files have it per frame or shared in functional groups (PS3.3
C.7.6.16), other files at the top level.
"""

from math import isfinite

import numpy as np
from pydicom.dataset import Dataset

from viewer.domain.geometry import PointMm, SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.readers.dicom import spacing as dicom_spacing
from viewer.readers.dicom.bounds import frame_count
from viewer.readers.dicom.functional_groups import functional_group

KEYWORDS = (
    "Rows",
    "Columns",
    "NumberOfFrames",
    "PatientOrientation",
    "ImagePositionPatient",
    "ImageOrientationPatient",
    "Laterality",
    "ImageLaterality",
    "PixelAspectRatio",
    *dicom_spacing.KEYWORDS,
)
"""What the geometry of an image is read from."""


def geometries_of(dataset: Dataset) -> tuple[ImageGeometry, ...]:
    """Return the geometry of every frame, or a single one if all have the same."""
    if not dataset.get("PerFrameFunctionalGroupsSequence"):
        return (geometry_of(dataset, 0),)
    frames = tuple(geometry_of(dataset, n) for n in range(frame_count(dataset)))
    return frames[:1] if len(set(frames)) == 1 else frames


def geometry_of(dataset: Dataset, frame: int) -> ImageGeometry:
    """Return the geometry of a frame, counted from 0."""
    plane = functional_group(dataset, frame, "PlaneOrientationSequence")
    place = functional_group(dataset, frame, "PlanePositionSequence")
    anatomy = functional_group(dataset, frame, "FrameAnatomySequence")
    letters = functional_group(dataset, frame, "PatientOrientationInFrameSequence")
    position = _numbers(place, "ImagePositionPatient", 3)
    return ImageGeometry(
        SizePx(int(dataset.Rows), int(dataset.Columns)),
        dicom_spacing.spacing(dataset, frame),
        _aspect_ratio(dataset),
        _numbers(plane, "ImageOrientationPatient", 6),
        PointMm(*position) if position else None,
        _texts(letters, "PatientOrientation"),
        _first_text(anatomy, "FrameLaterality")
        or _first_text(dataset, "ImageLaterality", "Laterality"),
    )


def _aspect_ratio(dataset: Dataset) -> float | None:
    """Return Pixel Aspect Ratio: the height over the width of a pixel."""
    pair = _numbers(dataset, "PixelAspectRatio", 2)
    return pair[0] / pair[1] if pair and min(pair) > 0 else None


def _numbers(dataset: Dataset, keyword: str, count: int) -> tuple[float, ...] | None:
    """Return exactly this many numbers, None for anything else."""
    try:
        values = tuple(float(v) for v in np.atleast_1d(dataset.get(keyword) or ()))
    except ValueError:
        return None
    return values if len(values) == count and all(map(isfinite, values)) else None


def _first_text(dataset: Dataset, *keywords: str) -> str:
    texts = (str(dataset.get(keyword) or "").strip() for keyword in keywords)
    return next(filter(None, texts), "")


def _texts(dataset: Dataset, keyword: str) -> tuple[str, ...]:
    value = dataset.get(keyword) or ()
    return (value,) if isinstance(value, str) else tuple(str(v) for v in value)
