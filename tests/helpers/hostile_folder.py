"""Forty hostile files among twenty good images, made anew in a folder.

``python -m tests.helpers.hostile_folder FOLDER`` makes one to look at.
"""

import gzip
import os
import pickle
import socket
import struct
import sys
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image
from pydicom import dcmread
from pydicom.uid import DeflatedExplicitVRLittleEndian, JPEG2000Lossless

from tests.helpers.make_dicom import make_dicom

GOOD: Final = 20
_MB: Final = 1 << 20
_RAMP: Final = np.arange(64 * 64, dtype=np.uint16).reshape(64, 64)
_TINY: Final = np.arange(256, dtype=np.uint16).reshape(16, 16)
_NII: Final = 348

Make = Callable[[Path], object]


def make_hostile_folder(folder: Path) -> tuple[str, ...]:
    """Fill a folder; return the names of the good images, without their suffix."""
    folder.mkdir(parents=True, exist_ok=True)
    good = [_good(folder, number) for number in range(GOOD)]
    for name, make in HOSTILE.items():
        make(folder / name)
    return tuple(good)


def _good(folder: Path, number: int) -> str:
    name = f"good{number:02}"
    shifted = np.roll(_RAMP, number, axis=1)
    if number % 2:
        Image.fromarray((shifted >> 4).astype(np.uint8)).save(folder / f"{name}.png")
    else:
        make_dicom(folder / f"{name}.dcm", shifted, SOPInstanceUID=f"1.2.3.{number}")
    return name


def _zeros(path: Path, megabytes: int, start: bytes = b"") -> None:
    """Write a file of zeros that takes no room on the disk."""
    with path.open("wb") as stream:
        stream.write(start)
        stream.truncate(megabytes * _MB)


def _deflated(path: Path, megabytes: int = 3000) -> None:
    """Write a deflated image whose data set inflates to as much."""
    plain = dcmread(make_dicom(path, _TINY, Rows=30_000, Columns=30_000))
    plain.PixelData = b"\0\0"
    plain.file_meta.TransferSyntaxUID = DeflatedExplicitVRLittleEndian
    plain.save_as(path)
    data = path.read_bytes()
    start = 144 + int.from_bytes(data[140:144], "little")
    body = zlib.decompress(data[start:], -zlib.MAX_WBITS)
    at = body.rindex(b"\x02\0\0\0\0\0")
    length = struct.pack("<I", megabytes * _MB)
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    # After a full flush each block stands alone, so that one of them can be repeated.
    first = packer.compress(body[:at] + length) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(_MB)) + packer.flush(zlib.Z_FULL_FLUSH)
    path.write_bytes(data[:start] + first + block * megabytes + packer.flush())


def _raw_dicom(path: Path, elements: bytes) -> None:
    """Write elements in Explicit VR Little Endian behind the meta group of a file."""
    data = make_dicom(path, _TINY).read_bytes()
    start = 144 + int.from_bytes(data[140:144], "little")
    path.write_bytes(data[:start] + elements)


def _nested(path: Path, depth: int = 20_000) -> None:
    item = b"\x08\0\x40\x11SQ\0\0\xff\xff\xff\xff" + b"\xfe\xff\0\xe0\xff\xff\xff\xff"
    _raw_dicom(path, item * depth)


def _long_value(path: Path) -> None:
    _raw_dicom(path, b"\x08\0\x08\0UT\0\0" + struct.pack("<I", 0xFFFFFFF0) + b"A")


def _many_tags(path: Path) -> None:
    _raw_dicom(path, b"\x09\0\x01\0UN\0\0\0\0\0\0" * 400_000)


def _codestream(path: Path) -> None:
    """Write a JPEG 2000 image of 60 000 by 60 000 pixels in 200 bytes."""
    dataset = dcmread(make_dicom(path, _TINY, Rows=60_000, Columns=60_000))
    size = struct.pack(">HHIIIIIIIIH", 41, 0, 60_000, 60_000, 0, 0, 1, 1, 0, 0, 1)
    stream = b"\xff\x4f\xff\x51" + size + b"\x0f\x01\x01" + bytes(100)
    item = b"\xfe\xff\0\xe0"
    dataset.PixelData = (
        *(item + bytes(4) + item + struct.pack("<I", len(stream)) + stream,),
    )[0] + b"\xfe\xff\xdd\xe0\0\0\0\0"
    dataset["PixelData"].is_undefined_length = True
    dataset["PixelData"].VR = "OB"
    dataset.file_meta.TransferSyntaxUID = JPEG2000Lossless
    dataset.save_as(path)


def _png(path: Path, side: int, data: bytes | None = None) -> None:
    """Write a grey PNG that says it has a side; all zeros unless there is data."""

    def chunk(name: bytes, body: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(name + body))
        return struct.pack(">I", len(body)) + name + body + check

    packer = zlib.compressobj(9)
    parts = [
        packer.compress(bytes(side + 1)) for _ in range(side if data is None else 0)
    ]
    body = data or b"".join(parts) + packer.flush()
    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body)
        + chunk(b"IEND", b"")
    )  # fmt: skip


def _tiff(path: Path, side: int, again: bool = False) -> None:
    """Write a TIFF that says it has a side; its next page may be itself ``again``."""
    tags = (
        *((256, 4, side), (257, 4, side), (258, 3, 8), (259, 3, 1), (262, 3, 1)),
        *((273, 4, 8), (277, 3, 1), (278, 4, side), (279, 4, 4)),
    )
    entries = b"".join(struct.pack("<HHII", tag, kind, 1, v) for tag, kind, v in tags)
    next_page = 8 if again else 0
    path.write_bytes(
        b"II*\0\x08\0\0\0" + struct.pack("<H", len(tags)) + entries
        + struct.pack("<I", next_page) + bytes(16)
    )  # fmt: skip


