"""One frame of pixel data as stored, whatever its encoding.

There is exactly one decoder for each transfer syntax. Overlays are not drawn; if they
are in the high bits of a pixel they are masked off.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from pydicom import uid
from pydicom.dataset import Dataset
from pydicom.encaps import get_frame
from pydicom.pixels.decoders.rle import _rle_decode_frame

from viewer.readers.codecs.jpeg2000_header import codestream_of, main_header
from viewer.readers.dicom.codestream import Decoded, check_frame
from viewer.readers.dicom.pixel_form import HALVED, TRANSFORMED, PixelForm
from viewer.readers.files.refusal import ContradictionError

WORDS: Final = frozenset(
    {
        uid.ImplicitVRLittleEndian,
        uid.ExplicitVRLittleEndian,
        uid.ExplicitVRBigEndian,
        uid.DeflatedExplicitVRLittleEndian,
    }
)
JPEG: Final = frozenset({*uid.JPEGTransferSyntaxes, *uid.JPEGLSTransferSyntaxes})
JPEG_2000: Final = frozenset(uid.JPEG2000TransferSyntaxes)
SYNTAXES: Final = WORDS | JPEG | JPEG_2000 | {uid.RLELossless}
"""Every transfer syntax that is read."""
PIXELS: Final = ("PixelData", "FloatPixelData", "DoubleFloatPixelData")
_FLOATS: Final = {"FloatPixelData": "f4", "DoubleFloatPixelData": "f8"}


@dataclass(frozen=True, eq=False)
class StoredFrame:
    """Samples of ``bits`` bits, (rows, columns) or (rows, columns, 3).

    ``color`` is their Photometric Interpretation.
    """

    samples: npt.NDArray[Any]
    bits: int
    color: str


def stored_frame(dataset: Dataset, form: PixelForm, index: int) -> StoredFrame:
    """Return one frame, without bits that belong to no sample.

    Raises
    ------
    ValueError
        If there are fewer bytes than the header promises, or invalid ones.
    """
    decoded = _decode(dataset, form, index)
    if decoded.samples.dtype.kind == "f":
        return StoredFrame(decoded.samples, form.allocated, decoded.color)
    samples, bits = _significant(decoded, form)
    return StoredFrame(samples, bits, decoded.color)


def _decode(dataset: Dataset, form: PixelForm, index: int) -> Decoded:
    syntax = dataset.file_meta.TransferSyntaxUID
    if not syntax.is_encapsulated:
        samples = _words(dataset, form, index)
    elif syntax == uid.RLELossless:
        samples = _run_lengths(coded_frame(dataset, form, index), form)
    elif syntax in JPEG:
        from viewer.readers.dicom.jpeg_decoder import decode_jpeg

        return decode_jpeg(coded_frame(dataset, form, index), form, syntax)
    else:
        return decode_jpeg2000(coded_frame(dataset, form, index), form)
    return Decoded(samples, form.allocated, form.photometric, form.signed, lossy=False)


def coded_frame(dataset: Dataset, form: PixelForm, index: int) -> bytes:
    """Return the bytes of one encapsulated frame."""
    offsets = None
    if "ExtendedOffsetTable" in dataset:
        offsets = (dataset.ExtendedOffsetTable, dataset.ExtendedOffsetTableLengths)
    data: bytes = get_frame(
        dataset.PixelData,
        index,
        number_of_frames=form.frames,
        extended_offsets=offsets,
    )
    return data


def _run_lengths(data: bytes, form: PixelForm) -> npt.NDArray[Any]:
    """Decode an RLE frame, which has one plane after the other (PS3.5 annex G)."""
    size, segments = form.allocated // 8, int.from_bytes(data[:4], "little")
    if segments != form.samples * size:
        raise ContradictionError(
            f"says Samples per Pixel {form.samples} and Bits Allocated "
            f"{form.allocated}, {form.samples * size} RLE segments, but has {segments}"
        )
    planes = _rle_decode_frame(
        data, form.rows, form.columns, form.samples, form.allocated
    )
    # RLE stores the most significant bytes first (PS3.5 G.2); pydicom has swapped them.
    words = np.frombuffer(planes, f"<u{size}")
    return _shaped(words, form, planar=True)


def _words(dataset: Dataset, form: PixelForm, index: int) -> npt.NDArray[Any]:
    """Return a frame of uncompressed words (PS3.5 8.1.1 and 8.2)."""
    keyword = next(k for k in PIXELS if k in dataset)
    data: bytes = dataset[keyword].value or b""
    if dataset[keyword].is_undefined_length:
        syntax = dataset.file_meta.TransferSyntaxUID.name
        raise ContradictionError(
            f"says Transfer Syntax {syntax}, but its pixels are encapsulated"
        )
    _check_length(data, form)
    big = dataset.file_meta.TransferSyntaxUID == uid.ExplicitVRBigEndian
    # OW is swapped by words, also where each holds two 8-bit pixels (PS3.5 7.3).
    if form.allocated < 16 and big and dataset[keyword].VR == "OW":
        data = np.frombuffer(data, "u2").byteswap().tobytes()
    if form.allocated == 1:
        return _shaped(_bits(data, form, index), form, planar=form.planar)
    kind = _FLOATS.get(keyword, f"u{form.allocated // 8}")
    order = ">" if big else "<"
    count = form.frame_bits // form.allocated
    dtype = np.dtype(order + kind)
    words = np.frombuffer(data, dtype, count, index * count * dtype.itemsize)
    words = words.astype(dtype.newbyteorder("="), copy=False)
    if form.photometric in HALVED:
        return _paired(words, form)
    return _shaped(words, form, planar=form.planar)


def _bits(data: bytes, form: PixelForm, index: int) -> npt.NDArray[np.uint8]:
    """Return a frame of 1-bit pixels; it may begin and end within a byte."""
    first = index * form.frame_bits
    last = first + form.frame_bits
    part = np.frombuffer(data, np.uint8)[first // 8 : -(-last // 8)]
    skipped = first % 8
    # The first pixel is in the least significant bit of a byte.
    unpacked = np.unpackbits(part, bitorder="little")
    return unpacked[skipped : skipped + form.frame_bits]


def _paired(words: npt.NDArray[Any], form: PixelForm) -> npt.NDArray[Any]:
    """Return (rows, columns, 3) from pairs of luminances with shared chrominances."""
    pairs = words.reshape(form.rows, form.columns // 2, 4)
    out = np.empty((form.rows, form.columns // 2, 2, 3), words.dtype)
    out[..., 0] = pairs[..., :2]
    out[..., 1:] = pairs[..., None, 2:]
    return out.reshape(form.rows, form.columns, 3)


def _shaped(
    words: npt.NDArray[Any], form: PixelForm, *, planar: bool
) -> npt.NDArray[Any]:
    if form.samples == 1:
        return words.reshape(form.rows, form.columns)
    if not planar:
        return words.reshape(form.rows, form.columns, form.samples)
    return np.moveaxis(words.reshape(form.samples, form.rows, form.columns), 0, -1)


def _check_length(data: bytes, form: PixelForm) -> None:
    """Refuse fewer words than the header promises, or full-size chrominance."""
    needed, there = (form.frame_bits * form.frames + 7) // 8, len(data)
    if there < needed:
        raise ContradictionError(
            f"is cut short: it has {there} of {needed} bytes of pixels"
        )
    # With or without the byte that makes the length even (PS3.5 7.1.1).
    whole = needed * 3 // 2
    if form.photometric in HALVED and there in {whole, whole + 1}:
        raise ContradictionError(
            f"says Photometric Interpretation {form.photometric}, which takes {needed} "
            f"bytes, but has {there}, as for 3 samples per pixel"
        )


def _significant(decoded: Decoded, form: PixelForm) -> tuple[npt.NDArray[Any], int]:
    """Return the samples and their number of significant bits.

    These are Bits Stored up to High Bit of the coded words (PS3.5 8.1.1). A codestream
    of fewer bits decides, and so does one of more than Bits Allocated. Lossy values
    beyond Bits Stored are compression errors and are clipped.
    """
    precision, signed = decoded.precision, decoded.signed
    bits = precision if precision > form.allocated else min(form.stored, precision)
    shift = min(form.high, precision - 1) + 1 - bits if precision > bits else 0
    words = decoded.samples.view(f"{'i' if signed else 'u'}{decoded.samples.itemsize}")
    if decoded.lossy and not shift:
        low, high = limits(bits, signed=signed)
        return _field(words, precision, 0).clip(low, high), bits
    return _field(words, bits, shift), bits


def _field(words: npt.NDArray[Any], bits: int, shift: int) -> npt.NDArray[Any]:
    """Return a field of bits of each word from ``shift`` on, signed like the words.

    The array is not copied if no other bits are set.
    """
    low, high = limits(bits, signed=words.dtype.kind == "i")
    if not shift and low <= words.min() and words.max() <= high:
        return words
    # Up until the sign or the top bit leads, then down again with sign fill.
    unused = 8 * words.itemsize - bits
    field: npt.NDArray[Any] = (words << (unused - shift)) >> unused
    return field


def limits(bits: int, *, signed: bool) -> tuple[int, int]:
    """Return the least and greatest integer of this many bits."""
    if signed:
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return 0, (1 << bits) - 1


def decode_jpeg2000(data: bytes, form: PixelForm) -> Decoded:
    """Return the samples of one frame, with colour interleaved by pixel.

    A multiple component transformation is reversed, which gives RGB whatever the tag
    says; without one the components are what the tag says (PS3.5 8.2.4).

    Raises
    ------
    ValueError
        If the codestream does not describe the image that the header describes.
    """
    from openjpeg.utils import decode

    stream = codestream_of(data)
    header = main_header(stream)
    check_frame(header.rows, header.columns, header.components, form)
    if not header.alike:
        raise ContradictionError(
            f"says Bits Stored {form.stored}, but its components differ in depth"
        )
    # The decoder has reversed the transformation, whether the tag mentions it or not.
    rgb = header.transformed or form.photometric in TRANSFORMED
    return Decoded(
        decode(stream, 0),
        header.precision,
        "RGB" if rgb else form.photometric,
        signed=form.signed or header.signed,
        lossy=not header.reversible,
    )
