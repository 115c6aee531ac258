"""Frames coded as each transfer syntax codes them.

Every function takes (rows, columns) or (rows, columns, 3) integers and returns the
bytes of one frame without encapsulation.
"""

from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
from imagecodecs import htj2k_encode, jpeg8_encode
from openjpeg.utils import encode_array

Samples = npt.NDArray[Any]
HAS_JPEG_LS = find_spec("jpeg_ls") is not None
"""Whether JPEG-LS can be coded here; pyjpegls is not made for every Python."""


def run_lengths(samples: Samples) -> bytes:
    """Return RLE of PS3.5 annex G: most significant bytes first, runs and literals."""
    size = samples.dtype.itemsize
    planes = [samples] if samples.ndim == 2 else list(np.moveaxis(samples, -1, 0))
    coded = []
    for plane in planes:
        raw = plane.astype(plane.dtype.newbyteorder(">")).tobytes()
        coded += [_packbits(raw[byte::size]) for byte in range(size)]
    starts = np.cumsum([64, *(len(c) for c in coded)])[:-1]
    header = np.zeros(16, "<u4")
    header[0], header[1 : 1 + len(coded)] = len(coded), starts
    return header.tobytes() + b"".join(coded)


def _packbits(data: bytes) -> bytes:
    out = bytearray()
    at = 0
    while at < len(data):
        run = 1
        while run < 128 and data[at : at + run + 1] == data[at : at + 1] * (run + 1):
            run += 1
        if run > 1:
            out += bytes([257 - run]) + data[at : at + 1]
        else:
            out += bytes([0]) + data[at : at + 1]
        at += run
    return bytes(out) + b"\0" * (len(out) % 2)


def lossless_jpeg(samples: Samples, bits: int, predictor: int = 1) -> bytes:
    """Return JPEG process 14; three components are coded as they are, unmarked."""
    samples = samples.astype(np.uint8 if bits <= 8 else np.uint16)
    colors = "RGB" if samples.ndim == 3 else None
    coded = jpeg8_encode(
        samples,
        lossless=True,
        predictor=predictor,
        bitspersample=bits,
        colorspace=colors,
        outcolorspace=colors,
    )
    return without_marks(bytes(coded))


def lossy_jpeg(
    samples: Samples, bits: int = 8, subsampling: str = "444", level: int = 95
) -> bytes:
    """Return sequential DCT of grey, or of colour as YCbCr with JFIF's mark."""
    color = samples.ndim == 3
    coded = jpeg8_encode(
        samples,
        level=level,
        bitspersample=bits,
        colorspace="RGB" if color else None,
        outcolorspace="YCBCR" if color else None,
        subsampling=subsampling if color else None,
    )
    return bytes(coded)


def rgb_jpeg(samples: Samples, level: int = 95, *, marked: bool = False) -> bytes:
    """Return baseline JPEG of RGB components, with Adobe's mark or with none."""
    coded = jpeg8_encode(samples, level=level, colorspace="RGB", outcolorspace="RGB")
    return bytes(coded) if marked else without_marks(bytes(coded))


def without_marks(jpeg: bytes) -> bytes:
    """Return a JPEG without application segments, its components numbered from 1."""
    out, at = bytearray(jpeg[:2]), 2
    numbers: dict[int, int] = {}
    while True:
        marker, length = jpeg[at + 1], int.from_bytes(jpeg[at + 2 : at + 4], "big")
        body = bytearray(jpeg[at : at + 2 + length])
        if marker in {0xC0, 0xC1, 0xC3}:
            for n in range(body[9]):
                numbers[body[10 + 3 * n]] = body[10 + 3 * n] = n + 1
        if marker == 0xDA:
            for n in range(body[4]):
                body[5 + 2 * n] = numbers[body[5 + 2 * n]]
        if not 0xE0 <= marker <= 0xEF:
            out += body
        at += 2 + length
        if marker == 0xDA:
            return bytes(out) + jpeg[at:]


def jpeg_ls_of(
    samples: Samples, bits: int, *, near: int = 0, interleave: int = 2
) -> bytes:
    """Return JPEG-LS; components by plane (0), line (1) or sample (2)."""
    import jpeg_ls

    color = samples.ndim == 3
    if color and not interleave:
        samples = np.moveaxis(samples, -1, 0)
    words = samples.astype("<u1" if bits <= 8 else "<u2")
    return bytes(
        jpeg_ls.encode_pixel_data(
            words.tobytes(),
            lossy_error=near,
            rows=samples.shape[-2] if color and not interleave else samples.shape[0],
            columns=samples.shape[-1] if color and not interleave else samples.shape[1],
            samples_per_pixel=3 if color else 1,
            bits_allocated=8 * words.itemsize,
            bits_stored=bits,
            photometric_interpretation="RGB" if color else "MONOCHROME2",
            pixel_representation=0,
            planar_configuration=int(not interleave) if color else 0,
            interleave_mode=interleave if color else 0,
        )
    )


def jpeg_ls_decoded(data: bytes) -> Samples:
    """Return a grey frame of JPEG-LS, by another decoder than the readers'."""
    import jpeg_ls

    return np.asarray(jpeg_ls.decode(np.frombuffer(data, np.uint8)))


def jpeg_2000(
    samples: Samples, bits: int, *, transformed: bool = False, ratio: float = 0
) -> bytes:
    """Return a codestream, ``transformed`` with the multiple component transformation.

    It is lossless without a ``ratio``; signed where the samples are.
    """
    return bytes(
        encode_array(
            np.ascontiguousarray(samples),
            bits_stored=bits,
            photometric_interpretation=1 if samples.ndim == 3 else 2,
            use_mct=transformed,
            compression_ratios=[ratio] if ratio else None,
        )
    )


def high_throughput(samples: Samples, *, lossless: bool = True) -> bytes:
    """Return an HTJ2K codestream of samples that fill their words."""
    level = None if lossless else 0.01
    return bytes(
        htj2k_encode(np.ascontiguousarray(samples), level, reversible=lossless)
    )
