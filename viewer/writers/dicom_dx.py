"""Synthetic radiographs as DICOM Digital X-Ray images (PS3.3 A.26)."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import Final

import numpy as np
import numpy.typing as npt
from pydicom import Dataset
from pydicom.dataset import FileMetaDataset
from pydicom.filewriter import dcmwrite
from pydicom.uid import DigitalXRayImageStorageForPresentation, ExplicitVRLittleEndian

from viewer.domain.case import View

BITS: Final = 12
MAX_VALUE: Final = 2**BITS - 1
DATE: Final = "20000101"
TIME: Final = "120000"
MANUFACTURER: Final = "Overread"
MODEL: Final = "Phantom thorax"
SOFTWARE: Final = "1"


@dataclass(frozen=True)
class DxHeader:
    """The header of a synthetic radiograph.

    ``name`` names the image and ``study_name`` the study inside ``collection``; from
    them come the UIDs, the same every time. ``number`` is the instance number,
    ``spacing_mm`` the pixel pitch at the detector, ``inverted`` whether it is stored
    as MONOCHROME1, ``compressed`` whether as JPEG 2000 without loss.
    """

    collection: str
    patient_id: str
    study_name: str
    name: str
    number: int
    view: View
    sex: str
    spacing_mm: float
    inverted: bool
    compressed: bool

    @cached_property
    def sop_instance_uid(self) -> str:
        """The image's UID."""
        return derived_uid(self.collection, self.name, "image")

    @cached_property
    def series_instance_uid(self) -> str:
        """The UID of the image's own series."""
        return derived_uid(self.collection, self.name, "series")

    @cached_property
    def study_instance_uid(self) -> str:
        """The UID of the study both views share."""
        return derived_uid(self.collection, self.study_name, "study")


@dataclass(frozen=True)
class _Position:
    """How a view lies: DICOM words and code (CID 4010)."""

    view_position: str
    orientation: tuple[str, str]
    code: tuple[str, str]


_POSITIONS: Final = {
    View.FRONTAL: _Position("PA", ("L", "F"), ("272479007", "postero-anterior")),
    View.LATERAL: _Position("LL", ("P", "F"), ("399173006", "left lateral")),
}


def derived_uid(*names: str) -> str:
    """Return a UID under 2.25 that depends on the names alone (PS3.5 B.2)."""
    digest = hashlib.sha256("\x00".join(names).encode()).digest()
    # 128 bits, as many as a UUID has: all 256 exceed the 64 characters of a UID.
    return f"2.25.{int.from_bytes(digest[:16], 'big')}"


def dx_dataset(values: npt.NDArray[np.uint16], header: DxHeader) -> Dataset:
    """Return a radiograph as an uncompressed DX image.

    Parameters
    ----------
    values : (rows, columns) uint16 array
        Grey values 0-4095, dense tissue bright; stored inverted if the header asks.
    header : DxHeader
        What the image says about itself.
    """
    dataset = Dataset()
    _add_patient_and_study(dataset, header)
    _add_series_and_equipment(dataset, header)
    _add_positioning(dataset, header)
    _add_acquisition(dataset, header)
    _add_pixels(dataset, values, header)
    return dataset


def dx_bytes(dataset: Dataset, *, compressed: bool) -> bytes:
    """Return a DX image as the bytes of a DICOM file, JPEG 2000 if ``compressed``."""
    if compressed:
        from pydicom.uid import JPEG2000Lossless

        dataset.compress(
            # pydicom would give the compressed image another UID, drawn at random.
            JPEG2000Lossless,
            encoding_plugin="pylibjpeg",
            generate_instance_uid=False,
        )
    return file_bytes(dataset)


def file_bytes(dataset: Dataset) -> bytes:
    """Return a data set as the bytes of a DICOM file (PS3.10)."""
    buffer = BytesIO()
    dcmwrite(buffer, dataset, enforce_file_format=True)
    return buffer.getvalue()


def coded(value: str, scheme: str, meaning: str) -> Dataset:
    """Return a code sequence item (PS3.3 8.8)."""
    item = Dataset()
    item.CodeValue = value
    item.CodingSchemeDesignator = scheme
    item.CodeMeaning = meaning
    return item


