"""Pixel values in a DICOM header: modality LUT, VOI, padding.

In a multi-frame file (PS3.3 C.7.6.16) the frame's own functional group goes before the
shared one, and that before the top level. Rescale slope and intercept apply to every
modality, also to MR and PET, so that windows and values agree with PS3.3 C.11.1 and
C.11.2 and with one another.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pydicom.dataset import Dataset

from viewer.domain.image import (
    LookupTable,
    VoiFunction,
    Window,
)
from viewer.readers.dicom.functional_groups import functional_group
from viewer.readers.dicom.luts import lookup_tables
from viewer.readers.dicom.stored_frame import StoredFrame, limits


@dataclass(frozen=True, eq=False)
class ModalityTransform:
    """Converts stored values to modality units, by a table or slope and intercept."""

    slope: float = 1.0
    intercept: float = 0.0
    table: LookupTable | None = None
    units: str = ""

    def apply(self, stored: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return modality units, as integers if that loses nothing."""
        if self.table is not None:
            # int64, because uint16 minus the first mapped value would wrap around.
            index = stored.astype(np.int64) - self.table.first
            taken: npt.NDArray[Any] = self.table.entries.take(index, mode="clip")
            return taken
        if stored.dtype.kind == "f" or not self._is_whole():
            scaled: npt.NDArray[Any] = stored.astype(self._precision(stored.dtype))
            scaled *= self.slope
            scaled += self.intercept
            return scaled
        if not self.intercept:
            return stored
        return _shifted(stored, int(self.intercept))

    def range_of(self, stored: tuple[float, float]) -> tuple[float, float]:
        """Return the range of modality values for a range of stored values."""
        if self.table is not None:
            return 0.0, float((1 << self.table.bits) - 1)
        ends = [value * self.slope + self.intercept for value in stored]
        return min(ends), max(ends)

    def _precision(self, stored: np.dtype[Any]) -> npt.DTypeLike:
        """Return float64 if float32 would lose the slope's steps beside the intercept.

        A step has to be worth 64 units in the last place of the largest value, which
        sixteen bits times a slope alone always is.
        """
        if stored.kind == "f":
            return np.float64 if stored.itemsize > 4 else np.float32
        limits = np.iinfo(stored)
        largest = np.float32(np.abs(self.range_of((limits.min, limits.max))).max())
        return np.float64 if np.spacing(largest) * 64 > abs(self.slope) else np.float32

    def _is_whole(self) -> bool:
        return self.slope == 1.0 and self.intercept == int(self.intercept)


def modality_transform(
    dataset: Dataset, frame: int, *, signed: bool
) -> ModalityTransform:
    """Return the modality LUT of a frame of ``signed`` values (PS3.3 C.11.1).

    A slope of zero would make every pixel equal and is taken as absent.
    """
    group = functional_group(dataset, frame, "PixelValueTransformationSequence")
    units = str(group.get("RescaleType") or "")
    tables = lookup_tables(dataset, group, "ModalityLUTSequence", signed=signed)
    if tables:
        kind = group.ModalityLUTSequence[0].get("ModalityLUTType")
        return ModalityTransform(table=tables[0], units=str(kind or ""))
    # CT may leave out Rescale Type where it is HU (PS3.3 C.8.2.1).
    if not units and dataset.get("Modality") == "CT":
        units = "HU"
    return ModalityTransform(
        slope=_number(group, "RescaleSlope", 1.0) or 1.0,
        intercept=_number(group, "RescaleIntercept", 0.0),
        units=units,
    )


def _shifted(stored: npt.NDArray[Any], offset: int) -> npt.NDArray[Any]:
    """Return ``stored + offset`` in the smallest dtype that holds it."""
    low, high = int(stored.min()) + offset, int(stored.max()) + offset
    dtype = next(
        dtype
        for dtype in (np.uint16, np.int16, np.int32, np.int64)
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max
    )
    # The sum wraps around in ``dtype`` where a term alone does not fit it.
    shifted: npt.NDArray[Any] = stored.astype(dtype) + np.array(offset).astype(dtype)
    return shifted


