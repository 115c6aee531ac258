"""Small DICOM files of whole words, each with the samples that a right reader finds.

Noise over a ramp in every file, so that no bit, byte order, plane or frame can be
confused without being seen.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from pydicom import uid
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.encaps import encapsulate
from pydicom.uid import UID

from tests.helpers.reference_pipeline import CHANNELS, segments

Samples = npt.NDArray[Any]
ROWS, COLUMNS = 40, 37
NATIVE: Final = {
    "implicit": uid.ImplicitVRLittleEndian,
    "explicit": uid.ExplicitVRLittleEndian,
    "big": uid.ExplicitVRBigEndian,
    "deflated": uid.DeflatedExplicitVRLittleEndian,
}


@dataclass(frozen=True, eq=False)
class Case:
    """A file, and what is right for it.

    ``samples`` is (frames, rows, columns) or (frames, rows, columns, 3), the true
    values of ``bits`` bits in the colours that ``color`` names. A file that must not be
    shown has in ``refused`` the words that its refusal must say. ``tolerance`` is more
    than 1 where two decoders of lossy coding may differ.
    """

    name: str
    dataset: Dataset
    samples: Samples
    color: str
    bits: int
    refused: tuple[str, ...] = ()
    tolerance: float = 1.0
    frames: tuple[int, ...] = field(default=(0,))


def noise(
    name: str, bits: int, shape: tuple[int, ...], *, signed: bool = False
) -> Samples:
    """Return whole numbers of so many bits that use the first and the last of them."""
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    most = (1 << bits) - 1
    ramp = np.linspace(0, most, int(np.prod(shape))).reshape(shape)
    mixed = (ramp * 7 + generator.integers(0, most, shape, endpoint=True)) / 8
    values = np.rint(mixed).astype(np.int64)
    values.flat[0], values.flat[-1] = 0, most
    return values - (1 << (bits - 1)) if signed else values


def smooth(bits: int, *, color: bool = False) -> Samples:
    """Return ramps that survive lossy coding."""
    y, x = np.mgrid[:ROWS, :COLUMNS]
    most = (1 << bits) - 1
    planes = [x / (COLUMNS - 1), y / (ROWS - 1), (x + y) / (ROWS + COLUMNS - 2)]
    values = [np.rint(p * most * 0.8 + most * 0.1).astype(np.int64) for p in planes]
    return np.stack(values, axis=-1) if color else values[2]


def header(samples: Samples, bits: int, allocated: int, **tags: object) -> Dataset:
    """Return the tags of (rows, columns[, 3]) samples; None leaves one out."""
    color = samples.ndim == 3
    dataset = Dataset()
    dataset.SOPClassUID = uid.SecondaryCaptureImageStorage
    dataset.SOPInstanceUID, dataset.StudyInstanceUID = "1.2.3.4.5", "1.2.3"
    dataset.SeriesInstanceUID, dataset.Modality = "1.2.3.4", "OT"
    dataset.Rows, dataset.Columns = samples.shape[:2]
    dataset.SamplesPerPixel = 3 if color else 1
    dataset.PhotometricInterpretation = "RGB" if color else "MONOCHROME2"
    if color:
        dataset.PlanarConfiguration = 0
    dataset.BitsAllocated, dataset.BitsStored = allocated, bits
    dataset.HighBit = bits - 1
    dataset.PixelRepresentation = int(not color and samples.min() < 0)
    for keyword, value in tags.items():
        if value is None:
            delattr(dataset, keyword)
        else:
            setattr(dataset, keyword, value)
    return dataset


def with_pixels(dataset: Dataset, data: bytes, syntax: UID, vr: str = "") -> Dataset:
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = syntax
    dataset.file_meta.MediaStorageSOPClassUID = dataset.SOPClassUID
    dataset.file_meta.MediaStorageSOPInstanceUID = dataset.SOPInstanceUID
    vr = vr or ("OB" if int(dataset.BitsAllocated) <= 8 else "OW")
    vr = "OW" if syntax == uid.ImplicitVRLittleEndian else vr
    if vr == "OW" and syntax == uid.ExplicitVRBigEndian:
        data = swapped(data + b"\0" * (len(data) % 2))
    dataset.add_new("PixelData", vr, data + b"\0" * (len(data) % 2))
    if syntax.is_encapsulated:
        dataset["PixelData"].is_undefined_length = True
    return dataset


def swapped(data: bytes) -> bytes:
    """Return the words of two bytes turned round."""
    return np.frombuffer(data, "<u2").byteswap().tobytes()


def native(dataset: Dataset, samples: Samples, syntax: UID, vr: str = "") -> Dataset:
    """Return the data set with whole words of (frames, rows, columns[, 3]) samples."""
    allocated = int(dataset.BitsAllocated)
    if samples.ndim == 4 and dataset.get("PlanarConfiguration") == 1:
        samples = np.moveaxis(samples, -1, 1)
    size = allocated // 8
    words = (samples & ((1 << allocated) - 1)).astype(f"u{size}")
    big = syntax == uid.ExplicitVRBigEndian and size > 2
    data = words.astype(f"<u{size}").tobytes()
    if big:
        # OW swaps bytes in words of two; four bytes are two words, the first the least
        data = swapped(words.astype(">u4").tobytes())
    return with_pixels(dataset, data, syntax, vr)


def encapsulated(dataset: Dataset, frames: list[bytes], syntax: UID) -> Dataset:
    """Return the data set with coded frames."""
    return with_pixels(dataset, encapsulate(frames), syntax, "OB")


def item(entries: npt.NDArray[Any], first: int, bits: int, data: object) -> Dataset:
    """Return a LUT; ``data`` is OW where it is bytes, else numbers."""
    lut = Dataset()
    lut.add_new("LUTDescriptor", "US", [entries.size % 65536, first % 65536, bits])
    lut.add_new("LUTData", "OW" if isinstance(data, bytes) else "US", data)
    return lut


def ow(entries: npt.NDArray[Any], syntax: UID, size: int = 2) -> bytes:
    """Return entries as OW, of two bytes or two to a word."""
    data = entries.astype(f"<u{size}").tobytes()
    data += b"\0" * (len(data) % 2)
    return swapped(data) if syntax == uid.ExplicitVRBigEndian else data


def looks_of(low: int, high: int) -> list[dict[str, object]]:
    """Return ways to show values from ``low`` to ``high``."""
    middle, span = (low + high) // 2, high - low
    window: dict[str, object] = {"WindowCenter": middle - span // 8}
    window["WindowWidth"] = span // 2 + 2
    slope: dict[str, object] = {"RescaleSlope": "0.5", "RescaleIntercept": "-17"}
    half: dict[str, object] = {"WindowCenter": middle // 2 - 17}
    half["WindowWidth"] = span // 4 + 2
    return [
        {},
        window,
        {"PhotometricInterpretation": "MONOCHROME1"},
        window | {"PhotometricInterpretation": "MONOCHROME1"},
        slope | half,
        window | {"VOILUTFunction": "SIGMOID"},
        window | {"VOILUTFunction": "LINEAR_EXACT"},
        {"PresentationLUTShape": "INVERSE"},
        window | {"PresentationLUTShape": "IDENTITY"},
        {"RescaleSlope": "-1", "RescaleIntercept": str(high)},
        slope,
        {
            "PhotometricInterpretation": "MONOCHROME1",
            "PresentationLUTShape": "INVERSE",
        },
    ]


LAYOUTS: Final = [
    (8, 8, 7), (8, 6, 5), (8, 5, 7), (16, 16, 15), (16, 12, 11), (16, 10, 9),
    (16, 12, 15), (16, 8, 7), (32, 32, 31), (32, 20, 19),
]  # fmt: skip
"""Bits Allocated, Bits Stored, High Bit."""


def beside(
    name: str, samples: Samples, allocated: int, bits: int, high: int
) -> Samples:
    """Return words with the samples in place and noise in every bit beside them."""
    shift = high + 1 - bits
    generator = np.random.default_rng(zlib.crc32(name.encode()) + 1)
    mask = ((1 << bits) - 1) << shift
    words = generator.integers(0, 1 << allocated, samples.shape, dtype=np.int64)
    return (words & ~mask) | ((samples << shift) & mask)


def grey_native() -> Iterator[Case]:
    number = 0
    for (key, syntax), (allocated, bits, high), signed in product(
        NATIVE.items(), LAYOUTS, (False, True)
    ):
        name = f"grey/{key}/{allocated}-{bits}-{high}{'-signed' if signed else ''}"
        true = noise(name, bits, (1, ROWS, COLUMNS), signed=signed)
        looks = looks_of(int(true.min()), int(true.max()))
        tags = looks[number % len(looks)] | {"HighBit": high}
        number += 5
        dataset = header(true[0], bits, allocated, **tags)
        words = beside(name, true, allocated, bits, high)
        vr = "OW" if key == "big" and number % 2 else ""
        yield Case(name, native(dataset, words, syntax, vr), true, "GREY", bits)


def color_native() -> Iterator[Case]:
    depths = [(8, 8), (8, 4), (16, 16), (16, 12)]
    for (key, syntax), (allocated, bits), planar, color in product(
        NATIVE.items(), depths, (0, 1, None), ("RGB", "YBR_FULL")
    ):
        if color == "YBR_FULL" and (bits < 8 or planar is None):
            continue
        name = f"color/{key}/{color}-{allocated}-{bits}-planar-{planar}"
        true = noise(name, bits, (1, ROWS, COLUMNS, 3))
        tags = {"PhotometricInterpretation": color, "PlanarConfiguration": planar}
        dataset = header(true[0], bits, allocated, **tags)
        vr = "OW" if key == "big" and planar == 1 else ""
        yield Case(name, native(dataset, true, syntax, vr), true, color, bits)
    for color, bits in product(("RGB", "YBR_FULL"), (6, 8)):
        true = noise(f"{color}{bits}", bits, (1, ROWS, COLUMNS, 3))
        tags = {"PhotometricInterpretation": color, "PixelRepresentation": 1}
        pixels = native(header(true[0], bits, 8, **tags), true, NATIVE["explicit"])
        yield Case(f"color/explicit/{color}-{bits}-signed", pixels, true, color, bits)
    for (key, syntax), color, planar in product(
        NATIVE.items(), ("YBR_FULL_422", "YBR_PARTIAL_422"), (0, 1)
    ):
        name = f"color/{key}/{color}-planar-{planar}"
        yield _halved_chroma(name, syntax, color, planar)


def _halved_chroma(name: str, syntax: UID, color: str, planar: int) -> Case:
    """Return two luminances and one pair of chrominances at a time (C.7.6.3.1.2)."""
    y = noise(name + "y", 8, (1, ROWS, COLUMNS + 1))
    chroma = noise(name + "c", 8, (1, ROWS, (COLUMNS + 1) // 2, 2))
    if color == "YBR_PARTIAL_422":
        y, chroma = 16 + y * 219 // 255, 16 + chroma * 224 // 255
    true = np.concatenate([y[..., None], np.repeat(chroma, 2, axis=2)], axis=-1)
    stored = np.concatenate([y.reshape(1, ROWS, -1, 2), chroma], axis=-1)
    tags = {"PhotometricInterpretation": color, "PlanarConfiguration": planar}
    dataset = header(true[0], 8, 8, **tags)
    data = stored.astype(np.uint8).tobytes()
    return Case(name, with_pixels(dataset, data, syntax), true, color, 8)


def set_palette(
    dataset: Dataset, tables: list[bytes], descriptor: list[int], kind: str
) -> None:
    dataset.PhotometricInterpretation = "PALETTE COLOR"
    for name, table in zip(CHANNELS, tables, strict=True):
        keyword = f"{name}PaletteColorLookupTable"
        dataset.add_new(f"{keyword}Descriptor", "US", descriptor)
        dataset.add_new(f"{kind}{keyword}Data", "OW", table)


_SEGMENTS: Final = {
    "segmented-8": ([0, 2, 0, 250, 1, 30, 10, 0, 1, 128, 1, 31, 255], 1),
    "segmented-16": ([0, 2, 0, 64000, 1, 30, 2560, 0, 1, 32768, 1, 31, 65535], 2),
    "segmented-repeat": ([0, 2, 0, 64000, 1, 20, 2560, 2, 2, 0, 0, 1, 20, 65535], 2),
}


def palettes() -> Iterator[Case]:
    kinds = ["8-packed", "8-in-words", "16", "16-of-8-bits", "16-dark-blue", *_SEGMENTS]
    for (key, syntax), kind, allocated in product(NATIVE.items(), kinds, (8, 16)):
        name = f"palette/{key}/{kind}-{allocated}"
        indices = noise(name, 6, (1, ROWS, COLUMNS))
        dataset = header(indices[0], allocated, allocated)
        generator = np.random.default_rng(zlib.crc32(kind.encode()))
        if kind in _SEGMENTS:
            words, size = _SEGMENTS[kind]
            table = np.array(words)
            count = len(segments(words, size))
            tables = [ow(table, syntax, size)] * 3
            set_palette(dataset, tables, [count, 2, 8 * size], "Segmented")
        else:
            bits = 8 if kind.startswith("8") else 16
            most = 256 if bits == 8 or kind == "16-of-8-bits" else 65536
            values = generator.integers(0, most, (3, 60))
            values[:, -1] = most - 1
            if kind == "16-dark-blue":
                values[2] //= 256
            size = 1 if kind == "8-packed" else 2
            tables = [ow(v, syntax, size) for v in values]
            set_palette(dataset, tables, [60, 2, bits], "")
        yield Case(
            name, native(dataset, indices, syntax), indices, "PALETTE", allocated
        )


def palettes_of_signed_and_long() -> Iterator[Case]:
    for key, syntax in NATIVE.items():
        name = f"palette/{key}/signed"
        indices = noise(name, 6, (1, ROWS, COLUMNS), signed=True)
        dataset = header(indices[0], 8, 8)
        values = np.random.default_rng(3).integers(0, 65536, (3, 50))
        set_palette(dataset, [ow(v, syntax) for v in values], [50, -25 % 65536, 16], "")
        yield Case(name, native(dataset, indices, syntax), indices, "PALETTE", 8)
        name = f"palette/{key}/65536-entries"
        indices = noise(name, 16, (1, ROWS, COLUMNS))
        dataset = header(indices[0], 16, 16)
        values = np.random.default_rng(4).integers(0, 65536, (3, 65536))
        set_palette(dataset, [ow(v, syntax) for v in values], [0, 0, 16], "")
        yield Case(name, native(dataset, indices, syntax), indices, "PALETTE", 16)


def tables() -> Iterator[Case]:
    """Yield modality and VOI LUTs of every form, and both together."""
    forms: list[tuple[str, int, int]] = [
        ("us-12", 12, 0), ("ow-12", 12, 2), ("ow-16", 16, 2), ("ow-8-packed", 8, 1),
        ("ow-8-in-words", 8, 2), ("us-16", 16, 0),
    ]  # fmt: skip
    for (key, syntax), (form, bits, size), signed in product(
        NATIVE.items(), forms, (False, True)
    ):
        name = f"lut/{key}/{form}{'-signed' if signed else ''}"
        true = noise(name, 8, (1, ROWS, COLUMNS), signed=signed)
        first = -100 if signed else 20
        entries = np.sort(noise(name + "t", bits, (200,)))[::-1]
        entries[0] = (1 << bits) - 1
        data: object = ow(entries, syntax, size) if size else entries.tolist()
        for kind in ("Modality", "VOI"):
            dataset = header(true[0], 16, 16, PixelRepresentation=int(signed))
            lut = item(entries, first, bits, data)
            if kind == "Modality":
                lut.ModalityLUTType = "OD"
            setattr(dataset, f"{kind}LUTSequence", [lut])
            yield Case(
                f"{name}-{kind}", native(dataset, true, syntax), true, "GREY", 16
            )
    yield from odd_tables()


def odd_tables() -> Iterator[Case]:
    """Yield tables that say more or less than they hold."""
    true = noise("odd", 8, (1, ROWS, COLUMNS))
    ramp = np.arange(0, 1024, 4)
    over = np.concatenate([ramp[:-1], [1024]])
    for key, syntax in NATIVE.items():
        for name, entries, bits in (
            ("10-bits-one-over", over, 10),
            ("8-bits-of-10", ramp, 8),
            ("0-bits", ramp, 0),
            ("20-bits", ramp, 20),
        ):
            dataset = header(true[0], 16, 16)
            dataset.VOILUTSequence = [item(entries, 0, bits, ow(entries, syntax))]
            pixels = native(dataset, true, syntax)
            yield Case(f"lut/{key}/voi-{name}", pixels, true, "GREY", 16)
        for kind, fill in product(("Modality", "VOI"), ("item", "data")):
            lut = Dataset()
            if fill == "data":
                lut.add_new("LUTDescriptor", "US", [256, 0, 8])
                lut.add_new("LUTExplanation", "LO", "empty")
            dataset = header(true[0], 16, 16, WindowCenter=100, WindowWidth=120)
            setattr(dataset, f"{kind}LUTSequence", [lut])
            pixels = native(dataset, true, syntax)
            yield Case(f"lut/{key}/{kind}-empty-{fill}", pixels, true, "GREY", 16)
        entries = np.arange(65536)[::-1]
        dataset = header(true[0], 16, 16)
        dataset.VOILUTSequence = [item(entries, 0, 16, ow(entries, syntax))]
        deep = noise("deep", 16, (1, ROWS, COLUMNS))
        yield Case(
            f"lut/{key}/voi-65536", native(dataset, deep, syntax), deep, "GREY", 16
        )


def bits_in_a_row() -> Iterator[Case]:
    """Yield one bit a pixel, several frames without padding between (PS3.5 8.1.1)."""
    for (key, syntax), (rows, columns), frames, tag in product(
        NATIVE.items(), [(7, 9), (5, 7), (8, 8), (1, 3)], (1, 5), ("MONOCHROME2",)
    ):
        name = f"bit/{key}/{rows}x{columns}x{frames}"
        true = np.random.default_rng(zlib.crc32(name.encode())).integers(
            0, 2, (frames, rows, columns)
        )
        true[:, 0, 0], true[:, -1, -1] = 0, 1
        photometric = "MONOCHROME1" if columns == 9 and frames == 5 else tag
        dataset = header(
            true[0], 1, 1, PhotometricInterpretation=photometric, NumberOfFrames=frames
        )
        data = np.packbits(true.ravel().astype(np.uint8), bitorder="little").tobytes()
        vr = "OW" if key == "big" and rows > 5 else "OB"
        pixels = with_pixels(dataset, data, syntax, vr)
        yield Case(name, pixels, true, "GREY", 1, frames=tuple(range(frames)))


def floats() -> Iterator[Case]:
    for (key, syntax), size in product(NATIVE.items(), (4, 8)):
        true = np.random.default_rng(size).normal(40, 300, (1, ROWS, COLUMNS))
        true = true.astype(f"f{size}").astype(np.float64)
        dataset = header(true[0], 8 * size, 8 * size, WindowCenter=10, WindowWidth=500)
        for keyword in ("BitsStored", "HighBit", "PixelRepresentation"):
            delattr(dataset, keyword)
        order = ">" if syntax == uid.ExplicitVRBigEndian else "<"
        keyword, vr = (
            ("FloatPixelData", "OF") if size == 4 else ("DoubleFloatPixelData", "OD")
        )
        with_pixels(dataset, b"", syntax)
        del dataset.PixelData
        dataset.add_new(keyword, vr, true.astype(f"{order}f{size}").tobytes())
        yield Case(f"float/{key}/{8 * size}", dataset, true, "GREY", 8 * size)


def functional_groups() -> Iterator[Case]:
    """Yield frames that each have a slope and a window of their own (C.7.6.16)."""
    true = noise("groups", 12, (3, ROWS, COLUMNS))
    for own in (False, True):
        dataset = header(true[0], 12, 16, NumberOfFrames=3)
        native(dataset, true, NATIVE["explicit"])
        groups = []
        for number in range(3):
            values, voi, group = Dataset(), Dataset(), Dataset()
            values.RescaleSlope, values.RescaleIntercept = 1, -100 * number
            values.RescaleType = "US"
            voi.WindowCenter, voi.WindowWidth = 1000 + 500 * number, 1500
            group.PixelValueTransformationSequence = [values]
            group.FrameVOILUTSequence = [voi]
            groups.append(group)
        if own:
            dataset.PerFrameFunctionalGroupsSequence = groups
        else:
            dataset.SharedFunctionalGroupsSequence = groups[1:2]
        name = f"groups/{'own' if own else 'shared'}"
        yield Case(name, dataset, true, "GREY", 12, frames=(0, 1, 2))


def padded() -> Iterator[Case]:
    for signed, limit, looks in product((False, True), (False, True), range(3)):
        name = f"padding/{'signed' if signed else 'unsigned'}-{limit}-{looks}"
        true = noise(name, 12, (1, ROWS, COLUMNS), signed=signed)
        low = int(true.min())
        true[0, :5] = low
        dataset = header(true[0], 12, 16)
        if looks == 1:
            dataset.WindowCenter, dataset.WindowWidth = low + 2000, 3000
        elif looks == 2:
            dataset.PhotometricInterpretation = "MONOCHROME1"
        kind = "SS" if signed else "US"
        dataset.add_new("PixelPaddingValue", kind, low)
        if limit:
            dataset.add_new("PixelPaddingRangeLimit", kind, low + 300)
        yield Case(name, native(dataset, true, NATIVE["explicit"]), true, "GREY", 12)


FAMILIES: Final = (
    grey_native, color_native, palettes, palettes_of_signed_and_long, tables,
    bits_in_a_row, floats, functional_groups, padded,
)  # fmt: skip
