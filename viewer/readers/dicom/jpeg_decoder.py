"""Decoding of JPEG, lossy and lossless, 2 to 16 bits, and JPEG-LS.

imagecodecs includes libjpeg-turbo and CharLS, which may be distributed freely. Errors
that libjpeg-turbo would ignore are refused: a frame of another size than in the header,
and a truncated one.
"""

from typing import Final

from pydicom import uid
from pydicom.uid import UID

from viewer.readers.codecs.jpeg_color import (
    RGB,
    YCBCR,
    FrameHeader,
    coded_color,
    frame_header,
)
from viewer.readers.dicom.codestream import Decoded, check_frame
from viewer.readers.dicom.pixel_form import PixelForm

_LOSSLESS: Final = frozenset(
    {uid.JPEGLossless, uid.JPEGLosslessSV1, uid.JPEGLSLossless}
)
_SCAN, _END = b"\xff\xda", b"\xff\xd9"


def decode_jpeg(data: bytes, form: PixelForm, syntax: UID) -> Decoded:
    """Return the samples of one frame, with colour interleaved by pixel.

    Raises
    ------
    ValueError
        If the frame is truncated or of another size than in the header.
    """
    from imagecodecs import jpeg8_decode, jpegls_decode

    _check_whole(data)
    header = frame_header(data)
    if header is None:
        raise ValueError("there is no frame header")
    check_frame(header.rows, header.columns, header.components, form)
    lossy = syntax not in _LOSSLESS
    if syntax in uid.JPEGLSTransferSyntaxes:
        samples, color = jpegls_decode(data), form.photometric
    else:
        coded, returned, color = _colors(data, header, form)
        samples = jpeg8_decode(data, colorspace=coded, outcolorspace=returned)
    return Decoded(samples, header.precision, color, form.signed, lossy)


def _check_whole(data: bytes) -> None:
    """Refuse a frame without an EOI marker; coded data cannot contain one (B.1.1.5)."""
    if data.rfind(_END) < data.rfind(_SCAN):
        raise ValueError("the JPEG is cut short")


def _colors(
    data: bytes, header: FrameHeader, form: PixelForm
) -> tuple[str | None, str | None, str]:
    """Return the coded and the output colour space, for the decoder, and the name.

    Lossless coding has no colour transform: its components are what the tag says.
    """
    if form.samples == 1 or header.lossless:
        color_space = None if form.samples == 1 else YCBCR
        return color_space, color_space, form.photometric
    tagged = RGB if form.photometric == RGB else YCBCR
    return coded_color(data) or tagged, RGB, RGB