def _add_patient_and_study(dataset: Dataset, header: DxHeader) -> None:
    dataset.SpecificCharacterSet = "ISO_IR 192"
    dataset.SOPClassUID = DigitalXRayImageStorageForPresentation
    dataset.SOPInstanceUID = header.sop_instance_uid
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    dataset.PatientName = f"PHANTOM^{header.patient_id}"
    dataset.PatientID = f"PHANTOM-{header.patient_id}"
    dataset.PatientBirthDate = ""
    dataset.PatientSex = header.sex
    dataset.PatientComments = "PHANTOM: synthetic, no such person exists"
    dataset.StudyInstanceUID = header.study_instance_uid
    dataset.StudyDate, dataset.StudyTime = DATE, TIME
    dataset.StudyID = "1"
    dataset.StudyDescription = "PHANTOM chest, two views"
    dataset.AccessionNumber = ""
    dataset.ReferringPhysicianName = ""


def _add_series_and_equipment(dataset: Dataset, header: DxHeader) -> None:
    dataset.Modality = "DX"
    dataset.SeriesInstanceUID = header.series_instance_uid
    dataset.SeriesNumber = header.number
    dataset.SeriesDate, dataset.SeriesTime = DATE, TIME
    dataset.SeriesDescription = f"PHANTOM chest {header.view}"
    dataset.PresentationIntentType = "FOR PRESENTATION"
    dataset.BodyPartExamined = "CHEST"
    dataset.Manufacturer = MANUFACTURER
    dataset.ManufacturerModelName = MODEL
    dataset.DeviceSerialNumber = header.collection
    dataset.SoftwareVersions = SOFTWARE


def _add_positioning(dataset: Dataset, header: DxHeader) -> None:
    position = _POSITIONS[header.view]
    dataset.ViewPosition = position.view_position
    view = coded(position.code[0], "SCT", position.code[1])
    view.ViewModifierCodeSequence = []
    dataset.ViewCodeSequence = [view]
    dataset.PatientOrientation = list(position.orientation)
    dataset.ImageLaterality = "U"
    dataset.AnatomicRegionSequence = [coded("816094009", "SCT", "Chest")]


def _add_acquisition(dataset: Dataset, header: DxHeader) -> None:
    dataset.InstanceNumber = header.number
    dataset.InstanceCreationDate, dataset.InstanceCreationTime = DATE, TIME
    dataset.AcquisitionDate, dataset.AcquisitionTime = DATE, TIME
    dataset.ContentDate, dataset.ContentTime = DATE, TIME
    dataset.AcquisitionContextSequence = []
    dataset.ImageType = ["DERIVED", "PRIMARY", ""]
    dataset.DerivationDescription = "Computed by projecting a synthetic thorax"
    dataset.ImageComments = "PHANTOM: synthetic image, not of a person"
    dataset.KVP = "120"
    dataset.DistanceSourceToDetector = "1800"
    dataset.DetectorType = "DIRECT"
    dataset.DetectorActiveTime = None
    dataset.DetectorID = ""
    dataset.PositionerType = "NONE"
    dataset.BurnedInAnnotation = "YES"
    dataset.RecognizableVisualFeatures = "NO"
    dataset.QualityControlImage = "NO"


def _add_pixels(
    dataset: Dataset, values: npt.NDArray[np.uint16], header: DxHeader
) -> None:
    stored = MAX_VALUE - values if header.inverted else values
    dataset.SamplesPerPixel = 1
    dataset.PhotometricInterpretation = (
        "MONOCHROME1" if header.inverted else "MONOCHROME2"
    )
    dataset.PresentationLUTShape = "INVERSE" if header.inverted else "IDENTITY"
    dataset.PixelIntensityRelationship = "LOG"
    # 1 means that lower values are less beam intensity (PS3.3 C.8.11.3).
    dataset.PixelIntensityRelationshipSign = 1 if header.inverted else -1
    dataset.Rows, dataset.Columns = values.shape
    dataset.BitsAllocated = 16
    dataset.BitsStored, dataset.HighBit = BITS, BITS - 1
    dataset.PixelRepresentation = 0
    dataset.ImagerPixelSpacing = [_decimal(header.spacing_mm)] * 2
    dataset.RescaleIntercept, dataset.RescaleSlope = "0", "1"
    dataset.RescaleType = "US"
    dataset.WindowCenter, dataset.WindowWidth = "2048", "4096"
    dataset.WindowCenterWidthExplanation = "WHOLE RANGE"
    dataset.VOILUTFunction = "LINEAR"
    dataset.LossyImageCompression = "00"
    dataset.PixelData = np.ascontiguousarray(stored, dtype="<u2").tobytes()


def _decimal(value: float) -> str:
    """Return a Decimal String (at most 16 characters, PS3.5 6.2)."""
    return f"{value:.6g}"
