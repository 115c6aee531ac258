"""Frames of the public DICOM files, decoded by what the readers do not decode with."""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from imagecodecs import htj2k_decode, jpeg2k_decode
from pydicom import uid
from pydicom.dataset import Dataset
from pydicom.encaps import get_frame
from pydicom.pixels.utils import get_j2k_parameters, pixel_array

from tests.helpers import dcmtk
from tests.helpers.pydicom_files import pydicom_files
from tests.helpers.reference_pipeline import of_bits

_HTJ2K = {uid.HTJ2K, uid.HTJ2KLossless, uid.HTJ2KLosslessRPCL}
_BY_DCMTK = {uid.JPEGExtended12Bit, uid.JPEGLossless, uid.JPEGLosslessSV1}
_PLUGINS = {
    uid.JPEGBaseline8Bit: "pillow",
    uid.JPEGLSLossless: "pyjpegls",
    uid.JPEGLSNearLossless: "pyjpegls",
    uid.RLELossless: "pylibjpeg",
}


def public_files() -> list[Path]:
    """Return pydicom's files and, where they are at hand, those of the shared data."""
    shared = Path(__file__).parents[3] / "shared" / "data" / "dicom"
    return [*pydicom_files(), *sorted(p for p in shared.rglob("*") if p.is_file())]


def public_samples(
    path: Path, dataset: Dataset, frame: int
) -> tuple[npt.NDArray[Any], str, int] | None:
    """Return samples, what they are (GREY, PALETTE, RGB or YBR_FULL) and their bits.

    None where no other decoder reads the file.
    """
    syntax = dataset.file_meta.get("TransferSyntaxUID")
    try:
        if syntax in uid.JPEG2000TransferSyntaxes:
            samples = _by_imagecodecs(dataset, frame)
        elif syntax in _BY_DCMTK:
            samples = _by_dcmtk(path, frame)
        else:
            plugin = _PLUGINS.get(syntax, "")
            samples = pixel_array(path, index=frame, decoding_plugin=plugin)
    except (AttributeError, NotImplementedError, RuntimeError, ValueError):
        return None
    photometric = str(dataset.PhotometricInterpretation)
    if samples.ndim == 3:
        return samples, "RGB", int(dataset.BitsStored)
    kind = "PALETTE" if photometric == "PALETTE COLOR" else "GREY"
    return samples, kind, int(dataset.get("BitsStored") or 32)


def _by_imagecodecs(dataset: Dataset, frame: int) -> npt.NDArray[Any]:
    frames = int(dataset.get("NumberOfFrames") or 1)
    data = get_frame(dataset.PixelData, frame, number_of_frames=frames)
    syntax = dataset.file_meta.TransferSyntaxUID
    samples = np.asarray((htj2k_decode if syntax in _HTJ2K else jpeg2k_decode)(data))
    if dataset.PixelRepresentation and samples.dtype.kind == "u":
        bits = int(get_j2k_parameters(data)["precision"])
        return np.asarray(of_bits(samples, bits, bits - 1, signed=True))
    return samples


def _by_dcmtk(path: Path, frame: int) -> npt.NDArray[Any]:
    if not dcmtk.AVAILABLE:
        raise NotImplementedError("dcmtk is not installed")
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.dcm"
        subprocess.run(["dcmdjpeg", "-q", path, plain], check=True)
        return pixel_array(plain, index=frame)
