"""DICOM files to pixels: opening, decoding, and the first half of PS3.4 N.2.1."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pydicom
from pydicom import uid
from pydicom.dataset import Dataset
from pydicom.errors import InvalidDicomError

from viewer.domain.errors import UnreadableInputError
from viewer.domain.image import Photometric, PixelImage, PresentationShape
from viewer.readers.dicom import values as dicom_values
from viewer.readers.dicom.bounds import (
    check_frames,
    frame_count,
    held_bytes,
    may_be_dataset,
)
from viewer.readers.dicom.color import apply_palette, to_rgb
from viewer.readers.dicom.geometry import geometry_of
from viewer.readers.dicom.pixel_form import pixel_form
from viewer.readers.dicom.stored_frame import (
    PIXELS,
    SYNTAXES,
    StoredFrame,
    stored_frame,
)
from viewer.readers.files.refusal import DAMAGED, refusing

MAX_PIXELS = 1 << 28
"""A single frame beyond this is taken for a damaged header, not for an image."""


def load_dicom(path: Path, frame: int = 0) -> PixelImage:
    """Return one frame of a DICOM image in modality units.

    Raises
    ------
    UnreadableInputError
        If the file is not a DICOM image, is damaged, or has no such frame.
    """
    with refusing(path):
        dataset = open_dataset(path)
        _check_frame(dataset, path, frame)
        stored = _stored(dataset, path, frame)
        if stored.color == "PALETTE COLOR":
            return _color_image(dataset, apply_palette(dataset, stored.samples), frame)
        if stored.samples.ndim == 3:
            rgb = to_rgb(stored.samples, stored.color, stored.bits)
            return _color_image(dataset, rgb, frame)
        return _grey_image(dataset, stored, frame)


def _stored(dataset: Dataset, path: Path, frame: int) -> StoredFrame:
    with refusing(path, "cannot be decoded"):
        return stored_frame(dataset, pixel_form(dataset), frame)


def stored_pixels(path: Path) -> npt.NDArray[Any]:
    """Return every frame as stored, before any look-up table.

    (rows, columns), with frames as first axis if there are several and samples as last
    axis if there are three.
    """
    with refusing(path):
        dataset = open_dataset(path)
        frames = range(frame_count(dataset))
        stored = [_stored(dataset, path, frame).samples for frame in frames]
        return np.stack(stored) if len(stored) > 1 else stored[0]


def open_dataset(path: Path) -> Dataset:
    """Return the data set of an image file; its transfer syntax must be known.

    A file without the preamble of PS3.10 is accepted if it contains an image anyway;
    its transfer syntax is then the detected one.
    """
    with refusing(path):
        try:
            # First: dcmread would inflate a deflated data set of any size into memory.
            held = held_bytes(path)
            dataset: Dataset = pydicom.dcmread(path)
        except InvalidDicomError:
            dataset = _without_preamble(path)
        _check_image(dataset, path)
        _check_transfer_syntax(dataset, path)
        # After the transfer syntax is known: the least size of a frame depends on it.
        check_frames(dataset, path, held)
    return dataset


def _without_preamble(path: Path) -> Dataset:
    refusal = UnreadableInputError(
        f"{path.name} is not a DICOM file.",
        "Open a DICOM, PNG, JPEG, TIFF, NIfTI, NRRD or MetaImage file.",
    )
    with refusing(path, "is not a DICOM file", "Open a DICOM or other image file."):
        with path.open("rb") as stream:
            if not may_be_dataset(stream):
                raise refusal
            dataset = pydicom.dcmread(stream, force=True)
        if "Rows" not in dataset and "SOPClassUID" not in dataset:
            raise refusal
    return dataset


def _check_image(dataset: Dataset, path: Path) -> None:
    if not any(keyword in dataset for keyword in PIXELS):
        stored = dataset.file_meta.get("MediaStorageSOPClassUID", "")
        kind = uid.UID(str(dataset.get("SOPClassUID") or stored)).name
        raise UnreadableInputError(
            f"{path.name} contains no pixels{kind and ': '}{kind}.",
            "Open an image; if it should be one, export it again.",
        )
    rows, columns = int(dataset.get("Rows") or 0), int(dataset.get("Columns") or 0)
    if rows < 1 or columns < 1 or rows * columns > MAX_PIXELS:
        raise UnreadableInputError(
            f"{path.name} claims an impossible size of {columns} × {rows} pixels.",
            DAMAGED,
        )


def _check_transfer_syntax(dataset: Dataset, path: Path) -> None:
    syntax = dataset.file_meta.get("TransferSyntaxUID")
    if not syntax:
        # No file meta group: pydicom has guessed the encoding from the first elements.
        implicit, little = dataset.original_encoding
        explicit = uid.ExplicitVRLittleEndian if little else uid.ExplicitVRBigEndian
        syntax = uid.ImplicitVRLittleEndian if implicit else explicit
        dataset.file_meta.TransferSyntaxUID = syntax
    if syntax not in SYNTAXES:
        raise UnreadableInputError(
            f"{path.name} is compressed by {syntax.name}, which cannot be decoded.",
            "Convert it to Explicit VR Little Endian, for instance with dcmtk.",
        )


def _check_frame(dataset: Dataset, path: Path, frame: int) -> None:
    frames = frame_count(dataset)
    if not 0 <= frame < frames:
        raise UnreadableInputError(
            f"{path.name} has {frames} frames; there is no frame {frame}.",
            f"Choose 0 to {frames - 1}.",
        )


def _color_image(
    dataset: Dataset, rgb: npt.NDArray[np.uint8], frame: int
) -> PixelImage:
    return PixelImage(rgb, Photometric.RGB, geometry=geometry_of(dataset, frame))


def _grey_image(dataset: Dataset, stored: StoredFrame, frame: int) -> PixelImage:
    samples = stored.samples
    signed = samples.dtype.kind == "i"
    transform = dicom_values.modality_transform(dataset, frame, signed=signed)
    value_range = transform.range_of(dicom_values.stored_range(stored))
    shape = str(dataset.get("PresentationLUTShape") or "")
    return PixelImage(
        transform.apply(samples),
        Photometric(stored.color),
        units=transform.units,
        rescale=(transform.slope, transform.intercept),
        windows=dicom_values.windows(dataset, frame),
        voi_luts=dicom_values.voi_luts(dataset, frame, value_range),
        presentation_shape=PresentationShape(shape)
        if shape in set(PresentationShape)
        else None,
        padding=dicom_values.padding(dataset, samples),
        geometry=geometry_of(dataset, frame),
        value_range=value_range,
    )
