"""Synthetic CT slices as DICOM CT images (PS3.3 A.3)."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from pydicom import Dataset
from pydicom.dataset import FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian

from viewer.writers.dicom_dx import derived_uid, file_bytes

_COLLECTION: Final = "phantom-ct"
_SPACING_MM: Final = 0.7


@dataclass(frozen=True, slots=True)
class CtSlice:
    """A slice's 0-based index in its series, and its position along the body in mm."""

    number: int
    position_mm: float


def ct_bytes(values: npt.NDArray[np.int16], where: CtSlice) -> bytes:
    """Return an axial slice as the bytes of an uncompressed DICOM file.

    Parameters
    ----------
    values : (rows, columns) int16 array
        Hounsfield units, stored as they are (slope 1, intercept 0).
    where : CtSlice
        Its place; slices of one series share every UID but their own.
    """
    dataset = Dataset()
    _add_identity(dataset, where)
    _add_plane(dataset, where)
    _add_pixels(dataset, values)
    return file_bytes(dataset)


def _add_identity(dataset: Dataset, where: CtSlice) -> None:
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    dataset.SOPClassUID = CTImageStorage
    dataset.SOPInstanceUID = derived_uid(_COLLECTION, str(where.number))
    dataset.StudyInstanceUID = derived_uid(_COLLECTION, "study")
    dataset.SeriesInstanceUID = derived_uid(_COLLECTION, "series")
    dataset.FrameOfReferenceUID = derived_uid(_COLLECTION, "frame of reference")
    dataset.PatientName = "PHANTOM^CT"
    dataset.PatientID = "PHANTOM-CT"
    dataset.PatientComments = "PHANTOM: synthetic, no such person exists"
    dataset.Modality = "CT"
    dataset.SeriesDescription = "PHANTOM axial"
    dataset.SeriesNumber = 1
    dataset.InstanceNumber = where.number + 1


def _add_plane(dataset: Dataset, where: CtSlice) -> None:
    dataset.ImageType = ["DERIVED", "PRIMARY", "AXIAL"]
    dataset.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
    dataset.ImagePositionPatient = [0, 0, where.position_mm]
    dataset.PixelSpacing = [_SPACING_MM, _SPACING_MM]
    dataset.SliceThickness = "1"


def _add_pixels(dataset: Dataset, values: npt.NDArray[np.int16]) -> None:
    dataset.SamplesPerPixel = 1
    dataset.PhotometricInterpretation = "MONOCHROME2"
    dataset.Rows, dataset.Columns = values.shape
    dataset.BitsAllocated, dataset.BitsStored, dataset.HighBit = 16, 16, 15
    dataset.PixelRepresentation = 1
    dataset.RescaleIntercept, dataset.RescaleSlope = "0", "1"
    dataset.RescaleType = "HU"
    dataset.WindowCenter, dataset.WindowWidth = "40", "400"
    dataset.PixelData = np.ascontiguousarray(values, dtype="<i2").tobytes()
