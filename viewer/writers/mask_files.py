"""Masks that a reader painted, as DICOM Segmentations or as pictures."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from pydicom.uid import generate_uid

from viewer.domain.case import ImageRef
from viewer.domain.geometry import SizePx
from viewer.domain.image import Raster
from viewer.domain.mark import NAMES, Mark, MarkKind
from viewer.domain.reference import Patch
from viewer.imaging.png import encode_png
from viewer.writers.dicom_dx import MANUFACTURER, file_bytes
from viewer.writers.mark_files import header_of

_SERIES_NUMBER: Final = 992
_PLANE: Final = ("PixelSpacing", "ImagePositionPatient", "ImageOrientationPatient")
UNNAMED: Final = NAMES[MarkKind.MASK]
"""The label of a segment beside which its reader wrote nothing."""


def mask_segmentation(ref: ImageRef, marks: Sequence[Mark]) -> bytes:
    """Return the masks of an image as a DICOM Segmentation, each a segment.

    Its label is what the reader wrote beside it.

    Raises
    ------
    ValueError, AttributeError
        If the image is not one that a segmentation can refer to.
    """
    from highdicom.seg import Segmentation, SegmentationTypeValues

    source = header_of(ref)
    if not source.get("SliceThickness"):
        # highdicom reads no segmentation back whose plane has no thickness; without the
        # plane, its pixels are those of the image it refers to.
        for keyword in _PLANE:
            source.pop(keyword, None)
    size = SizePx(int(source.Rows), int(source.Columns))
    masks = [mark.painted.on(size) for mark in marks if mark.painted is not None]
    segmentation = Segmentation(
        source_images=[source],
        # (frames, rows, columns, segments), as highdicom takes overlapping segments.
        pixel_array=np.stack(masks, axis=-1)[np.newaxis].astype(np.uint8),
        segmentation_type=SegmentationTypeValues.BINARY,
        segment_descriptions=[_segment(n, mark) for n, mark in enumerate(marks, 1)],
        series_instance_uid=generate_uid(),
        series_number=_SERIES_NUMBER,
        sop_instance_uid=generate_uid(),
        instance_number=1,
        manufacturer=MANUFACTURER,
        manufacturer_model_name=MANUFACTURER,
        software_versions="1",
        device_serial_number="1",
        content_label="MASKS",
        content_description="Masks painted by a reader",
        omit_empty_frames=False,
    )
    return file_bytes(segmentation)


def mask_picture(painted: Patch, size: SizePx) -> bytes:
    """Return a mask as a PNG of its image's size, 255 where it is set and else 0."""
    return encode_png(Raster(painted.on(size).astype(np.uint8) * 255))


def _segment(number: int, mark: Mark) -> Any:  # noqa: ANN401 - highdicom, untyped
    from highdicom.seg import SegmentAlgorithmTypeValues, SegmentDescription
    from pydicom.sr.codedict import codes

    return SegmentDescription(
        segment_number=number,
        segment_label=" ".join(mark.text.split()) or UNNAMED,
        segmented_property_category=codes.SCT.MorphologicallyAbnormalStructure,
        segmented_property_type=codes.SCT.Lesion,
        algorithm_type=SegmentAlgorithmTypeValues.MANUAL,
    )
