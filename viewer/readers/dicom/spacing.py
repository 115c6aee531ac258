"""The pixel size of a DICOM image, and the plane it refers to (PS3.3 10.7.1).

Millimetres refer to the patient in slices, ultrasound regions and calibrated images; to
the detector in radiographs, to the film in digitized films, and to an unknown plane in
captures and photographs.
"""

from math import isclose, isfinite
from typing import Final

import numpy as np
from pydicom.dataset import Dataset

from viewer.domain.image_geometry import Spacing, SpacingMeaning
from viewer.readers.dicom.functional_groups import functional_group

KEYWORDS: Final = (
    "Modality",
    "PixelSpacing",
    "PixelSpacingCalibrationType",
    "ImagerPixelSpacing",
    "NominalScannedPixelSpacing",
    "SequenceOfUltrasoundRegions",
    "SharedFunctionalGroupsSequence",
    "PerFrameFunctionalGroupsSequence",
)
"""What the spacing of an image is read from."""
_MEDIA: Final = (
    ("ImagerPixelSpacing", SpacingMeaning.DETECTOR),
    ("NominalScannedPixelSpacing", SpacingMeaning.SCANNED),
)
_MODALITIES: Final = {
    **dict.fromkeys(
        ("CR", "DR", "DX", "IO", "MG", "PX", "RF", "RG", "XA"), SpacingMeaning.DETECTOR
    ),
    **dict.fromkeys(("", "DMS", "DOC", "ES", "OT", "SC", "XC"), SpacingMeaning.UNKNOWN),
}
"""What Pixel Spacing means alone; in any other modality it is in the patient."""
_CALIBRATIONS: Final = {
    "FIDUCIAL": SpacingMeaning.FIDUCIAL, "GEOMETRY": SpacingMeaning.MAGNIFIED,
}  # fmt: skip
"""Pixel Spacing Calibration Type (PS3.3 10.7.1.3)."""
_PLANE, _CENTIMETRES = 1, 3
"""Region Spatial Format and Physical Units (PS3.3 C.8.5.5.1.1 and C.8.5.5.1.15)."""
_MM_PER_CM: Final = 10.0
_Pair = tuple[float, float]


def spacing(dataset: Dataset, frame: int) -> Spacing | None:
    """Return a frame's pixel spacing, 0-based, and the plane it refers to.

    Ultrasound regions go first, if there are any. Otherwise Pixel Spacing is calibrated
    if the file says so or if it differs from that of the detector or film (PS3.3
    10.7.1.3); this comes next, and Pixel Spacing alone has its meaning in the modality.
    A spacing other than two positive numbers counts as absent.
    """
    if dataset.get("SequenceOfUltrasoundRegions"):
        return _of_regions(dataset)
    measures = functional_group(dataset, frame, "PixelMeasuresSequence")
    pixel, media = _pair(measures, "PixelSpacing"), _of_media(dataset)
    kind = str(dataset.get("PixelSpacingCalibrationType") or "")
    if pixel and (kind or (media and (media.row_mm, media.column_mm) != pixel)):
        return Spacing(*pixel, _CALIBRATIONS.get(kind, SpacingMeaning.CALIBRATED))
    if media or not pixel:
        return media
    modality = str(dataset.get("Modality") or "")
    return Spacing(*pixel, _MODALITIES.get(modality, SpacingMeaning.PATIENT))


def regions_differ(dataset: Dataset) -> bool:
    """Tell whether ultrasound regions differ in scale, so that there is no spacing."""
    return bool(dataset.get("SequenceOfUltrasoundRegions")) and not _of_regions(dataset)


def _of_media(dataset: Dataset) -> Spacing | None:
    for keyword, meaning in _MEDIA:
        pair = _pair(dataset, keyword)
        if pair:
            return Spacing(*pair, meaning)
    return None


def _of_regions(dataset: Dataset) -> Spacing | None:
    """Return the scale shared by all 2-D regions (PS3.3 C.8.5.5), None without one.

    Traces, spectra and bars have other units, so it applies only to the 2-D planes.
    """
    planes = [
        region
        for region in dataset.SequenceOfUltrasoundRegions
        if region.get("RegionSpatialFormat") == _PLANE
    ]
    scales = [_scale(region) for region in planes]
    if not scales or scales[0] is None:
        return None
    first = scales[0]
    if not all(scale is not None and _same(scale, first) for scale in scales):
        return None
    # Beside the region lie scales and text, in which a length would mean nothing.
    whole = len(planes) == 1 and _covers(planes[0], dataset)
    meaning = SpacingMeaning.PATIENT if whole else SpacingMeaning.REGION
    return Spacing(*first, meaning)


def _scale(region: Dataset) -> _Pair | None:
    """Return row and column spacing of a region in mm, None if not in centimetres."""
    units = [region.get(f"PhysicalUnits{axis}Direction") for axis in "YX"]
    deltas = [region.get(f"PhysicalDelta{axis}") for axis in "YX"]
    if units != [_CENTIMETRES] * 2 or None in deltas:
        return None
    # A scale that runs upwards or leftwards is negative.
    return _positive([abs(float(delta)) * _MM_PER_CM for delta in deltas])


def _same(one: _Pair, other: _Pair) -> bool:
    return all(isclose(a, b, rel_tol=1e-4) for a, b in zip(one, other, strict=True))


def _covers(region: Dataset, dataset: Dataset) -> bool:
    """Tell whether a region covers the whole image."""
    last = {"X": int(dataset.Columns) - 1, "Y": int(dataset.Rows) - 1}
    return all(
        region.get(f"RegionLocationMin{axis}0") == 0
        and (region.get(f"RegionLocationMax{axis}1") or 0) >= end
        for axis, end in last.items()
    )


def _pair(dataset: Dataset, keyword: str) -> _Pair | None:
    try:
        values = np.atleast_1d(np.asarray(dataset.get(keyword) or (), np.float64))
    except (TypeError, ValueError):  # letters among the digits
        return None
    return _positive([float(value) for value in values])


def _positive(values: list[float]) -> _Pair | None:
    """Return two positive numbers, None for anything else."""
    if len(values) != 2 or not all(isfinite(v) and v > 0 for v in values):
        return None
    return values[0], values[1]
