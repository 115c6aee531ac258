"""Frames of the public DICOM files, decoded and shown by what the readers do not use.

dcmtk is no dependency and may be absent.
"""

import shutil
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

from tests.helpers.public_files import SHARED, pydicom_files
from tests.helpers.reference_pipeline import of_bits

DCMTK = shutil.which("dcm2pnm") is not None
_WORDS = {
    uid.ImplicitVRLittleEndian,
    uid.ExplicitVRLittleEndian,
    uid.ExplicitVRBigEndian,
    uid.DeflatedExplicitVRLittleEndian,
    uid.RLELossless,
    None,
}


def dcmtk_picture(
    path: Path, dataset: Dataset, frame: int = 0
) -> npt.NDArray[np.uint8] | None:
    """Return a frame as (rows, columns) grey or (rows, columns, 3) RGB.

    With the file's first VOI LUT, else its first window, else from the least value to
    the greatest, and without overlays. None where dcmtk cannot show it.
    """
    program = _program(dataset.file_meta.get("TransferSyntaxUID"))
    if program is None:
        return None
    command = [
        program,
        "-q",
        "-O",
        "+op",
        "+F",
        str(frame + 1),
        *_look(dataset),
        str(path),
    ]
    done = subprocess.run(command, capture_output=True)
    return None if done.returncode or not done.stdout else _read_pnm(done.stdout)


def _program(syntax: Any) -> str | None:  # noqa: ANN401 - pydicom's UID
    if syntax in _WORDS:
        return "dcm2pnm"
    if syntax in uid.JPEGTransferSyntaxes:
        return "dcmj2pnm"
    return "dcml2pnm" if syntax in uid.JPEGLSTransferSyntaxes else None


def _look(dataset: Dataset) -> list[str]:
    if not str(dataset.get("PhotometricInterpretation")).startswith("MONOCHROME"):
        return []
    options = ["+Wm"]
    if any(item.get("LUTData") for item in dataset.get("VOILUTSequence") or ()):
        options = ["+Wl", "1"]
    elif str(dataset.get("WindowCenter") or "") and dataset.get("WindowWidth"):
        options = ["+Wi", "1"]
    if dataset.get("VOILUTFunction") == "SIGMOID":
        options.append("+Wfs")
    shape = {"IDENTITY": "+Pid", "INVERSE": "+Piv"}.get(
        str(dataset.get("PresentationLUTShape"))
    )
    return [*options, *([shape] if shape else [])]


def _read_pnm(data: bytes) -> npt.NDArray[np.uint8]:
    """Return the pixels of a raw PGM or PPM of 8 bits."""
    magic, width, height, _ = data.split(maxsplit=4)[:4]
    shape = (int(height), int(width), *((3,) if magic == b"P6" else ()))
    return np.frombuffer(data[-int(np.prod(shape)) :], np.uint8).reshape(shape)


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
    return [
        *pydicom_files(),
        *sorted(p for p in (SHARED / "dicom").rglob("*") if p.is_file()),
    ]


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
    if not DCMTK:
        raise NotImplementedError("dcmtk is not installed")
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.dcm"
        subprocess.run(["dcmdjpeg", "-q", path, plain], check=True)
        return pixel_array(plain, index=frame)
