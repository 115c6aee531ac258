"""The headers of MetaImage files, as the documentation of MetaIO describes them."""

import re
from pathlib import Path
from typing import IO, Final

import numpy as np

from viewer.domain.errors import UnreadableInputError
from viewer.readers.files.refusal import DAMAGED
from viewer.readers.files.side_files import beside
from viewer.readers.volumes.header import (
    Packing,
    Part,
    Steps,
    VolumeHeader,
    header_lines,
    known_affine,
)

_FIELD: Final = re.compile(r"\s*(\w+)\s*[=:]\s*(.*)")
_DATA: Final = "ElementDataFile"
_MM: Final = {"um": 1e-3, "cm": 10.0}
_LOCAL: Final = frozenset({"LOCAL", "Local", "local"})
_SYNONYMS: Final = {
    "BinaryDataByteOrderMSB": "ElementByteOrderMSB",
    "ElementSize": "ElementSpacing",
    "Orientation": "TransformMatrix",
    "Origin": "Offset",
    "Position": "Offset",
    "Rotation": "TransformMatrix",
}
_TYPES: Final = {
    "MET_CHAR": "i1",
    "MET_UCHAR": "u1",
    "MET_SHORT": "i2",
    "MET_USHORT": "u2",
    "MET_INT": "i4",
    "MET_UINT": "u4",
    # MetaIO fixes a long to four bytes, whatever it is for the compiler.
    "MET_LONG": "i4",
    "MET_ULONG": "u4",
    "MET_LONG_LONG": "i8",
    "MET_ULONG_LONG": "u8",
    "MET_FLOAT": "f4",
    "MET_DOUBLE": "f8",
}


def read_metaimage_header(path: Path) -> VolumeHeader:
    """Return the header of a MetaImage file.

    ``TransformMatrix`` gives the direction; without it the orientation in the patient
    is unknown. ``AnatomicalOrientation`` is not used: some programs write the side
    where an axis begins, others where it ends.

    Raises
    ------
    UnreadableInputError
        If its pixels are text, or in a file that must not be read (`beside`).
    """
    with path.open("rb") as stream:
        fields, names = _fields(stream, path)
        end = stream.tell()
    if not _is_true(fields.get("BinaryData", "True")):
        raise UnreadableInputError(
            f"{path.name} stores its pixels as text, which is not supported for "
            "MetaImage.",
            "Save it as binary.",
        )
    skipped = int(fields.get("HeaderSize", 0))
    start = None if skipped < 0 else skipped
    sizes = tuple(int(n) for n in fields["DimSize"].split())
    channels = int(fields.get("ElementNumberOfChannels", 1))
    order = ">" if _is_true(fields.get("ElementByteOrderMSB", "False")) else "<"
    kind = _TYPES[fields["ElementType"].removesuffix("_ARRAY")]
    mm = _MM.get(fields.get("DistanceUnits", ""), 1.0)
    spacing = _numbers(fields, "ElementSpacing", mm)
    return VolumeHeader(
        (channels, *sizes) if channels > 1 else sizes,
        np.dtype(order + kind),
        tuple(Part(beside(path, path.parent, name), start) for name in names)
        # In a .mha the values follow the header, unless HeaderSize says otherwise.
        or (Part(path, end if start == 0 else start),),
        Packing.DEFLATE if _is_true(fields.get("CompressedData", "")) else Packing.NONE,
        components=0 if channels > 1 else None,
        affine=_affine(fields, spacing, mm),
        spacing=None if spacing is None else (spacing[0], spacing[1]),
    )


def _fields(stream: IO[bytes], path: Path) -> tuple[dict[str, str], list[str]]:
    """Return the fields and the names of the data files, none if the pixels follow.

    The name of the data file is the last field; a field after it is still read.
    """
    fields: dict[str, str] = {}
    lines = header_lines(stream)
    for line in lines:
        found = _FIELD.match(line)
        if found is not None:
            fields[_SYNONYMS.get(found[1], found[1])] = found[2]
        if _DATA in fields:
            break
    else:
        raise UnreadableInputError(
            f"{path.name} cannot be read as a volume: it does not say where its pixels "
            "are.",
            DAMAGED,
        )
    data = fields[_DATA]
    if data in _LOCAL:
        return fields, []
    if data.startswith("LIST"):
        return fields, [line.strip() for line in lines if line]
    further = (found for line in lines if (found := _FIELD.match(line)))
    return fields, [data, *(found[2] for found in further if found[1] == _DATA)]


def _is_true(value: str) -> bool:
    return value[:1] in {"T", "t", "1"}


def _numbers(fields: dict[str, str], name: str, scale: float = 1.0) -> Steps | None:
    if name not in fields:
        return None
    return scale * np.array(fields[name].split(), dtype=np.float64)


def _affine(fields: dict[str, str], spacing: Steps | None, mm: float) -> Steps | None:
    """Return the affine of a volume of three axes or more, None without a direction."""
    matrix = _numbers(fields, "TransformMatrix")
    if matrix is None or spacing is None or len(spacing) < 3:
        return None
    axes = matrix.reshape(len(spacing), len(spacing))[:3, :3]
    origin = _numbers(fields, "Offset", mm)
    unknown = np.full(3, np.nan)
    # A row of TransformMatrix is the direction of an axis; the affine has it as column.
    return known_affine(axes.T * spacing[:3], unknown if origin is None else origin[:3])
