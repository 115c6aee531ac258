"""Decodes JPEG, lossy and lossless, 2 to 16 bits, and JPEG-LS for pydicom.

imagecodecs brings libjpeg-turbo and CharLS, which anybody may distribute; pydicom has
no decoding plugin for it, so this module is one. What libjpeg-turbo would pass over in
silence is refused: a frame of another size than the header says, and one cut short.
"""

import importlib.util
from typing import Any, Final

import numpy.typing as npt
from pydicom import uid
from pydicom.pixels.decoders.base import DecodeRunner, get_decoder

from viewer.readers.jpeg_color import frame_header, holds_ycbcr

PLUGIN: Final = "imagecodecs"
SYNTAXES: Final = (
    uid.JPEGBaseline8Bit,
    uid.JPEGExtended12Bit,
    uid.JPEGLossless,
    uid.JPEGLosslessSV1,
    uid.JPEGLSLossless,
    uid.JPEGLSNearLossless,
)
DECODER_DEPENDENCIES: Final = dict.fromkeys(SYNTAXES, ("imagecodecs>=2026.3.6",))
"""What pydicom names where the decoder is missing."""

_SCAN, _END = b"\xff\xda", b"\xff\xd9"


def is_available(syntax: str) -> bool:
    """Tell pydicom whether frames of a transfer syntax can be decoded here."""
    return syntax in SYNTAXES and importlib.util.find_spec("imagecodecs") is not None


def decode_frame(data: bytes, runner: DecodeRunner) -> bytes:
    """Return the samples of one frame, colour by pixel.

    Raises
    ------
    ValueError
        If the frame is cut short or of another size than the header says.
    """
    _check_whole(data)
    _check_size(data, runner)
    pixels = _pixels(data, runner)
    runner.set_option("planar_configuration", 0)
    runner.set_option("bits_allocated", 8 * pixels.itemsize)
    samples: bytes = pixels.tobytes()
    return samples


def _pixels(data: bytes, runner: DecodeRunner) -> npt.NDArray[Any]:
    from imagecodecs import jpeg8_decode, jpegls_decode

    if runner.transfer_syntax in uid.JPEGLSTransferSyntaxes:
        return jpegls_decode(data)
    stored, wanted = _colors(data, runner)
    return jpeg8_decode(data, colorspace=stored, outcolorspace=wanted)


def _check_whole(data: bytes) -> None:
    """Refuse a frame without end; no marker can be among the coded bits (B.1.1.5)."""
    if data.rfind(_END) < data.rfind(_SCAN):
        raise ValueError("the JPEG is cut short")


def _check_size(data: bytes, runner: DecodeRunner) -> None:
    header = frame_header(data)
    expected = (runner.rows, runner.columns, runner.samples_per_pixel)
    if header is None or (header.rows, header.columns, header.components) != expected:
        raise ValueError("the JPEG is of another size than the header says")


def _colors(data: bytes, runner: DecodeRunner) -> tuple[str | None, str | None]:
    """Return the colours coded and those to return; pydicom makes RGB of YCbCr."""
    if runner.samples_per_pixel == 1:
        return None, None
    if runner.photometric_interpretation == "RGB":
        return ("YCBCR" if holds_ycbcr(data) else "RGB"), "RGB"
    return "YCBCR", "YCBCR"


for _syntax in SYNTAXES:
    get_decoder(_syntax).add_plugin(PLUGIN, (__name__, decode_frame.__name__))
