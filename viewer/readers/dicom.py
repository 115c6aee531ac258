"""DICOM files to pixels: opening, decoding, and the first half of PS3.4 N.2.1.

Decoding is pydicom with one chosen plugin for each transfer syntax. Overlays are not
drawn; where they lie in the high bits of a pixel they are masked away.
"""

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pydicom
from pydicom import uid
from pydicom.dataset import Dataset
from pydicom.encaps import encapsulate, get_frame
from pydicom.errors import InvalidDicomError
from pydicom.pixels.decoders.base import get_decoder
from pydicom.pixels.utils import as_pixel_options, pixel_array
from pydicom.uid import JPEG2000TransferSyntaxes

from viewer.domain.errors import UnreadableInputError
from viewer.domain.image import Photometric, PixelImage, PresentationShape
from viewer.readers import dicom_values, jpeg_decoder
from viewer.readers.dicom_bounds import (
    check_frames,
    frame_count,
    held_bytes,
    may_be_dataset,
)
from viewer.readers.dicom_geometry import geometry_of
from viewer.readers.dicom_values import lut_entries
from viewer.readers.refusal import DAMAGED, refusing

MAX_PIXELS = 1 << 28
"""A single frame beyond this is taken for a damaged header, not for an image."""

_PLUGINS: Final = {
    **dict.fromkeys(jpeg_decoder.SYNTAXES, jpeg_decoder.PLUGIN),
    # pylibjpeg's decoder of RLE ends in a panic, with a backtrace on the terminal,
    # where a segment is damaged
    uid.RLELossless: "pydicom",
}
"""pydicom's plugin for each transfer syntax; JPEG 2000 and HTJ2K are OpenJPEG's."""

_PIXELS = ("PixelData", "FloatPixelData", "DoubleFloatPixelData")


def load_dicom(path: Path, frame: int = 0) -> PixelImage:
    """Return one frame of a DICOM image in modality units.

    Raises
    ------
    UnreadableInputError
        If the file is no DICOM image, is damaged, or has no such frame.
    """
    with refusing(path):
        dataset = open_dataset(path)
        _check_frame(dataset, path, frame)
        stored = _decode(dataset, path, frame)
        if stored.ndim == 3:
            rgb = to_8_bit(stored, dicom_values.bits_stored(dataset))
            return _color_image(dataset, rgb, frame)
        if dataset.PhotometricInterpretation == "PALETTE COLOR":
            return _color_image(dataset, apply_palette(dataset, stored), frame)
        return _grey_image(dataset, stored, frame)


def stored_pixels(path: Path) -> npt.NDArray[Any]:
    """Return every frame as stored, before any look-up table.

    (rows, columns), with frames in front where there are several and samples behind
    where there are three, colour as RGB.
    """
    with refusing(path):
        return _decode(open_dataset(path), path, None)


def open_dataset(path: Path) -> Dataset:
    """Return the data set of an image file with a transfer syntax that is known.

    A file without the preamble of PS3.10 is accepted if it holds an image all the
    same; its transfer syntax is then the one it turned out to be written in.
    """
    with refusing(path):
        try:
            held = held_bytes(path)
            dataset: Dataset = pydicom.dcmread(path)
        except InvalidDicomError:
            dataset = _without_preamble(path)
        _check_image(dataset, path)
        _check_transfer_syntax(dataset, path)
        check_frames(dataset, path, held)
    return dataset


def _without_preamble(path: Path) -> Dataset:
    refusal = UnreadableInputError(
        f"{path.name} is not a DICOM file.",
        "Open a DICOM, PNG, JPEG, TIFF, NIfTI, NRRD or MetaImage file.",
    )
    with refusing(path, "is not a DICOM file", "Open a DICOM or other image file."):
        with path.open("rb") as stream:
            if not may_be_dataset(stream):
                raise refusal
            dataset = pydicom.dcmread(stream, force=True)
        if "Rows" not in dataset and "SOPClassUID" not in dataset:
            raise refusal
    return dataset


def _check_image(dataset: Dataset, path: Path) -> None:
    if not any(keyword in dataset for keyword in _PIXELS):
        kind = uid.UID(str(dataset.get("SOPClassUID", ""))).name or "of unknown kind"
        raise UnreadableInputError(
            f"{path.name} holds no pixels: {kind}.",
            "Open an image; if it should be one, export it again.",
        )
    rows, columns = int(dataset.get("Rows") or 0), int(dataset.get("Columns") or 0)
    if rows < 1 or columns < 1 or rows * columns > MAX_PIXELS:
        raise UnreadableInputError(
            f"{path.name} says that it is {columns} × {rows} pixels.", DAMAGED
        )


def _check_transfer_syntax(dataset: Dataset, path: Path) -> None:
    syntax = dataset.file_meta.get("TransferSyntaxUID")
    if not syntax:
        implicit, little = dataset.original_encoding
        explicit = uid.ExplicitVRLittleEndian if little else uid.ExplicitVRBigEndian
        syntax = uid.ImplicitVRLittleEndian if implicit else explicit
        dataset.file_meta.TransferSyntaxUID = syntax
    try:
        get_decoder(syntax)
    except NotImplementedError as error:
        raise UnreadableInputError(
            f"{path.name} is compressed by {syntax.name}, which cannot be decoded.",
            "Convert it to Explicit VR Little Endian, for instance with dcmtk.",
        ) from error


