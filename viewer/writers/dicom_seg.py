"""Masks as DICOM Segmentations (PS3.3 A.51), the same bytes every time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from pydicom import Dataset

from viewer.writers.dicom_dx import (
    DATE,
    MANUFACTURER,
    MODEL,
    SOFTWARE,
    TIME,
    derived_uid,
    file_bytes,
)

_PRIVATE: Final = "99OVERREAD"
_ANATOMY: Final = ("123037004", "SCT", "Anatomical Structure")
_ABNORMAL: Final = ("49755003", "SCT", "Morphologically Abnormal Structure")
_OBJECT: Final = ("260787004", "SCT", "Physical object")


@dataclass(frozen=True, slots=True)
class SegmentCode:
    """What a segment is: property category and type as (value, scheme, meaning)."""

    category: tuple[str, str, str]
    kind: tuple[str, str, str]


SEGMENT_CODES: Final[Mapping[str, SegmentCode]] = {
    "Enlarged Cardiomediastinum": SegmentCode(
        _ABNORMAL, ("ECM", _PRIVATE, "Enlarged cardiomediastinum")
    ),
    "Cardiomegaly": SegmentCode(_ABNORMAL, ("8186001", "SCT", "Cardiomegaly")),
    "Airspace Opacity": SegmentCode(_ABNORMAL, ("AO", _PRIVATE, "Airspace opacity")),
    "Lung Lesion": SegmentCode(_ABNORMAL, ("52988006", "SCT", "Lesion")),
    "Edema": SegmentCode(_ABNORMAL, ("19242006", "SCT", "Pulmonary edema")),
    "Consolidation": SegmentCode(
        _ABNORMAL, ("95436008", "SCT", "Pulmonary consolidation")
    ),
    "Atelectasis": SegmentCode(_ABNORMAL, ("46621007", "SCT", "Atelectasis")),
    "Pneumothorax": SegmentCode(_ABNORMAL, ("36118008", "SCT", "Pneumothorax")),
    "Pleural Effusion": SegmentCode(_ABNORMAL, ("60046008", "SCT", "Pleural effusion")),
    "Support Devices": SegmentCode(_OBJECT, ("49062001", "SCT", "Device")),
    "left lung": SegmentCode(_ANATOMY, ("44029006", "SCT", "Left lung")),
    "right lung": SegmentCode(_ANATOMY, ("3341006", "SCT", "Right lung")),
    "heart": SegmentCode(_ANATOMY, ("80891009", "SCT", "Heart")),
    "mediastinum": SegmentCode(_ANATOMY, ("72410000", "SCT", "Mediastinum")),
}
"""Codes by segment label; scheme 99OVERREAD where SNOMED CT has no sure concept."""


def seg_bytes(
    source: Dataset, masks: Mapping[str, npt.NDArray[np.bool_]], collection: str
) -> bytes:
    """Return the non-empty masks of an image as the bytes of a DICOM SEG file.

    Parameters
    ----------
    source : Dataset
        The segmented DX image.
    masks : mapping of str to (rows, columns) bool array
        Masks by segment label, a key of SEGMENT_CODES; at least one is not empty.
    collection : str
        What the UIDs are derived from, together with the source's.
    """
    from highdicom.seg import Segmentation, SegmentationTypeValues

    labels = [label for label, mask in masks.items() if mask.any()]
    # (frames, rows, columns, segments), as highdicom takes overlapping segments.
    pixels = np.stack([masks[label] for label in labels], axis=-1)[np.newaxis]
    seed = (collection, str(source.SOPInstanceUID))
    segmentation = Segmentation(
        source_images=[source],
        pixel_array=pixels.astype(np.uint8),
        segmentation_type=SegmentationTypeValues.BINARY,
        segment_descriptions=[
            _describe(i, label) for i, label in enumerate(labels, start=1)
        ],
        series_instance_uid=derived_uid(*seed, "seg series"),
        series_number=100 + int(source.SeriesNumber),
        sop_instance_uid=derived_uid(*seed, "seg"),
        instance_number=1,
        manufacturer=MANUFACTURER,
        manufacturer_model_name=MODEL,
        software_versions=SOFTWARE,
        device_serial_number=collection,
        content_label="TRUTH",
        content_description="Exact projections of a synthetic thorax",
        content_creator_name="Overread^Phantom",
        series_description="PHANTOM truth",
    )
    _fix(segmentation, source, derived_uid(*seed, "dimensions"))
    return file_bytes(segmentation)


def _describe(number: int, label: str) -> Any:  # noqa: ANN401 - highdicom, untyped
    from highdicom import AlgorithmIdentificationSequence
    from highdicom.seg import SegmentAlgorithmTypeValues, SegmentDescription
    from highdicom.sr import CodedConcept
    from pydicom.sr.codedict import codes

    code = SEGMENT_CODES[label]
    return SegmentDescription(
        segment_number=number,
        segment_label=label,
        segmented_property_category=CodedConcept(*code.category),
        segmented_property_type=CodedConcept(*code.kind),
        algorithm_type=SegmentAlgorithmTypeValues.AUTOMATIC,
        algorithm_identification=AlgorithmIdentificationSequence(
            name="Projection of a synthetic thorax",
            family=codes.DCM.ArtificialIntelligence,
            version=SOFTWARE,
        ),
    )


def _fix(segmentation: Dataset, source: Dataset, dimensions: str) -> None:
    """Replace what highdicom takes from the clock and from random numbers."""
    segmentation.PatientOrientation = source.PatientOrientation
    segmentation.ContentDate, segmentation.ContentTime = DATE, TIME
    segmentation.InstanceCreationDate = DATE
    segmentation.InstanceCreationTime = TIME
    for item in segmentation.get("ContributingEquipmentSequence", []):
        item.ContributionDateTime = DATE + TIME
    for item in segmentation.DimensionOrganizationSequence:
        item.DimensionOrganizationUID = dimensions
    for item in segmentation.DimensionIndexSequence:
        item.DimensionOrganizationUID = dimensions
