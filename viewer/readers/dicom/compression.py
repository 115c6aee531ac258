"""Lossy compression of a DICOM image, described in words."""

from typing import Any, Final

from pydicom import uid
from pydicom.dataset import Dataset
from pydicom.multival import MultiValue

_METHODS: Final = {
    "ISO_10918_1": "JPEG",
    "ISO_14495_1": "JPEG-LS",
    "ISO_15444_1": "JPEG 2000",
    "ISO_15444_15": "HTJ2K",
    "ISO_13818_2": "MPEG-2",
    "ISO_14496_10": "H.264",
    "ISO_23008_2": "HEVC",
}
"""Lossy Image Compression Method (PS3.3 C.7.6.1.1.5.1) in people's words."""
_LOSSY_SYNTAXES: Final = {
    uid.JPEGBaseline8Bit: "JPEG",
    uid.JPEGExtended12Bit: "JPEG",
    uid.JPEGLSNearLossless: "JPEG-LS",
}
"""Transfer syntaxes that always lose; JPEG 2000 may be either and says so itself."""


def lossy_text(dataset: Dataset) -> str:
    """Return ratio and method of lossy compression, "" for lossless images.

    Lossy Image Compression (0028,2110) is never reset, even in a file that is no longer
    compressed (PS3.3 C.7.6.1.1.5).
    """
    by_syntax = _LOSSY_SYNTAXES.get(dataset.file_meta.get("TransferSyntaxUID"), "")
    if (
        str(dataset.get("LossyImageCompression") or "").strip() != "01"
        and not by_syntax
    ):
        return ""
    ratios = [f"{float(r):g}:1" for r in _values(dataset, "LossyImageCompressionRatio")]
    methods = [
        _METHODS.get(str(m), str(m))
        for m in _values(dataset, "LossyImageCompressionMethod")
    ] or [by_syntax]
    return " ".join(word for word in ("Lossy", *ratios, *methods) if word)


def _values(dataset: Dataset, keyword: str) -> list[Any]:
    value = dataset.get(keyword)
    if value is None or value == "":
        return []
    return list(value) if isinstance(value, MultiValue) else [value]