def _check_frame(dataset: Dataset, path: Path, frame: int) -> None:
    frames = frame_count(dataset)
    if not 0 <= frame < frames:
        raise UnreadableInputError(
            f"{path.name} has {frames} frames, number {frame} is not one of them.",
            f"Choose 0 to {frames - 1}.",
        )


def _decode(dataset: Dataset, path: Path, frame: int | None) -> npt.NDArray[Any]:
    """Return one frame, or all, as stored; bits above Bits Stored are cleared."""
    syntax = dataset.file_meta.TransferSyntaxUID
    with refusing(path, "cannot be decoded"):
        if not syntax.is_compressed:
            _check_length(dataset, path)
            pixels = pixel_array(
                dataset, index=frame, view_only=True, correct_unused_bits=False
            )
        else:
            frames = frame_count(dataset)
            wanted = range(frames) if frame is None else (frame,)
            decoded = [_decode_frame(dataset, index, frames) for index in wanted]
            pixels = np.stack(decoded) if len(decoded) > 1 else decoded[0]
    pixels = pixels.astype(pixels.dtype.newbyteorder("="), copy=False)
    # Whole words are kept by these alone; a codec knows how many bits it coded.
    words = not syntax.is_compressed or syntax == uid.RLELossless
    if words and pixels.dtype.kind != "f":
        return dicom_values.without_unused_bits(dataset, pixels)
    return pixels


def _decode_frame(dataset: Dataset, index: int, frames: int) -> npt.NDArray[Any]:
    """Return one compressed frame."""
    syntax = dataset.file_meta.TransferSyntaxUID
    options = as_pixel_options(dataset, number_of_frames=1)
    options.pop("extended_offsets", None)
    pixels, _ = get_decoder(syntax).as_array(
        encapsulated_frame(dataset, index, frames),
        index=0,
        decoding_plugin=_PLUGINS.get(syntax, "pylibjpeg"),
        **options,
    )
    return np.asarray(pixels)


def _check_length(dataset: Dataset, path: Path) -> None:
    """Refuse native pixel data shorter than the header promises."""
    keyword = next(k for k in _PIXELS if k in dataset)
    samples = int(dataset.get("SamplesPerPixel") or 1)
    bits = int(dataset.get("BitsAllocated") or 0)
    if dataset.get("PhotometricInterpretation") == "YBR_FULL_422":
        samples = 2
    pixels = int(dataset.Rows) * int(dataset.Columns) * frame_count(dataset) * samples
    needed, there = (pixels * bits + 7) // 8, len(dataset[keyword].value or b"")
    if there < needed:
        raise UnreadableInputError(
            f"{path.name} is cut short: {there} of {needed} bytes of pixels are there.",
            DAMAGED,
        )


def _color_image(
    dataset: Dataset, rgb: npt.NDArray[np.uint8], frame: int
) -> PixelImage:
    return PixelImage(rgb, Photometric.RGB, geometry=geometry_of(dataset, frame))


def _grey_image(dataset: Dataset, stored: npt.NDArray[Any], frame: int) -> PixelImage:
    transform = dicom_values.modality_transform(dataset, frame)
    value_range = transform.range_of(dicom_values.stored_range(dataset, stored))
    shape = str(dataset.get("PresentationLUTShape") or "")
    return PixelImage(
        transform.apply(stored),
        Photometric(str(dataset.PhotometricInterpretation)),
        units=transform.units,
        windows=dicom_values.windows(dataset, frame),
        voi_luts=dicom_values.voi_luts(dataset, frame, value_range),
        presentation_shape=PresentationShape(shape)
        if shape in set(PresentationShape)
        else None,
        padding=dicom_values.padding(dataset, stored),
        geometry=geometry_of(dataset, frame),
        value_range=value_range,
    )


_JP2 = b"\x00\x00\x00\x0cjP  "
_START_AND_SIZE = b"\xff\x4f\xff\x51"
_MAX_TILES = 65_535
"""The most that a codestream can number (ISO/IEC 15444-1, A.4.2)."""


def encapsulated_frame(dataset: Dataset, index: int, frames: int) -> bytes:
    """Return frame ``index`` of ``frames`` as Pixel Data of one frame.

    Raises
    ------
    ValueError
        If a JPEG 2000 codestream does not describe the image the header describes.
    """
    offsets = None
    if "ExtendedOffsetTable" in dataset:
        offsets = (dataset.ExtendedOffsetTable, dataset.ExtendedOffsetTableLengths)
    data: bytes = get_frame(
        dataset.PixelData, index, number_of_frames=frames, extended_offsets=offsets
    )
    if dataset.file_meta.TransferSyntaxUID in JPEG2000TransferSyntaxes:
        data = _bare_codestream(data)
        _check_size(data, dataset)
    wrapped: bytes = encapsulate([data])
    return wrapped


