"""Pictures that dcmtk makes of DICOM files; it is no dependency and may be absent."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydicom import uid
from pydicom.dataset import Dataset

AVAILABLE = shutil.which("dcm2pnm") is not None
_WORDS = {
    uid.ImplicitVRLittleEndian,
    uid.ExplicitVRLittleEndian,
    uid.ExplicitVRBigEndian,
    uid.DeflatedExplicitVRLittleEndian,
    uid.RLELossless,
    None,
}


def picture(
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
