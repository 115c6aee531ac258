"""JPEG 2000 files and codestreams (ISO/IEC 15444-1), by imagecodecs."""

from pathlib import Path

from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.readers.codecs.jpeg2000_header import MainHeader, codestream_of, main_header
from viewer.readers.files.refusal import DAMAGED
from viewer.readers.rasters.page import Samples


def decoded_jpeg2000(path: Path, size: SizePx) -> tuple[Samples, int]:
    """Return the samples, (rows, columns) or (rows, columns, n), and their bits.

    Raises
    ------
    UnreadableInputError
        If the codestream has another size than its file says, or components that
        differ in depth.
    """
    from imagecodecs import jpeg2k_decode

    data = path.read_bytes()
    bits = _bits(main_header(codestream_of(data)), path, size)
    samples: Samples = jpeg2k_decode(data)
    return samples, bits


def _bits(said: MainHeader, path: Path, size: SizePx) -> int:
    """Return the bits of every component; a wrong size is refused."""
    if (said.rows, said.columns) != (size.rows, size.columns):
        raise UnreadableInputError(
            f"{path.name} says that it is {size.columns} × {size.rows} pixels; its "
            f"codestream is {said.columns} × {said.rows}.",
            DAMAGED,
        )
    if not said.alike or (said.components > 1 and said.signed):
        raise UnreadableInputError(
            f"The colours of {path.name} are signed or differ in depth.",
            "Save it as RGB of 8 or 16 bits.",
        )
    return said.precision
