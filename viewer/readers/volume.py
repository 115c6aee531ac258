"""NIfTI, NRRD and MetaImage volumes through SimpleITK; a frame is a slice.

Slices run along the last axis of the file, which is the first of the array SimpleITK
gives. A volume's values are modality units already, without a window.
"""

import importlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.image import Photometric, PixelImage
from viewer.domain.image_geometry import ImageGeometry, Spacing, SpacingMeaning
from viewer.readers.refusal import DAMAGED, refusing
from viewer.readers.side_files import (
    is_nifti,
    most_inflated,
    nifti_bits,
    volume_parts,
)

SUFFIXES = (".nii", ".nii.gz", ".nrrd", ".nhdr", ".mha", ".mhd")
MAX_VOXELS = 1 << 31
"""More than this is taken for a damaged header."""
_NUMBER: Final = re.compile(r"\d+")


_READERS: Final = {
    ".nii": "NiftiImageIO",
    ".nii.gz": "NiftiImageIO",
    ".nrrd": "NrrdImageIO",
    ".nhdr": "NrrdImageIO",
    ".mha": "MetaImageIO",
    ".mhd": "MetaImageIO",
}
"""SimpleITK's readers by the end of a file's name."""


def is_volume_name(path: Path) -> bool:
    """Tell by its name whether a file is a volume."""
    return path.name.lower().endswith(SUFFIXES)


def load_slice(path: Path, frame: int = 0) -> PixelImage:
    """Return one slice of a volume: integers or float32 grey, or uint8 RGB."""
    with refusing(path, "cannot be read as a volume"):
        reader = _header(path)
        size, slices = _size(reader, path)
        if not 0 <= frame < slices:
            raise UnreadableInputError(
                f"{path.name} has {slices} slices, number {frame} is not one of them.",
                f"Choose 0 to {slices - 1}.",
            )
        pixels = _read_slice(reader, frame).reshape(size.rows, size.columns, -1)
        geometry = _geometry(reader, size)
    if pixels.shape[2] == 3 and pixels.dtype == np.uint8:
        return PixelImage(pixels, Photometric.RGB, geometry=geometry)
    grey = np.ascontiguousarray(pixels[:, :, 0])
    if grey.dtype == np.float64:
        grey = grey.astype(np.float32)
    return PixelImage(grey, Photometric.MONOCHROME2, geometry=geometry)


def volume_geometries(path: Path) -> tuple[tuple[ImageGeometry, ...], int]:
    """Return the one geometry of all slices, and the number of slices."""
    with refusing(path, "cannot be read as a volume"):
        reader = _header(path)
        size, slices = _size(reader, path)
        return (_geometry(reader, size),), slices


def _geometry(reader: Any, size: SizePx) -> ImageGeometry:  # noqa: ANN401 - as below
    column_mm, row_mm = (*reader.GetSpacing(), 0.0)[:2]
    spacing = Spacing.known(row_mm, column_mm, SpacingMeaning.PATIENT)
    return ImageGeometry(size, spacing)


def _simpleitk() -> Any:  # noqa: ANN401 - SimpleITK has no types
    return importlib.import_module("SimpleITK")


def _header(path: Path) -> Any:  # noqa: ANN401 - as above
    sitk = _simpleitk()
    sitk.ProcessObject.SetGlobalWarningDisplay(False)
    parts = volume_parts(path)
    reader = sitk.ImageFileReader()
    reader.SetImageIO(_library_reader(path))
    reader.SetFileName(str(path))
    reader.ReadImageInformation()
    _check_bytes(reader, path, parts)
    return reader


def _library_reader(path: Path) -> str:
    """Return who reads a file of this name: its content must not choose another."""
    name = path.name.lower()
    return next(reader for suffix, reader in _READERS.items() if name.endswith(suffix))


def _check_bytes(reader: Any, path: Path, parts: Sequence[Path]) -> None:  # noqa: ANN401 - as above
    """Refuse more slices than the bytes of a volume's files hold, unpacked."""
    size, slices = _size(reader, path)
    bits = (
        size.rows * size.columns * reader.GetNumberOfComponents() * _bits(reader, path)
    )
    held = sum(part.stat().st_size for part in parts) * most_inflated(path)
    most = max(1, held * 8 // bits)
    if slices > most:
        raise UnreadableInputError(
            f"{path.name} says that it has {slices:,} slices; its bytes hold at most "
            f"{most:,}.",
            DAMAGED,
        )


def _bits(reader: Any, path: Path) -> int:  # noqa: ANN401 - as above
    """Return how many bits a value has in the file."""
    if is_nifti(path):
        return nifti_bits(path) // int(reader.GetNumberOfComponents())
    kind = _simpleitk().GetPixelIDValueAsString(reader.GetPixelIDValue())
    return next((int(word) for word in _NUMBER.findall(kind)), 8)


def _size(reader: Any, path: Path) -> tuple[SizePx, int]:  # noqa: ANN401 - as above
    extent = [int(n) for n in reader.GetSize()]
    columns, rows = extent[0], extent[1] if len(extent) > 1 else 1
    slices = int(np.prod(extent[2:], dtype=np.int64)) if len(extent) > 2 else 1
    if min(extent) < 1 or rows * columns * slices > MAX_VOXELS:
        raise UnreadableInputError(
            f"{path.name} says that it is {' × '.join(map(str, extent))} voxels.",
            DAMAGED,
        )
    return SizePx(rows, columns), slices


def _read_slice(reader: Any, frame: int) -> npt.NDArray[Any]:  # noqa: ANN401 - as above
    """Read one slice, from the file alone where its format allows."""
    extent = [int(n) for n in reader.GetSize()]
    if len(extent) > 2:
        start = [0, 0, *_position(frame, extent[2:])]
        reader.SetExtractIndex(start)
        reader.SetExtractSize([*extent[:2], *([1] * (len(extent) - 2))])
    return _array(reader.Execute())


def _position(frame: int, extent: list[int]) -> list[int]:
    position = []
    for n in extent:
        position.append(frame % n)
        frame //= n
    return position


def _array(image: Any) -> npt.NDArray[Any]:  # noqa: ANN401 - as above
    return np.asarray(_simpleitk().GetArrayFromImage(image))
