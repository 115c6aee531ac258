"""Tiny data sets on disk, written by hand."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.uid import UID, ExplicitVRLittleEndian, generate_uid

from viewer.domain import rle

ROWS, COLUMNS = 6, 8
DX_IMAGE_STORAGE = UID("1.2.840.10008.5.1.4.1.1.1.1")
LABEL_COLUMNS = ("Cardiomegaly", "Lung Opacity", "Edema", "Pneumonia")


def grey(rows: int = ROWS, columns: int = COLUMNS) -> npt.NDArray[np.uint8]:
    """Return a small ramp."""
    ramp = np.arange(rows * columns, dtype=np.uint8)
    return ramp.reshape(rows, columns)


def write_picture(path: Path, pixels: npt.NDArray[np.uint8] | None = None) -> Path:
    """Write a grey PNG, JPEG or TIFF, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(grey() if pixels is None else pixels).save(path)
    return path


def write_dicom(
    path: Path,
    *,
    view_position: str = "",
    patient_id: str = "",
    frames: int = 1,
    modality: str = "DX",
) -> Path:
    """Write a small uncompressed radiograph, with its folders."""
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = DX_IMAGE_STORAGE
    meta.MediaStorageSOPInstanceUID = generate_uid()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    ds = FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
    ds.SOPClassUID = meta.MediaStorageSOPClassUID
    ds.SOPInstanceUID = meta.MediaStorageSOPInstanceUID
    ds.Modality = modality
    ds.PatientID = patient_id
    ds.StudyInstanceUID = generate_uid(entropy_srcs=["study", patient_id])
    ds.SeriesInstanceUID = generate_uid(entropy_srcs=["series", str(path)])
    ds.ViewPosition = view_position
    ds.Rows, ds.Columns = ROWS, COLUMNS
    ds.SamplesPerPixel = 1
    ds.PhotometricInterpretation = "MONOCHROME2"
    ds.BitsAllocated, ds.BitsStored, ds.HighBit = 8, 8, 7
    ds.PixelRepresentation = 0
    if frames > 1:
        ds.NumberOfFrames = frames
    ds.PixelData = grey().tobytes() * frames
    path.parent.mkdir(parents=True, exist_ok=True)
    ds.save_as(path, enforce_file_format=True)
    return path


def square(
    rows: int = ROWS, columns: int = COLUMNS, side: int = 2
) -> npt.NDArray[np.bool_]:
    """Return a mask whose upper left square is set."""
    mask = np.zeros((rows, columns), dtype=bool)
    mask[:side, :side] = True
    return mask


def coded(mask: npt.NDArray[np.bool_]) -> dict[str, object]:
    """Return a mask as CheXlocalize writes it."""
    rows, columns = mask.shape
    return {"size": [int(rows), int(columns)], "counts": rle.encode(mask)}


class SmallChexlocalize:
    """A CheXlocalize folder that a test fills."""

    def __init__(self, root: Path, split: str = "test") -> None:
        self.root = root
        self.split = split
        self.masks = root / "CheXlocalize" / f"gt_segmentations_{split}.json"
        self.table = root / "CheXpert" / f"{split}_labels.csv"

    def image_path(self, key: str, suffix: str = ".jpg") -> Path:
        """Return where the image of an id lies."""
        patient, study, view = key.split("_", 2)
        folder = self.root / "CheXpert" / self.split / patient / study
        return folder / f"{view}{suffix}"

    def picture(self, key: str, suffix: str = ".jpg") -> Path:
        """Write an image by its id."""
        return write_picture(self.image_path(key, suffix))

    def segment(self, entries: Mapping[str, object]) -> None:
        """Write the mask file."""
        self.masks.parent.mkdir(parents=True, exist_ok=True)
        self.masks.write_text(json.dumps(entries), encoding="utf-8")

    def label(self, rows: Mapping[str, Sequence[str]], prefix: str = "") -> None:
        """Write the label table; values in the order of LABEL_COLUMNS."""
        prefix = prefix or f"CheXpert/{self.split}"
        lines = [",".join(("Path", *LABEL_COLUMNS))]
        for key, values in rows.items():
            path = "/".join(key.split("_", 2))
            lines.append(",".join((f"{prefix}/{path}.jpg", *values)))
        self.table.parent.mkdir(parents=True, exist_ok=True)
        self.table.write_text("\n".join(lines) + "\n", encoding="utf-8")
