"""The grey-scale pipeline of PS3.4 once more, slowly and without our code.

Everything in double precision, pixel by pixel formulas written down from PS3.3
C.11.1, C.11.2 and C.11.6; no tables, no shortcuts, nothing shared with viewer.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from pydicom.dataset import Dataset

Floats = npt.NDArray[np.float64]


def windowed(x: Floats, center: float, width: float, function: str) -> Floats:
    """Return 0-255 for modality values."""
    out = np.empty(x.shape)
    if function == "SIGMOID":
        with np.errstate(over="ignore"):
            out[...] = 255.0 / (1.0 + np.exp(-4.0 * (x - center) / width))
        return out
    if function == "LINEAR_EXACT":
        low, high = center - width / 2.0, center + width / 2.0
        ramp = ((x - center) / width + 0.5) * 255.0
    else:
        low = center - 0.5 - (width - 1.0) / 2.0
        high = center - 0.5 + (width - 1.0) / 2.0
        safe = width - 1.0 if width > 1.0 else 1.0
        ramp = ((x - (center - 0.5)) / safe + 0.5) * 255.0
    out[...] = ramp
    out[x > high] = 255.0
    out[x <= low] = 0.0
    return out


def looked_up(x: Floats, entries: npt.NDArray[Any], first: int) -> Floats:
    """Return the entry for each value, the first and last beyond the ends."""
    out = np.empty(x.shape)
    for place in np.ndindex(x.shape):
        index = min(max(int(x[place]) - first, 0), len(entries) - 1)
        out[place] = float(entries[index])
    return out


def shown(dataset: Dataset, stored: npt.NDArray[Any]) -> Floats:
    """Return the 0-255 picture of one grey frame of a simple single-frame file."""
    x = _modality(dataset, stored.astype(np.float64))
    padding = _padding(dataset, stored)
    grey = _voi(dataset, x, padding)
    shape = dataset.get("PresentationLUTShape")
    inverted = dataset.PhotometricInterpretation == "MONOCHROME1"
    if shape in {"IDENTITY", "INVERSE"}:
        inverted = shape == "INVERSE"
    grey = 255.0 - grey if inverted else grey
    grey[padding] = 0.0
    return grey


def _modality(dataset: Dataset, x: Floats) -> Floats:
    if dataset.get("ModalityLUTSequence"):
        item = dataset.ModalityLUTSequence[0]
        return looked_up(x, _entries(item), int(item.LUTDescriptor[1]))
    slope = float(dataset.get("RescaleSlope") or 1.0)
    return x * slope + float(dataset.get("RescaleIntercept") or 0.0)


def _entries(item: Dataset) -> npt.NDArray[Any]:
    data, count = item.LUTData, int(item.LUTDescriptor[0]) or 65536
    if isinstance(data, bytes):
        return np.frombuffer(data, "<u2" if len(data) >= 2 * count else "u1")[:count]
    return np.array(data)[:count]


def _padding(dataset: Dataset, stored: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    value = dataset.get("PixelPaddingValue")
    if value is None:
        return np.zeros(stored.shape, dtype=bool)
    limit = dataset.get("PixelPaddingRangeLimit")
    ends = sorted((int(value), int(value if limit is None else limit)))
    return (stored >= ends[0]) & (stored <= ends[1])


def _first(value: Any) -> float:  # noqa: ANN401 - DICOM values are what they are
    return float(value if isinstance(value, (int, float)) else value[0])


def _voi(dataset: Dataset, x: Floats, padding: npt.NDArray[np.bool_]) -> Floats:
    if dataset.get("VOILUTSequence"):
        item = dataset.VOILUTSequence[0]
        bits = int(item.LUTDescriptor[2])
        entries = looked_up(x, _entries(item), int(item.LUTDescriptor[1]))
        return entries / (2.0**bits - 1.0) * 255.0
    if dataset.get("WindowCenter") is not None and dataset.WindowCenter != "":
        center, width = _first(dataset.WindowCenter), _first(dataset.WindowWidth)
        return windowed(x, center, width, dataset.get("VOILUTFunction", "LINEAR"))
    measured = x[~padding]
    low, high = float(measured.min()), float(measured.max())
    if low == high:
        return np.zeros(x.shape)
    return (x - low) / (high - low) * 255.0
