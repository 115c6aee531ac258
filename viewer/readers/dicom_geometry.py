"""The geometry of a DICOM image's frames: pixel size, place and orientation."""

import numpy as np
from pydicom.dataset import Dataset

from viewer.domain.geometry import PointMm, SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.readers import dicom_spacing
from viewer.readers.dicom_bounds import frame_count

KEYWORDS = (
    "Rows",
    "Columns",
    "NumberOfFrames",
    "PatientOrientation",
    "ImagePositionPatient",
    "ImageOrientationPatient",
    "Laterality",
    "ImageLaterality",
    *dicom_spacing.KEYWORDS,
)
"""What the geometry of an image is read from."""


def geometries_of(dataset: Dataset) -> tuple[ImageGeometry, ...]:
    """Return the geometry of every frame; a single one where all have the same."""
    if not dataset.get("PerFrameFunctionalGroupsSequence"):
        return (geometry_of(dataset, 0),)
    frames = tuple(geometry_of(dataset, n) for n in range(frame_count(dataset)))
    return frames[:1] if len(set(frames)) == 1 else frames


def geometry_of(dataset: Dataset, frame: int) -> ImageGeometry:
    """Return the geometry of a frame, 0-based."""
    return ImageGeometry(
        SizePx(int(dataset.Rows), int(dataset.Columns)),
        dicom_spacing.spacing(dataset, frame),
        axes=_axes(dataset),
        position=_position(dataset),
        patient_orientation=_texts(dataset, "PatientOrientation"),
        laterality=_text(dataset, "ImageLaterality") or _text(dataset, "Laterality"),
    )


def _position(dataset: Dataset) -> PointMm | None:
    values = _numbers(dataset, "ImagePositionPatient")
    return PointMm(*values) if len(values) == 3 else None


def _axes(dataset: Dataset) -> tuple[float, ...] | None:
    values = _numbers(dataset, "ImageOrientationPatient")
    return values if len(values) == 6 else None


def _numbers(dataset: Dataset, keyword: str) -> tuple[float, ...]:
    return tuple(float(v) for v in np.atleast_1d(dataset.get(keyword) or ()))


def _text(dataset: Dataset, keyword: str) -> str:
    return str(dataset.get(keyword) or "").strip()


def _texts(dataset: Dataset, keyword: str) -> tuple[str, ...]:
    value = dataset.get(keyword) or ()
    return (value,) if isinstance(value, str) else tuple(str(v) for v in value)
