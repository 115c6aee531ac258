"""The further files that a volume's header names, and which of them may be read.

A header may have come from anywhere and name any file of this machine. Only files in
its own folder are read, by a plain name and not through a link.
"""

import gzip
import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import Final

from viewer.domain.errors import UnreadableInputError
from viewer.readers.refusal import DAMAGED
from viewer.readers.regular import regular_file

_HOW: Final = "Put that file beside the header and name it there without a folder."
_LONGEST_HEADER: Final = 1 << 20
_NIFTI_HEADER: Final = 348
# Wherever in the header these stand: a reader may be more generous than the format.
_META: Final = re.compile(
    rb"ElementDataFile\s*[=:][ \t]*([^\r\n]*)(.*)", re.IGNORECASE | re.DOTALL
)
_NRRD: Final = re.compile(
    rb"data\s*file\s*:(?!=)[ \t]*([^\r\n]*)(.*)", re.IGNORECASE | re.DOTALL
)
_INSIDE: Final = frozenset({"LOCAL", "Local", "local"})
_NIFTI_KINDS: Final = ((b"n+1\0", 344, 72), (b"n+2\0", 4, 14))
"""How each version shows itself, where, and where it says how large a voxel is."""
_LITTLE_ENDIAN: Final = (b"\x5c\x01\0\0", b"\x1c\x02\0\0")
_META_PACKED: Final = re.compile(rb"CompressedData\s*[=:]\s*(T)", re.IGNORECASE)
_NRRD_PACKED: Final = re.compile(rb"encoding\s*:(?!=)\s*(g|b)z", re.IGNORECASE)
_DEFLATE: Final = 1032
"""The most that deflate can pack (RFC 1951: 258 bytes in two bits)."""
_BZIP2: Final = 1 << 15


def volume_parts(path: Path) -> tuple[Path, ...]:
    """Return the files that a volume is made of, that of its name first.

    Raises
    ------
    UnreadableInputError
        If it names a file outside its folder, a link, or what is no file.
    """
    regular_file(path)
    if is_nifti(path):
        nifti_bits(path)
        return (path,)
    start = _start(path)
    names = _meta_names(path, start) if _is_meta(path) else _nrrd_names(start)
    return (path, *(beside(path, path.parent, one) for one in names))


def beside(header: Path, folder: Path, name: str) -> Path:
    """Return the file that ``header`` names in its folder; any other raises."""
    plain = name.removeprefix("./")
    if (
        plain in {"", ".", "..", "-"}
        or "/" in plain
        or "\\" in plain
        or "\0" in plain
        or PureWindowsPath(plain).drive
    ):
        raise _refusal(header, "a file outside its folder")
    if "%" in plain:
        raise _refusal(header, "files that it names by a pattern")
    path = folder / plain
    if path.is_symlink():
        raise _refusal(header, "a link")
    regular_file(path)
    return path


def _refusal(header: Path, what: str) -> UnreadableInputError:
    return UnreadableInputError(f"{header.name} takes its pixels from {what}.", _HOW)


def _start(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(_LONGEST_HEADER)


def _meta_names(path: Path, start: bytes) -> Iterator[str]:
    found = _META.search(start)
    if found is None:
        raise UnreadableInputError(
            f"{path.name} cannot be read as a volume: it does not say where its pixels "
            "are.",
            DAMAGED,
        )
    while found is not None:
        if os.fsdecode(found[1].strip()) not in _INSIDE:
            yield from _named(found)
        found = _META.search(found[2])


def _nrrd_names(start: bytes) -> Iterator[str]:
    found = _NRRD.search(start)
    while found is not None:
        yield from _named(found)
        found = _NRRD.search(found[2])


def _named(found: re.Match[bytes]) -> Iterator[str]:
    """Yield the name that a field holds, or those of the lines that follow ``LIST``."""
    value = os.fsdecode(found[1].strip())
    if not value.startswith("LIST"):
        yield value
        return
    for line in found[2].splitlines():
        if line.strip():
            yield os.fsdecode(line.strip())


def is_nifti(path: Path) -> bool:
    """Tell by its name whether a volume is a NIfTI file."""
    return path.name.lower().endswith((".nii", ".nii.gz"))


def nifti_bits(path: Path) -> int:
    """Return how many bits a voxel has in a NIfTI file.

    Half of a pair raises: its pixels would be in a file of another name.
    """
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    with opened(path, "rb") as stream:
        start = stream.read(_NIFTI_HEADER)
    for magic, at, bits_at in _NIFTI_KINDS:
        if start[at : at + 4] == magic:
            order = "<" if start[:4] in _LITTLE_ENDIAN else ">"
            (bits,) = struct.unpack_from(f"{order}h", start, bits_at)
            return max(1, int(bits))
    raise UnreadableInputError(
        f"{path.name} cannot be read as a volume: it is no NIfTI file of one part.",
        "Convert it to a single .nii or .nii.gz file.",
    )


def most_inflated(path: Path) -> int:
    """Return how many bytes of a volume one byte of its files can be at most."""
    if is_nifti(path):
        return _DEFLATE if path.name.lower().endswith(".gz") else 1
    start = _start(path)
    packed = _META_PACKED if _is_meta(path) else _NRRD_PACKED
    found = packed.search(start)
    return 1 if found is None else _DEFLATE if found[1].lower() != b"b" else _BZIP2


def _is_meta(path: Path) -> bool:
    return path.suffix.lower() in {".mha", ".mhd"}
