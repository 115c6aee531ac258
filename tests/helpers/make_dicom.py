"""Small DICOM files with any attribute set or left out, and a DX image to write."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import UID, ExplicitVRLittleEndian, SecondaryCaptureImageStorage

from viewer.domain.case import View
from viewer.writers.dicom_dx import DxHeader


def dicom_dataset(
    pixels: npt.NDArray[Any], *, bits_stored: int | None = None, **attributes: object
) -> Dataset:
    """Return an image data set of (rows, columns[, 3]) integers.

    ``attributes`` are DICOM keywords and override what follows from the pixels; None
    leaves one out.
    """
    dataset = Dataset()
    dataset.SOPClassUID = SecondaryCaptureImageStorage
    dataset.SOPInstanceUID = "1.2.3.4.5"
    dataset.StudyInstanceUID = "1.2.3"
    dataset.SeriesInstanceUID = "1.2.3.4"
    dataset.PatientID = "somebody"
    dataset.Modality = "OT"
    dataset.Rows, dataset.Columns = pixels.shape[:2]
    dataset.SamplesPerPixel = 3 if pixels.ndim == 3 else 1
    dataset.PhotometricInterpretation = "RGB" if pixels.ndim == 3 else "MONOCHROME2"
    if pixels.ndim == 3:
        dataset.PlanarConfiguration = 0
    dataset.BitsAllocated = pixels.dtype.itemsize * 8
    dataset.BitsStored = bits_stored or dataset.BitsAllocated
    dataset.HighBit = dataset.BitsStored - 1
    dataset.PixelRepresentation = 1 if pixels.dtype.kind == "i" else 0
    raw = np.ascontiguousarray(pixels).astype(pixels.dtype.newbyteorder("<")).tobytes()
    dataset.PixelData = raw + b"\0" * (len(raw) % 2)
    dataset["PixelData"].VR = "OB" if dataset.BitsAllocated <= 8 else "OW"
    for keyword, value in attributes.items():
        if value is None:
            delattr(dataset, keyword)
        else:
            setattr(dataset, keyword, value)
    return dataset


def save_dicom(
    dataset: Dataset, path: Path, syntax: UID = ExplicitVRLittleEndian
) -> Path:
    """Write a data set as a PS3.10 file."""
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = syntax
    dataset.file_meta.MediaStorageSOPClassUID = dataset.SOPClassUID
    dataset.file_meta.MediaStorageSOPInstanceUID = dataset.SOPInstanceUID
    dataset.save_as(path, enforce_file_format=True)
    return path


def make_dicom(
    path: Path,
    pixels: npt.NDArray[Any],
    *,
    bits_stored: int | None = None,
    **attributes: object,
) -> Path:
    """Write an image of ``pixels``; see :func:`dicom_dataset`."""
    return save_dicom(
        dicom_dataset(pixels, bits_stored=bits_stored, **attributes), path
    )


DX_HEADER = DxHeader(
    collection="phantom-0-40x50",
    patient_id="patient00001",
    study_name="patient00001/study1",
    name="patient00001_study1_view1_frontal",
    number=1,
    view=View.FRONTAL,
    sex="F",
    spacing_mm=0.875,
    inverted=False,
    compressed=False,
)
DX_VALUES = np.random.default_rng(0).integers(0, 4096, (50, 40), dtype=np.uint16)
