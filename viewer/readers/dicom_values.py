"""What a DICOM header says about pixel values: modality LUT, VOI, padding, spacing.

A multi-frame file may say it for every frame (PS3.3 C.7.6.16); then the frame's own
functional group is taken before the shared one, and that before the top level. Rescale
slope and intercept apply to every modality, also to MR and PET, so that windows and
values agree with PS3.3 C.11.1 and C.11.2 and with one another.
"""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from pydicom.dataset import Dataset

from viewer.domain.image import (
    LookupTable,
    VoiFunction,
    Window,
)
from viewer.domain.image_geometry import Spacing, SpacingMeaning

_PROJECTIONS = frozenset({"CR", "DX", "RF", "XA", "MG", "IO", "PX", "RG", "SC"})


@dataclass(frozen=True, eq=False)
class ModalityTransform:
    """Stored values to modality units: a table, or slope and intercept."""

    slope: float = 1.0
    intercept: float = 0.0
    table: LookupTable | None = None
    units: str = ""

    def apply(self, stored: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return modality units, as integers where nothing is lost by it."""
        if self.table is not None:
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
        """Return the modality values that the stored range can give."""
        if self.table is not None:
            return 0.0, float((1 << self.table.bits) - 1)
        ends = [value * self.slope + self.intercept for value in stored]
        return min(ends), max(ends)

    def _precision(self, stored: np.dtype[Any]) -> npt.DTypeLike:
        """Return float64 where an intercept would drown the slope's steps in float32.

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


def modality_transform(dataset: Dataset, frame: int) -> ModalityTransform:
    """Return the modality LUT of a frame (PS3.3 C.11.1).

    A slope of zero would make every pixel equal and is taken as absent.
    """
    group = _group(dataset, frame, "PixelValueTransformationSequence")
    units = str(group.get("RescaleType") or "")
    sequence = group.get("ModalityLUTSequence")
    if sequence:
        signed = bool(dataset.get("PixelRepresentation"))
        low = -1.0 if signed else 0.0
        table = _lookup_table(sequence[0], low)
        return ModalityTransform(
            table=table, units=str(sequence[0].get("ModalityLUTType") or "")
        )
    if not units and dataset.get("Modality") == "CT":
        units = "HU"
    return ModalityTransform(
        slope=_number(group, "RescaleSlope", 1.0) or 1.0,
        intercept=_number(group, "RescaleIntercept", 0.0),
        units=units,
    )


def _shifted(stored: npt.NDArray[Any], offset: int) -> npt.NDArray[Any]:
    """Return ``stored + offset`` in the smallest of the types that hold it."""
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

    One whose width has no meaning is left out. A LINEAR width between 0 and 1, which
    PS3.3 does not allow, is seen with fractional values; it is read as LINEAR_EXACT.
    """
    group = _group(dataset, frame, "FrameVOILUTSequence")
    centers, widths = _numbers(group, "WindowCenter"), _numbers(group, "WindowWidth")
    said = _texts(group, "WindowCenterWidthExplanation")
    names = said + [""] * len(centers)
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
    group = _group(dataset, frame, "FrameVOILUTSequence")
    return tuple(
        _lookup_table(item, value_range[0])
        for item in group.get("VOILUTSequence") or ()
    )


def _lookup_table(item: Dataset, least_input: float) -> LookupTable:
    """Read LUT Descriptor and LUT Data.

    Zero entries mean 65,536; the first mapped value is signed where the input can be
    negative; entries of 8 bits may be packed two to a word. Bits outside 1-16 are
    taken from the greatest entry.
    """
    count, first, bits = (int(v) for v in item.LUTDescriptor)
    count = count or 1 << 16
    if first > 0x7FFF and least_input < 0:
        first -= 1 << 16
    entries = lut_entries(item.LUTData, count)
    if not 1 <= bits <= 16:
        bits = max(1, int(entries.max()).bit_length())
    explanation = str(item.get("LUTExplanation") or "")
    return LookupTable(entries, first, bits, explanation)


def lut_entries(
    data: object, count: int, *, big_endian: bool = False
) -> npt.NDArray[np.uint16]:
    """Return ``count`` entries of LUT data, given as words (US) or as bytes (OW)."""
    if isinstance(data, bytes):
        order = ">" if big_endian else "<"
        if len(data) < 2 * count:
            return np.frombuffer(data, np.uint8).astype(np.uint16)[:count]
        return np.frombuffer(data, f"{order}u2", count).astype(np.uint16)
    words = np.atleast_1d(np.asarray(data)).astype(np.int64).astype(np.uint16)
    if words.size < count <= 2 * words.size:
        return words.view(np.uint8).astype(np.uint16)[:count]
    return words[:count]


def bits_stored(dataset: Dataset) -> int:
    """Return Bits Stored, Bits Allocated where it is absent."""
    return int(dataset.get("BitsStored") or dataset.get("BitsAllocated") or 8)


def without_unused_bits(dataset: Dataset, pixels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Clear or sign-fill what stands above High Bit, such as an overlay (PS3.5 8.1.1).

    Nothing is copied where nothing is set.
    """
    bits, allocated = bits_stored(dataset), pixels.dtype.itemsize * 8
    high_bit = int(dataset.get("HighBit") or bits - 1)
    low, high = stored_range(dataset, pixels)
    shift = max(0, min(high_bit, allocated - 1) + 1 - bits)
    if not shift and low <= pixels.min() and pixels.max() <= high:
        return pixels
    # Up until the sign or the top bit leads, then down again with sign fill.
    up = allocated - bits - shift
    return (pixels << up) >> (allocated - bits)


def stored_range(dataset: Dataset, pixels: npt.NDArray[Any]) -> tuple[float, float]:
    """Return the least and greatest value that Bits Stored can hold."""
    if pixels.dtype.kind == "f":
        return 0.0, 1.0
    bits = bits_stored(dataset)
    if pixels.dtype.kind == "i":
        return -float(1 << (bits - 1)), float((1 << (bits - 1)) - 1)
    return 0.0, float((1 << bits) - 1)


def padding(dataset: Dataset, stored: npt.NDArray[Any]) -> npt.NDArray[np.bool_] | None:
    """Return where the modality stored no measurement (PS3.3 C.7.5.1.1.2).

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
    """Return a padding value whose sign was lost or invented by its VR."""
    if stored.dtype.kind == "f":
        return float(value)
    whole, span = int(value), 1 << (8 * stored.dtype.itemsize)
    info = np.iinfo(stored.dtype)
    if whole > info.max:
        return whole - span
    return whole + span if whole < info.min else whole


def spacing(dataset: Dataset, frame: int) -> Spacing | None:
    """Return the pixel spacing and what it measures (PS3.3 10.7.1.3).

    That of a projection is at the detector unless the file says that it was
    calibrated. Zero or missing spacing is None.
    """
    measures = _group(dataset, frame, "PixelMeasuresSequence")
    pixel = _numbers(measures, "PixelSpacing")
    imager = _numbers(dataset, "ImagerPixelSpacing")
    pair = pixel or imager or _numbers(dataset, "NominalScannedPixelSpacing")
    if len(pair) != 2:
        return None
    return Spacing.known(pair[0], pair[1], _meaning(dataset, pixel, imager))


def _meaning(
    dataset: Dataset, pixel: list[float], imager: list[float]
) -> SpacingMeaning:
    if dataset.get("Modality") not in _PROJECTIONS and not imager:
        return SpacingMeaning.PATIENT
    said = bool(dataset.get("PixelSpacingCalibrationType"))
    if pixel and (said or (imager and pixel != imager)):
        return SpacingMeaning.CALIBRATED
    return SpacingMeaning.DETECTOR


def _group(dataset: Dataset, frame: int, name: str) -> Dataset:
    """Return the frame's functional group, else the shared one, else the top level."""
    own = dataset.get("PerFrameFunctionalGroupsSequence") or ()
    shared = dataset.get("SharedFunctionalGroupsSequence") or ()
    for holder in (*own[frame : frame + 1], *shared[:1]):
        for item in holder.get(name) or ():
            return cast("Dataset", item)
    return dataset


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