def _bare_codestream(data: bytes) -> bytes:
    if not data.startswith(_JP2):
        return data
    start = data.find(_START_AND_SIZE)
    if start < 0:
        raise ValueError("there is no codestream in the wrapper")
    return data[start:]


def _check_size(data: bytes, dataset: Dataset) -> None:
    """Compare the SIZ segment (ISO/IEC 15444-1, A.5.1) with rows and columns."""
    if not data.startswith(_START_AND_SIZE):
        raise ValueError("the codestream does not begin with its size")
    x1, y1, x0, y0, tile_x, tile_y, _, _, samples = struct.unpack_from(">8IH", data, 8)
    size = (y1 - y0, x1 - x0, samples)
    if size != (dataset.Rows, dataset.Columns, dataset.SamplesPerPixel):
        raise ValueError("the codestream is of another size than the header says")
    if not tile_x or not tile_y or -(-x1 // tile_x) * -(-y1 // tile_y) > _MAX_TILES:
        raise ValueError("the codestream has more tiles than it can number")


_CHANNELS = ("Red", "Green", "Blue")
_DISCRETE, _LINEAR, _INDIRECT = 0, 1, 2


def to_8_bit(rgb: npt.NDArray[Any], bits: int) -> npt.NDArray[np.uint8]:
    """Return (rows, columns, 3) colour of ``bits`` per sample as 8 bits."""
    if rgb.dtype == np.uint8:
        return np.ascontiguousarray(rgb)
    return (rgb >> max(0, bits - 8)).clip(0, 255).astype(np.uint8)


def apply_palette(dataset: Dataset, indices: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return (rows, columns, 3) colour for (rows, columns) stored indices."""
    return np.stack([_channel(dataset, indices, name) for name in _CHANNELS], axis=-1)


def _channel(
    dataset: Dataset, indices: npt.NDArray[Any], name: str
) -> npt.NDArray[np.uint8]:
    descriptor = dataset[f"{name}PaletteColorLookupTableDescriptor"].value
    count, first, bits = (int(v) for v in descriptor)
    count = count or 1 << 16
    if indices.dtype.kind == "i" and first > 0x7FFF:
        first -= 1 << 16
    entries = _entries(dataset, name, count, bits)
    # Some writers declare 16 bits and store 8 in the low byte.
    shift = 8 if bits > 8 and entries.max() > 0xFF else 0
    position = np.clip(indices.astype(np.int64) - first, 0, entries.size - 1)
    return (entries >> shift).astype(np.uint8)[position]


def _entries(
    dataset: Dataset, name: str, count: int, bits: int
) -> npt.NDArray[np.uint16]:
    big_endian = not dataset.original_encoding[1]
    plain = dataset.get(f"{name}PaletteColorLookupTableData")
    if plain is not None:
        return lut_entries(plain, count, big_endian=big_endian)
    data: bytes = dataset[f"Segmented{name}PaletteColorLookupTableData"].value
    dtype = np.dtype("u1" if bits == 8 else f"{'>' if big_endian else '<'}u2")
    words = [int(v) for v in np.frombuffer(data, dtype)]
    expanded = expand_segments(words, dtype.itemsize)
    return np.array(expanded, dtype=np.uint16)[:count]


def expand_segments(words: Sequence[int], word_bytes: int) -> list[int]:
    """Return the entries that discrete, linear and indirect segments describe.

    Each segment is an opcode, a length and its data (PS3.3 C.7.9.2). A linear segment
    runs from the entry before it to its end value; an indirect one repeats ``length``
    segments from a byte offset of 32 bits, least significant word first.
    """
    entries: list[int] = []
    position = 0
    while position + 1 < len(words):
        if words[position] == _INDIRECT:
            position += _repeat(words, position, word_bytes, entries)
        else:
            position += _expand_one(words, position, entries)
    return entries


def _expand_one(words: Sequence[int], at: int, entries: list[int]) -> int:
    """Append what the segment at ``at`` describes; return how many words it takes."""
    opcode, length = words[at], words[at + 1]
    if opcode == _DISCRETE:
        entries.extend(words[at + 2 : at + 2 + length])
        return 2 + length
    if opcode == _LINEAR:
        ramp = np.linspace(entries[-1], words[at + 2], length + 1)[1:]
        entries.extend(int(v) for v in np.rint(ramp))
        return 3
    raise ValueError("a palette segment has an unknown opcode")


def _repeat(words: Sequence[int], at: int, word_bytes: int, entries: list[int]) -> int:
    """Append segments once more, from the offset named at ``at``; return its words."""
    offset_words = 4 // word_bytes
    offset = sum(
        word << (8 * word_bytes * i)
        for i, word in enumerate(words[at + 2 : at + 2 + offset_words])
    )
    source = offset // word_bytes
    for _ in range(words[at + 1]):
        source += _expand_one(words, source, entries)
    return 2 + offset_words
