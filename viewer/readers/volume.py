"""NIfTI, NRRD and MetaImage volumes through SimpleITK; a frame is a slice.

Slices run along the last axis of the file, which is the first of the array SimpleITK
gives. A volume's values are modality units already, without a window.
"""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.image import Photometric, PixelImage, Spacing, SpacingMeaning
from viewer.readers.refusal import DAMAGED, refusing

SUFFIXES = (".nii", ".nii.gz", ".nrrd", ".nhdr", ".mha", ".mhd")
MAX_VOXELS = 1 << 31
"""More than this is taken for a damaged header."""


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
        spacing = reader.GetSpacing()
    measured = Spacing(spacing[1], spacing[0], SpacingMeaning.PATIENT)
    if pixels.shape[2] == 3 and pixels.dtype == np.uint8:
        return PixelImage(pixels, Photometric.RGB, spacing=measured)
    grey = np.ascontiguousarray(pixels[:, :, 0])
    if grey.dtype == np.float64:
        grey = grey.astype(np.float32)
    return PixelImage(grey, Photometric.MONOCHROME2, spacing=measured)


def volume_size(path: Path) -> tuple[SizePx, int]:
    """Return rows and columns of a slice and the number of slices."""
    with refusing(path, "cannot be read as a volume"):
        return _size(_header(path), path)


def load_volume(path: Path) -> npt.NDArray[Any]:
    """Return all values as (slices, rows, columns)."""
    with refusing(path, "cannot be read as a volume"):
        reader = _header(path)
        size, slices = _size(reader, path)
        return _array(reader.Execute()).reshape(slices, size.rows, size.columns)


def _simpleitk() -> Any:  # noqa: ANN401 - SimpleITK has no types
    return importlib.import_module("SimpleITK")


def _header(path: Path) -> Any:  # noqa: ANN401 - as above
    sitk = _simpleitk()
    sitk.ProcessObject.SetGlobalWarningDisplay(False)
    path.stat()
    reader = sitk.ImageFileReader()
    reader.SetFileName(str(path))
    reader.ReadImageInformation()
    return reader


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
