"""Decodes JPEG 2000 and HTJ2K by OpenJPEG, after a look at the main header."""

from viewer.readers.codecs.jpeg2000_header import codestream_of, main_header
from viewer.readers.dicom.codestream import Decoded, check_frame
from viewer.readers.dicom.pixel_form import TRANSFORMED, PixelForm
from viewer.readers.files.refusal import ContradictionError


def decode_jpeg2000(data: bytes, form: PixelForm) -> Decoded:
    """Return the samples of one frame, colour by pixel.

    A multiple component transformation is undone, so that RGB is left of it whatever
    the tag says; without one the components are what the tag says (PS3.5 8.2.4).

    Raises
    ------
    ValueError
        If the codestream does not describe the image that the header describes.
    """
    from openjpeg.utils import decode

    stream = codestream_of(data)
    said = main_header(stream)
    check_frame(said.rows, said.columns, said.components, form)
    if not said.alike:
        raise ContradictionError(
            f"says Bits Stored {form.stored}, and its components differ in depth"
        )
    rgb = said.transformed or form.photometric in TRANSFORMED
    return Decoded(
        decode(stream, 0),
        said.precision,
        "RGB" if rgb else form.photometric,
        signed=form.signed or said.signed,
        lossy=not said.reversible,
    )
