"""The headers of NRRD files, as teem.sourceforge.net/nrrd/format.html defines them.

The package pynrrd reads volumes only as a whole, and confuses keys with fields.
"""

import re
from pathlib import Path
from typing import IO, Final

import numpy as np

from viewer.domain.errors import UnreadableInputError
from viewer.readers.files.side_files import beside
from viewer.readers.volumes.header import (
    LONGEST_HEADER,
    Packing,
    Part,
    VolumeHeader,
    header_lines,
)
from viewer.readers.volumes.nrrd_space import nrrd_space

_MAGIC: Final = re.compile(r"NRRD\d{4}$")
# ":=" is a key/value pair of the user's, which may have the name of a field.
_FIELD: Final = re.compile(r"([^:]+):(?!=)\s*(.*)")
_TYPES: Final = {
    name: kind
    for kind, names in {
        "i1": "signed char, int8, int8_t",
        "u1": "uchar, unsigned char, uint8, uint8_t",
        "i2": "short, short int, signed short, signed short int, int16, int16_t",
        "u2": "ushort, unsigned short, unsigned short int, uint16, uint16_t",
        "i4": "int, signed int, int32, int32_t",
        "u4": "uint, unsigned int, uint32, uint32_t",
        "i8": "longlong, long long, long long int, signed long long, "
        "signed long long int, int64, int64_t",
        "u8": "ulonglong, unsigned long long, unsigned long long int, uint64, uint64_t",
        "f4": "float",
        "f8": "double",
    }.items()
    for name in names.split(", ")
}
_PACKINGS: Final = {
    "raw": Packing.NONE,
    "gz": Packing.DEFLATE,
    "gzip": Packing.DEFLATE,
    "bz2": Packing.BZIP2,
    "bzip2": Packing.BZIP2,
    "txt": Packing.TEXT,
    "text": Packing.TEXT,
    "ascii": Packing.TEXT,
    "hex": Packing.HEX,
}


def read_nrrd_header(path: Path) -> VolumeHeader:
    """Return the header of an NRRD file.

    ``space directions`` give the orientation in the patient only in an anatomical
    space. ``space origin`` is the centre of the first sample, whatever the centering of
    the axes.

    Raises
    ------
    UnreadableInputError
        If its encoding or axes are not supported, or its pixels are in a file that must
        not be read (`beside`).
    """
    with path.open("rb") as stream:
        fields, names = _fields(stream, path)
        end = stream.tell()
    packing = _packing(fields, path)
    lines, skipped = int(fields.get("lineskip", 0)), int(fields.get("byteskip", 0))
    unpacked_first = packing in {Packing.DEFLATE, Packing.BZIP2}
    if unpacked_first and skipped < 0:
        raise ValueError("only uncompressed data can be at the end of a file")
    # Lines are skipped in the file, bytes in what it unpacks to (NRRD, section 5).
    moved = 0 if unpacked_first else skipped
    files = [beside(path, path.parent, name) for name in names]
    parts = [_part(file, 0, lines, moved) for file in files]
    sizes = tuple(int(n) for n in fields["sizes"].split())
    order = ">" if fields.get("endian", "").lower() == "big" else "<"
    components, affine, spacing = nrrd_space(fields, len(sizes), path)
    return VolumeHeader(
        sizes,
        np.dtype(order + _TYPES[fields["type"].lower()]),
        tuple(parts or [_part(path, end, lines, moved)]),
        packing,
        skip=skipped if unpacked_first else 0,
        components=components,
        affine=affine,
        spacing=spacing,
    )


def _fields(stream: IO[bytes], path: Path) -> tuple[dict[str, str], list[str]]:
    """Return the fields, in lower case without blanks, and the data files.

    They end at an empty line, or with the list of data files.
    """
    lines = header_lines(stream)
    if not _MAGIC.match(next(lines, "")):
        raise UnreadableInputError(
            f"{path.name} cannot be read as a volume: it is not an NRRD file.",
            "Export it again as NRRD.",
        )
    fields: dict[str, str] = {}
    files: list[str] = []
    for line in lines:
        if not line:
            break
        found = None if line.startswith("#") else _FIELD.match(line)
        if found is None:
            continue
        name, value = found[1].replace(" ", "").lower(), found[2]
        fields[name] = value
        if name == "datafile":
            listed = value.startswith("LIST")
            files += [one for one in lines if one] if listed else [value]
    return fields, files


def _packing(fields: dict[str, str], path: Path) -> Packing:
    name = fields["encoding"].lower()
    if name not in _PACKINGS:
        raise UnreadableInputError(
            f"{path.name} stores its pixels in an unsupported encoding.",
            "Save it with raw or gzip encoding.",
        )
    return _PACKINGS[name]


def _part(path: Path, start: int, lines: int, skipped: int) -> Part:
    """Return where values begin, after lines and bytes to skip; -1 means at the end."""
    if skipped < 0:
        return Part(path, None)
    with path.open("rb") as stream:
        stream.seek(start)
        while lines > 0 and stream.readline(LONGEST_HEADER):
            lines -= 1
        return Part(path, stream.tell() + skipped)
