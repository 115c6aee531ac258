"""The headers of NIfTI-1 and NIfTI-2 files, through nibabel."""

import gzip
import math
from pathlib import Path
from typing import Any, Final

import numpy as np

from viewer.domain.errors import UnreadableInputError
from viewer.readers.volumes.header import (
    Packing,
    Part,
    Steps,
    VolumeHeader,
    known_affine,
)

_KINDS: Final = ((b"n+1\0", 344, 348), (b"n+2\0", 4, 540))
"""How each version shows itself, where, and how long its header is."""
_MM: Final = {1: 1e3, 3: 1e-3}
"""Millimetres in metres and micrometres, by their codes; anything else has them."""
_UNITS_OF_SPACE: Final = 7
_TO_LPS: Final = np.diag([-1.0, -1.0, 1.0])
"""NIfTI's x runs to the right and its y to the front."""
_VECTOR: Final = 1007
"""The intent of an image whose fifth axis holds the components of a vector."""


def read_nifti_header(path: Path) -> VolumeHeader:
    """Return the header of a NIfTI file of one part.

    The direction is that of the sform if it has a code, else that of the qform if it
    has one. With neither, "no particular spatial orientation is attached" to the axes
    (nifti1.h, method 1), and ``affine`` is None.

    Raises
    ------
    UnreadableInputError
        If it is not a single-file NIfTI: the pixels of a pair are in a file with
        another name.
    """
    packed = path.name.lower().endswith(".gz")
    header = _header(path, packed=packed)
    dtype, shape, components = header.get_data_dtype(), header.get_data_shape(), None
    if colors := dtype.names or ():  # RGB or RGBA
        dtype, shape, components = np.dtype(np.uint8), (len(colors), *shape), 0
    elif len(shape) > 4 and int(header["intent_code"]) == _VECTOR:
        components = 4
    slope, intercept = header.get_slope_inter()
    mm = _MM.get(int(header["xyzt_units"]) & _UNITS_OF_SPACE, 1.0)
    return VolumeHeader(
        tuple(int(n) for n in shape),
        dtype,
        (Part(path),),
        Packing.DEFLATE if packed else Packing.NONE,
        # At less the header itself would be read as values.
        skip=max(int(header["vox_offset"]), header.single_vox_offset),
        components=components,
        # nibabel gives None for a slope of 0, which means no scaling (nifti1.h).
        slope=1.0 if slope is None else slope,
        intercept=0.0 if intercept is None else intercept,
        affine=_affine(header, mm),
        spacing=(mm * float(header["pixdim"][1]), mm * float(header["pixdim"][2])),
    )


def _header(path: Path, *, packed: bool) -> Any:  # noqa: ANN401 - half of it has types
    from nibabel.nifti1 import Nifti1Header
    from nibabel.nifti2 import Nifti2Header

    with (gzip.open if packed else open)(path, "rb") as stream:
        start = stream.read(_KINDS[-1][-1])
    kinds: tuple[Any, ...] = (Nifti1Header, Nifti2Header)
    for kind, (magic, at, length) in zip(kinds, _KINDS, strict=True):
        if start[at : at + len(magic)] == magic:
            return kind(start[:length], check=False)
    raise UnreadableInputError(
        f"{path.name} cannot be read as a volume: it is not a single-part NIfTI file.",
        "Convert it to a single .nii or .nii.gz file.",
    )


def _affine(header: Any, mm: float) -> Steps | None:  # noqa: ANN401 - as above
    """Return the affine of the sform or qform that has a code, None if neither has."""
    sizes = header["pixdim"]
    sizes[0] = -1 if sizes[0] < 0 else 1  # 0 is taken for 1, says nifti1.h
    sizes[1:4] = np.abs(sizes[1:4])
    header.quaternion_threshold = -math.inf  # one that is too long is shortened
    if header["sform_code"] > 0:
        to_ras = header.get_sform()
    elif header["qform_code"] > 0:
        to_ras = header.get_qform()
    else:
        return None
    to_lps = mm * _TO_LPS @ to_ras[:3]
    return known_affine(to_lps[:, :3], to_lps[:, 3])
