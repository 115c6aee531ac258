"""NIfTI, NRRD and MetaImage volumes; a frame is a slice in its usual orientation.

Slices run along the last axis of the file, those of a time series slice by slice.
A volume's values are modality units already, without a window.
"""

import math
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from viewer.domain.errors import UnreadableInputError
from viewer.domain.file_header import MOST_FRAMES
from viewer.domain.geometry import PointMm, SizePx
from viewer.domain.image import Photometric, PixelImage
from viewer.domain.image_geometry import ImageGeometry, Spacing, SpacingMeaning
from viewer.readers.files.refusal import DAMAGED, refusing
from viewer.readers.files.regular import regular_file
from viewer.readers.rasters.page import turned
from viewer.readers.volumes.header import Packing, Values, VolumeHeader
from viewer.readers.volumes.metaimage import read_metaimage_header
from viewer.readers.volumes.nifti import read_nifti_header
from viewer.readers.volumes.nrrd import read_nrrd_header
from viewer.readers.volumes.values import slice_values
from viewer.readers.volumes.view import VolumeView, standard_view

MAX_VOXELS = 1 << 31
"""More than this is taken for a damaged header."""
HEADERS: Final = {
    ".nii": read_nifti_header,
    ".nii.gz": read_nifti_header,
    ".nrrd": read_nrrd_header,
    ".nhdr": read_nrrd_header,
    ".mha": read_metaimage_header,
    ".mhd": read_metaimage_header,
}
"""Who reads a header, by the end of the file's name: its content chooses no other."""
_MOST_PER_BYTE: Final = {
    Packing.NONE: 1,
    Packing.DEFLATE: 1032,  # 258 bytes in two bits (RFC 1951)
    Packing.BZIP2: 1 << 15,
    Packing.TEXT: 4,  # eight bytes as a digit and a blank
    Packing.HEX: 1,
}
"""The most bytes of values that a byte of a file can be."""
_RGB: Final = 3


def load_slice(path: Path, frame: int = 0) -> PixelImage:
    """Return one slice of a volume: integers or float32 grey, or uint8 RGB.

    If a voxel's components are not colours, the first one is returned.
    """
    with refusing(path, "cannot be read as a volume"):
        header = _header(path)
        slices = math.prod(header.extent[2:])
        if not 0 <= frame < slices:
            raise UnreadableInputError(
                f"{path.name} has {slices} slices; there is no slice {frame}.",
                f"Choose 0 to {slices - 1}.",
            )
        view = standard_view(header.affine)
        index = _index(header, view, frame)
        color = header.dtype == np.uint8 and header.component_count in {_RGB, _RGB + 1}
        stored = slice_values(header, index, _RGB if color else 1)
    shown = turned(stored, view.orientation)
    geometry = _at(_geometry(header, view), header, index)
    if color:
        return PixelImage(shown, Photometric.RGB, geometry=geometry)
    grey = _in_units(shown[:, :, 0], header)
    return PixelImage(grey, Photometric.MONOCHROME2, geometry=geometry)


def volume_geometries(path: Path) -> tuple[tuple[ImageGeometry, ...], int]:
    """Return the geometry of each slice as shown, and the number of slices."""
    with refusing(path, "cannot be read as a volume"):
        header = _header(path)
        slices = math.prod(header.extent[2:])
        view = standard_view(header.affine)
        # More are refused: they need not be worked out.
        frames = range(min(slices, MOST_FRAMES) if header.affine is not None else 1)
        indices = (_index(header, view, frame) for frame in frames)
        first = _geometry(header, view)
        return tuple(_at(first, header, index) for index in indices), slices


def volume_parts(path: Path) -> tuple[Path, ...]:
    """Return the files of a volume, the named one first.

    Raises
    ------
    UnreadableInputError
        If it cannot be read, or refers to a file outside its folder, a link, or
        something else than a file.
    """
    with refusing(path, "cannot be read as a volume"):
        parts = (part.path for part in _header(path).parts)
        return (path, *(part for part in parts if part != path))


def _header(path: Path) -> VolumeHeader:
    regular_file(path)
    suffix = next(s for s in HEADERS if path.name.lower().endswith(s))
    header = HEADERS[suffix](path)
    extent = header.extent
    if min(header.shape) < 1 or math.prod(header.shape) > MAX_VOXELS:
        raise UnreadableInputError(
            f"{path.name} claims an impossible size of {' × '.join(map(str, extent))} "
            "voxels.",
            DAMAGED,
        )
    if header.dtype.kind not in "iuf":
        raise UnreadableInputError(
            f"{path.name} contains {header.dtype.name} values, which cannot be shown.",
            "Save their magnitude, or their real part.",
        )
    _check_bytes(header, path)
    return header


def _check_bytes(header: VolumeHeader, path: Path) -> None:
    """Refuse more slices than the decompressed bytes of a volume's files contain."""
    slices = math.prod(header.extent[2:])
    size = math.prod(header.shape) // slices * header.dtype.itemsize
    held = sum(part.path.stat().st_size for part in header.parts)
    most = max(1, held * _MOST_PER_BYTE[header.packing] // size)
    if slices > most:
        raise UnreadableInputError(
            f"{path.name} claims to have {slices:,} slices, but has bytes for at most "
            f"{most:,}.",
            DAMAGED,
        )


def _index(header: VolumeHeader, view: VolumeView, frame: int) -> tuple[int, ...]:
    """Return the index of a displayed slice in the file, without its own two axes."""
    found = []
    for count in header.extent[2:]:
        frame, at = divmod(frame, count)
        found.append(at)
    # Only the slices are reversed, never the time points behind them.
    if view.reversed and found:
        found[0] = header.extent[2] - 1 - found[0]
    return tuple(found)


def _geometry(header: VolumeHeader, view: VolumeView) -> ImageGeometry:
    """Return the geometry of the first stored slice as shown."""
    columns, rows = (*header.extent, 1)[:2]
    size, affine = SizePx(rows, columns), header.affine
    if affine is None:
        return ImageGeometry(size, _spacing(*(header.spacing or (0.0, 0.0))))
    lengths = np.linalg.norm(affine[:, :3], axis=0)
    cosines = (affine[:, :3] / lengths).T
    known = bool(np.isfinite(affine[:, 3]).all())
    return ImageGeometry(
        size,
        _spacing(float(lengths[0]), float(lengths[1])),
        axes=tuple(cosines[:2].ravel().tolist()),
        position=PointMm(*affine[:, 3].tolist()) if known else None,
    ).turned(view.orientation)


def _at(
    first: ImageGeometry, header: VolumeHeader, index: tuple[int, ...]
) -> ImageGeometry:
    """Return the geometry of a slice other than the first."""
    at = first.position
    if at is None or header.affine is None or not index:
        return first
    x, y, z = (index[0] * header.affine[:, 2]).tolist()
    return replace(first, position=PointMm(at.x + x, at.y + y, at.z + z))


def _spacing(column_mm: float, row_mm: float) -> Spacing | None:
    return Spacing.known(row_mm, column_mm, SpacingMeaning.PATIENT)


def _in_units(values: Values, header: VolumeHeader) -> Values:
    """Convert stored values to modality units, as float32 at most."""
    if (header.slope, header.intercept) != (1.0, 0.0):
        return (values * header.slope + header.intercept).astype(np.float32)
    plain = values.dtype.newbyteorder("=")
    return values.astype(np.float32 if plain.kind == "f" else plain, copy=False)
