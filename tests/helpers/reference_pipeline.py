"""The pipeline of PS3.4 N.2.1 once more, slowly and without our code.

Everything in double precision, formulas written down from PS3.3 C.7.6.3, C.7.9.2,
C.11.1, C.11.2 and C.11.6 and from PS3.5 8.1.1; no tables of results, no shortcuts,
nothing shared with viewer.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from pydicom.dataset import Dataset
from pydicom.uid import ExplicitVRBigEndian

Floats = npt.NDArray[np.float64]
CHANNELS = ("Red", "Green", "Blue")


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
    index = np.clip(np.rint(x).astype(np.int64) - first, 0, len(entries) - 1)
    return entries.astype(np.float64)[index]


def of_bits(words: npt.NDArray[Any], bits: int, high: int, *, signed: bool) -> Any:  # noqa: ANN401 - integers of any kind
    """Return the ``bits`` up to bit ``high`` of each word as a number (PS3.5 8.1.1)."""
    raw = (words.astype(np.int64) >> (high + 1 - bits)) & ((1 << bits) - 1)
    negative = raw >= (1 << (bits - 1))
    return np.where(negative, raw - (1 << bits), raw) if signed else raw


def of_frame(dataset: Dataset, frame: int) -> Dataset:
    """Return the data set with the functional groups of a frame at its top level."""
    flat = Dataset(dataset)
    flat.file_meta = dataset.file_meta
    own = dataset.get("PerFrameFunctionalGroupsSequence") or ()
    shared = dataset.get("SharedFunctionalGroupsSequence") or ()
    for group in (*shared[:1], *own[frame : frame + 1]):
        for name in ("PixelValueTransformationSequence", "FrameVOILUTSequence"):
            for item in group.get(name) or ():
                flat.update(item)
    return flat


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


def colored(samples: npt.NDArray[Any], color: str, bits: int) -> Floats:
    """Return (rows, columns, 3) 0-255 for samples of so many bits (C.7.6.3.1.2)."""
    x = samples.astype(np.float64)
    most, middle = float((1 << bits) - 1), float(1 << (bits - 1))
    if color == "RGB":
        return np.asarray(x / most * 255.0)
    y, blue, red = x[..., 0], x[..., 1] - middle, x[..., 2] - middle
    if color == "YBR_PARTIAL_422":
        y, blue, red = (y - 16.0) / 219.0 * 255.0, blue / 0.8784, red / 0.8784
    rgb = [y + 1.402 * red, y - 0.344136 * blue - 0.714136 * red, y + 1.772 * blue]
    return np.asarray(np.clip(np.stack(rgb, axis=-1) / most * 255.0, 0.0, 255.0))


def paletted(dataset: Dataset, indices: npt.NDArray[Any]) -> Floats:
    """Return (rows, columns, 3) 0-255 for stored indices (C.7.6.3.1.5 and 6).

    All three channels have entries of 8 bits where none of them has a greater one.
    """
    tables = [_palette_channel(dataset, name) for name in CHANNELS]
    wide = max(int(entries.max()) for entries, _ in tables) > 255
    channels = [
        looked_up(indices.astype(np.float64), entries // (256 if wide else 1), first)
        for entries, first in tables
    ]
    return np.stack(channels, axis=-1)


def segments(words: Sequence[int], word_bytes: int) -> list[int]:
    """Return the entries of a segmented table (C.7.9.2), one segment after another."""
    out: list[int] = []

    def one(at: int) -> int:
        if words[at] == 0:
            out.extend(words[at + 2 : at + 2 + words[at + 1]])
            return at + 2 + words[at + 1]
        start, end, count = out[-1], words[at + 2], words[at + 1]
        out.extend(
            round(start + (end - start) * i / count) for i in range(1, count + 1)
        )
        return at + 3

    at = 0
    while at + 1 < len(words):
        if words[at] != 2:
            at = one(at)
            continue
        size = 4 // word_bytes
        raw = b"".join(w.to_bytes(word_bytes, "little") for w in words[at + 2 :][:size])
        source = int.from_bytes(raw, "little") // word_bytes
        for _ in range(words[at + 1]):
            source = one(source)
        at += 2 + size
    return out


def _palette_channel(dataset: Dataset, name: str) -> tuple[npt.NDArray[Any], int]:
    count, first, bits = dataset[f"{name}PaletteColorLookupTableDescriptor"].value
    count = count or 65536
    if dataset.get("PixelRepresentation") and first > 32767:
        first -= 65536
    plain = dataset.get(f"{name}PaletteColorLookupTableData")
    if plain is not None:
        return _words(plain, count, dataset), first
    data = _little(
        dataset[f"Segmented{name}PaletteColorLookupTableData"].value, dataset
    )
    words = np.frombuffer(data, "u1" if bits == 8 else "<u2")
    return np.array(segments([int(w) for w in words], words.itemsize))[:count], first


def _little(data: bytes, dataset: Dataset) -> bytes:
    """Return OW as in a little endian file: its words turned round in a big one."""
    if dataset.file_meta.TransferSyntaxUID != ExplicitVRBigEndian:
        return data
    return b"".join(data[i : i + 2][::-1] for i in range(0, len(data), 2))


def _words(data: object, count: int, dataset: Dataset) -> npt.NDArray[Any]:
    """Return the entries of a table given as OW or as numbers (C.11.1.1)."""
    if not isinstance(data, bytes):
        numbers = np.atleast_1d(np.array(data, dtype=np.uint16))
        if len(numbers) == count:
            return numbers
        data = numbers.astype("<u2").tobytes()
    else:
        data = _little(data, dataset)
    packed = len(data) <= count + count % 2
    return np.frombuffer(data, "u1" if packed else "<u2")[:count].astype(np.uint16)


def _modality(dataset: Dataset, x: Floats) -> Floats:
    items = [i for i in dataset.get("ModalityLUTSequence") or () if "LUTData" in i]
    if items:
        signed = bool(dataset.get("PixelRepresentation"))
        entries, first, _ = _table(items[0], dataset, signed=signed)
        return looked_up(x, entries, first)
    slope = float(dataset.get("RescaleSlope") or 1.0)
    return x * slope + float(dataset.get("RescaleIntercept") or 0.0)


def _table(
    item: Dataset, dataset: Dataset, *, signed: bool
) -> tuple[npt.NDArray[Any], int, int]:
    count, first, bits = item.LUTDescriptor
    if signed and first > 32767:
        first -= 65536
    return _words(item.LUTData, int(count) or 65536, dataset), int(first), int(bits)


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
    items = [i for i in dataset.get("VOILUTSequence") or () if "LUTData" in i]
    if items:
        entries, first, bits = _table(items[0], dataset, signed=bool((x < 0).any()))
        if not 1 <= bits <= 16:
            bits = int(entries.max()).bit_length()
        most = 2.0**bits - 1.0
        return np.asarray(np.minimum(looked_up(x, entries, first), most) / most * 255.0)
    if dataset.get("WindowCenter") is not None and dataset.WindowCenter != "":
        center, width = _first(dataset.WindowCenter), _first(dataset.WindowWidth)
        return windowed(x, center, width, dataset.get("VOILUTFunction", "LINEAR"))
    measured = x[~padding]
    low, high = float(measured.min()), float(measured.max())
    if low == high:
        return np.zeros(x.shape)
    return (x - low) / (high - low) * 255.0