def windows(dataset: Dataset, frame: int) -> tuple[Window, ...]:
    """Return the windows in the file's order (PS3.3 C.11.2.1.2).

    Windows with an invalid width are left out. A LINEAR width between 0 and 1, which
    PS3.3 does not allow, is seen with fractional values; it is read as LINEAR_EXACT.
    """
    group = functional_group(dataset, frame, "FrameVOILUTSequence")
    centers, widths = _numbers(group, "WindowCenter"), _numbers(group, "WindowWidth")
    explanations = _texts(group, "WindowCenterWidthExplanation")
    names = explanations + [""] * len(centers)
    word = str(group.get("VOILUTFunction") or "LINEAR")
    function = VoiFunction(word) if word in set(VoiFunction) else VoiFunction.LINEAR
    return tuple(
        Window(
            c, w, VoiFunction.LINEAR_EXACT if _too_narrow(w, function) else function, n
        )
        for c, w, n in zip(centers, widths, names, strict=False)
        if np.isfinite(c) and np.isfinite(w) and w > 0
    )


def _too_narrow(width: float, function: VoiFunction) -> bool:
    return function is VoiFunction.LINEAR and width < 1


def voi_luts(
    dataset: Dataset, frame: int, value_range: tuple[float, float]
) -> tuple[LookupTable, ...]:
    """Return the VOI LUTs in the file's order (PS3.3 C.11.2.1.1)."""
    group = functional_group(dataset, frame, "FrameVOILUTSequence")
    return lookup_tables(dataset, group, "VOILUTSequence", signed=value_range[0] < 0)


def stored_range(frame: StoredFrame) -> tuple[float, float]:
    """Return the least and greatest value that a frame's bits can hold."""
    if frame.samples.dtype.kind == "f":
        return 0.0, 1.0
    low, high = limits(frame.bits, signed=frame.samples.dtype.kind == "i")
    return float(low), float(high)


def padding(dataset: Dataset, stored: npt.NDArray[Any]) -> npt.NDArray[np.bool_] | None:
    """Return the mask of pixels without a measurement (PS3.3 C.7.5.1.1.2).

    Between Pixel Padding Value and Range Limit, both inclusive, in stored values.
    """
    kind = "PixelPadding"
    if stored.dtype.kind == "f":
        kind = (
            "FloatPixelPadding" if stored.itemsize == 4 else "DoubleFloatPixelPadding"
        )
    ends = [dataset.get(f"{kind}{end}") for end in ("Value", "RangeLimit")]
    if ends[0] is None:
        return None
    first = _as_stored(ends[0], stored)
    last = first if ends[1] is None else _as_stored(ends[1], stored)
    low, high = min(first, last), max(first, last)
    mask = stored == low if low == high else (stored >= low) & (stored <= high)
    return mask if mask.any() else None


def _as_stored(value: float, stored: npt.NDArray[Any]) -> float:
    """Return a padding value with the sign corrected that its VR lost or invented."""
    if stored.dtype.kind == "f":
        return float(value)
    whole, span = int(value), 1 << (8 * stored.dtype.itemsize)
    info = np.iinfo(stored.dtype)
    if whole > info.max:
        return whole - span
    return whole + span if whole < info.min else whole


def _number(dataset: Dataset, keyword: str, default: float) -> float:
    values = _numbers(dataset, keyword)
    return values[0] if values and np.isfinite(values[0]) else default


def _numbers(dataset: Dataset, keyword: str) -> list[float]:
    value = dataset.get(keyword)
    if value is None or value == "":
        return []
    return [float(v) for v in np.atleast_1d(np.asarray(value, dtype=np.float64))]


def _texts(dataset: Dataset, keyword: str) -> list[str]:
    value = dataset.get(keyword)
    if not value:
        return []
    return [value] if isinstance(value, str) else [str(v) for v in value]
