"""The pixel spacing of an image without decoding it, where that can be helped."""

from viewer.domain.case import ImageRef
from viewer.domain.image import Spacing
from viewer.readers.pixels import FileKind, file_kind, load_pixels
from viewer.readers.refusal import refusing


def load_spacing(ref: ImageRef) -> Spacing | None:
    """Return the spacing that :func:`load_pixels` finds, None where there is none.

    Of a DICOM file only the header is read. A file that cannot be read raises
    ``UnreadableInputError``.
    """
    kind = file_kind(ref.path)
    if kind is FileKind.RASTER:
        return None
    if kind is not FileKind.DICOM:
        return load_pixels(ref).spacing
    import pydicom

    from viewer.readers.dicom_values import spacing

    with refusing(ref.path):
        header = pydicom.dcmread(ref.path, stop_before_pixels=True, force=True)
        return spacing(header, ref.frame)