def _nifti(path: Path, *sizes: int, packed: int = 0, magic: bytes = b"n+1\0") -> None:
    """Write a NIfTI header, and as many packed megabytes of zeros."""
    head = bytearray(352)
    struct.pack_into("<i", head, 0, _NII)
    struct.pack_into("<8h", head, 40, len(sizes), *sizes, *([1] * (7 - len(sizes))))
    struct.pack_into("<hh", head, 70, 4, 16)
    struct.pack_into("<8f", head, 76, *([1.0] * 8))
    struct.pack_into("<f", head, 108, 352.0)
    head[344:348] = magic
    if path.name.endswith(".gz"):  # members one after the other are one file
        path.write_bytes(gzip.compress(head) + gzip.compress(bytes(_MB)) * packed)
    else:
        path.write_bytes(head)


def _meta(data: str, size: str = "16 16 1") -> Make:
    def write(path: Path) -> None:
        path.write_text(
            f"ObjectType = Image\nNDims = 3\nDimSize = {size}\n"
            f"ElementType = MET_USHORT\nElementDataFile = {data}\n"
        )

    return write


def _nrrd(data: str, size: str = "16 16 1") -> Make:
    def write(path: Path) -> None:
        path.write_text(
            f"NRRD0004\ntype: uint16\ndimension: 3\nsizes: {size}\nencoding: raw\n"
            f"endian: little\ndata file: {data}\n"
        )

    return write


def _dicom(**attributes: int) -> Make:
    return lambda path: make_dicom(path, _TINY, bits_stored=16, **attributes)


def _cut(path: Path) -> None:
    path.write_bytes(make_dicom(path, _RAMP).read_bytes()[:1000])


def _cut_png(path: Path) -> None:
    Image.fromarray(_RAMP.astype(np.uint8)).save(path)
    path.write_bytes(path.read_bytes()[:60])


def _socket(path: Path) -> None:
    where = Path.cwd()
    os.chdir(path.parent)  # a socket's path may not be long
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(where)


def _link(target: str) -> Make:
    return lambda path: path.symlink_to(target)


def _folder(path: Path) -> None:
    path.mkdir()


def _named(name: bytes) -> Make:
    return lambda path: path.with_name(os.fsdecode(name)).symlink_to("nowhere")


def _text_chunk(path: Path) -> None:
    """Write a PNG with a text of 500 MB, packed."""
    Image.fromarray(_RAMP.astype(np.uint8)).save(path)
    data = path.read_bytes()
    body = b"zTXt" + b"k\0\0" + zlib.compress(bytes(500 * _MB), 9)
    chunk = (
        struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    )
    path.write_bytes(data[:33] + chunk + data[33:])


def _pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps({"map": bytes(_MB)}) + b"c__builtin__\neval\n")


HOSTILE: Final[Mapping[str, Make]] = {
    "deflated.dcm": _deflated,
    "frames.dcm": _dicom(NumberOfFrames=2_000_000_000),
    "frames_more.dcm": _dicom(NumberOfFrames=100_000, Rows=1, Columns=1),
    "rows.dcm": _dicom(Rows=65_535, Columns=65_535),
    "no_rows.dcm": _dicom(Rows=0),
    "nested.dcm": _nested,
    "long_value.dcm": _long_value,
    "many_tags.dcm": _many_tags,
    "codestream.dcm": _codestream,
    "cut.dcm": _cut,
    "empty.dcm": Path.touch,
    "letter.dcm": lambda path: path.write_text("Dear colleague,\n" * 1000),
    "zeros.dcm": lambda path: _zeros(path, 64),
    "sparse.dcm": lambda path: _zeros(path, 100 * 1024),
    "sparse.nii": lambda path: _zeros(path, 100 * 1024, b"\x5c\x01\0\0"),
    "pipe.dcm": os.mkfifo,
    "socket.dcm": _socket,
    "zero_device.dcm": _link("/dev/zero"),
    "random_device.png": _link("/dev/urandom"),
    "terminal.dcm": _link("/dev/tty"),
    "folder.dcm": _folder,
    "again": _link("."),
    "loop.dcm": _link("loop.dcm"),
    "dangling.dcm": _link("nowhere.dcm"),
    "passwd.dcm": _link("/etc/passwd"),
    "passwd.mhd": _meta("/etc/passwd"),
    "above.mhd": _meta("../../../etc/passwd"),
    "linked.mhd": _meta("passwd.dcm"),
    "passwd.nhdr": _nrrd("/etc/passwd"),
    "device.nhdr": _nrrd("zero_device.dcm"),
    "slices.mhd": _meta("empty.dcm", "1000 1000 2000"),
    "slices.nii": lambda path: _nifti(path, 30_000, 1, 30_000),
    "packed.nii.gz": lambda path: _nifti(path, 1024, 1024, 1500, packed=3000),
    "pair.nii": lambda path: _nifti(path, 16, 16, 1, magic=b"ni1\0"),
    "large.png": lambda path: _png(path, 60_000, zlib.compress(bytes(_MB))),
    "text.png": _text_chunk,
    "cut.png": _cut_png,
    "large.tif": lambda path: _tiff(path, 60_000),
    "endless.tif": lambda path: _tiff(path, 100_000, again=True),
    "not-utf-8": _named(b"\xff\xfe\x1b[31m\n.dcm"),
}
"""Who makes each file that is no readable image, by its name."""


if __name__ == "__main__":
    make_hostile_folder(Path(sys.argv[1]))
