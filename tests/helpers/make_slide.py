"""Small whole slides for tests: tiled TIFF as scanners write it, and DICOM."""

import io
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from PIL import Image
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.encaps import encapsulate
from pydicom.uid import (
    ExplicitVRLittleEndian,
    JPEGBaseline8Bit,
    VLWholeSlideMicroscopyImageStorage,
    generate_uid,
)

Pixels = npt.NDArray[np.uint8]
TILE = 256
APERIO_START = "Aperio Image Library v1 \n"
APERIO = APERIO_START + (
    "{columns}x{rows} [0,0 {columns}x{rows}] ({tile}x{tile}) {facts}"
)


def tissue(rows: int, columns: int) -> Pixels:
    """Return a smooth coloured picture in which every place is different."""
    y, x = np.ogrid[0:rows, 0:columns]
    picture: Pixels = np.empty((rows, columns, 3), dtype=np.uint8)
    picture[..., 0] = (128 + 100 * np.sin(x / 37)).astype(np.uint8)
    picture[..., 1] = (128 + 100 * np.cos(y / 53)).astype(np.uint8)
    picture[..., 2] = (x + 2 * y) * 255 // (columns + 2 * rows)
    return picture


def halved(pixels: Pixels) -> Pixels:
    """Return a picture of half the size, every pixel the mean of four."""
    rows, columns = pixels.shape[0] // 2, pixels.shape[1] // 2
    wide = pixels[: rows * 2, : columns * 2].astype(np.uint16)
    total = wide[::2, ::2] + wide[::2, 1::2] + wide[1::2, ::2] + wide[1::2, 1::2]
    mean: Pixels = (total // 4).astype(np.uint8)
    return mean


def pyramid(scan: Pixels, levels: int) -> list[Pixels]:
    """Return the scan and its halves."""
    found = [scan]
    while len(found) < levels:
        found.append(halved(found[-1]))
    return found


def write_svs(
    path: Path,
    levels: Sequence[Pixels],
    facts: str = "",
    photographs: Mapping[str, Pixels] = MappingProxyType({}),
) -> Path:
    """Write levels as Aperio's scanners do; ``facts`` such as ``|AppMag = 20``.

    ``photographs`` are those of the glass by name, such as ``label`` and ``macro``.
    """
    rows, columns = levels[0].shape[:2]
    said = APERIO.format(rows=rows, columns=columns, tile=TILE, facts=facts)
    return write_tiled_tiff(path, levels, said, photographs=photographs)


def write_tiled_tiff(
    path: Path,
    levels: Sequence[Pixels],
    description: str,
    pixels_per_cm: float | None = None,
    photographs: Mapping[str, Pixels] = MappingProxyType({}),
) -> Path:
    """Write an uncompressed TIFF of 8-bit RGB tiles, one directory a level.

    ``pixels_per_cm`` is the scan's resolution, None for none.
    """
    data = bytearray(b"II*\0" + struct.pack("<I", 0))
    link = 4
    for number, pixels in enumerate(levels):
        said = None if number else pixels_per_cm
        link = _add_level(data, pixels, description, link, number > 0, said)
    for name, pixels in photographs.items():
        link = _add_photograph(data, pixels, f"{APERIO_START}{name} ", link)
    path.write_bytes(bytes(data))
    return path


def _add_level(
    data: bytearray,
    pixels: Pixels,
    description: str,
    link: int,
    reduced: bool,
    pixels_per_cm: float | None,
) -> int:
    """Append a level; returns where the next directory's position belongs."""
    offsets = [_append(data, tile.tobytes()) for tile in tiles(pixels)]
    said = description.encode() + b"\0"
    entries = [
        (254, 4, [int(reduced)]),
        (256, 4, [pixels.shape[1]]),
        (257, 4, [pixels.shape[0]]),
        (258, 3, [8, 8, 8]),
        (259, 3, [1]),
        (262, 3, [2]),
        (270, 2, list(said)),
        (277, 3, [3]),
        (284, 3, [1]),
        *_resolution(pixels_per_cm),
        (322, 4, [TILE]),
        (323, 4, [TILE]),
        (324, 4, offsets),
        (325, 4, [TILE * TILE * 3] * len(offsets)),
    ]
    return _add_directory(data, entries, link)


def _add_photograph(
    data: bytearray, pixels: Pixels, description: str, link: int
) -> int:
    """Append a page in one strip; returns where the next directory's position goes."""
    entries = [
        (254, 4, [1]),
        (256, 4, [pixels.shape[1]]),
        (257, 4, [pixels.shape[0]]),
        (258, 3, [8, 8, 8]),
        (259, 3, [1]),
        (262, 3, [2]),
        (270, 2, list(description.encode() + b"\0")),
        (273, 4, [_append(data, pixels.tobytes())]),
        (277, 3, [3]),
        (278, 4, [pixels.shape[0]]),
        (279, 4, [pixels.nbytes]),
        (284, 3, [1]),
    ]
    return _add_directory(data, entries, link)


def _add_directory(
    data: bytearray, entries: list[tuple[int, int, list[int]]], link: int
) -> int:
    packed = [_entry(data, *entry) for entry in entries]
    at = _append(data, struct.pack("<H", len(packed)) + b"".join(packed))
    data[link : link + 4] = struct.pack("<I", at)
    return _append(data, struct.pack("<I", 0))


def _append(data: bytearray, piece: bytes) -> int:
    at = len(data)
    data += piece
    return at


def _entry(data: bytearray, tag: int, kind: int, values: list[int]) -> bytes:
    code = {2: "B", 3: "H", 4: "I", 5: "II"}[kind]
    form = code * len(values) if kind != 5 else code
    packed = struct.pack(f"<{form}", *values)
    if len(packed) > 4:
        data += b"\0" * (len(data) % 2)
        packed = struct.pack("<I", _append(data, packed))
    count = 1 if kind == 5 else len(values)
    return struct.pack("<HHI", tag, kind, count) + packed.ljust(4, b"\0")


def _resolution(pixels_per_cm: float | None) -> list[tuple[int, int, list[int]]]:
    if pixels_per_cm is None:
        return []
    ratio = [round(pixels_per_cm * 1000), 1000]
    return [(282, 5, ratio), (283, 5, ratio), (296, 3, [3])]


def tiles(pixels: Pixels) -> list[Pixels]:
    """Return a picture's tiles row by row, the last ones filled up with white."""
    rows, columns = pixels.shape[:2]
    padded = np.full(
        (-rows % TILE + rows, -columns % TILE + columns, 3), 255, dtype=np.uint8
    )
    padded[:rows, :columns] = pixels
    return [
        padded[y : y + TILE, x : x + TILE]
        for y in range(0, rows, TILE)
        for x in range(0, columns, TILE)
    ]


def write_dicom_slide(
    folder: Path,
    levels: Sequence[Pixels],
    um: float | None,
    *,
    jpeg: bool = False,
    **facts: object,
) -> list[Path]:
    """Write a slide's levels, one file each; ``um`` is the scan's pixel in µm.

    ``jpeg`` compresses all but the scan as YCbCr, with the tag RGB left as it was, as
    some writers do. Further keyword arguments are attributes of every file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shared = {name: generate_uid() for name in _SHARED_UIDS}
    paths = []
    for number, pixels in enumerate(levels):
        level = _level(pixels, None if um is None else um * 2**number, number)
        for name, value in {**shared, **facts}.items():
            setattr(level, name, value)
        if jpeg and number > 0:
            _compress(level, pixels)
        paths.append(folder / f"level_{number}.dcm")
        level.save_as(paths[-1], enforce_file_format=True)
    return paths


_SHARED_UIDS = (
    "StudyInstanceUID", "SeriesInstanceUID", "FrameOfReferenceUID", "PyramidUID",
)  # fmt: skip


def _level(pixels: Pixels, um: float | None, number: int) -> Dataset:
    cut = tiles(pixels)
    level = Dataset()
    level.file_meta = FileMetaDataset()
    level.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    level.SOPClassUID = VLWholeSlideMicroscopyImageStorage
    level.SOPInstanceUID = generate_uid()
    level.ImageType = ["ORIGINAL" if number == 0 else "DERIVED", "PRIMARY", "VOLUME"]
    level.ImageType.append("NONE" if number == 0 else "RESAMPLED")
    level.Modality = "SM"
    level.PatientID, level.PatientName = "P-17", "Doe^Jane"
    level.InstanceNumber = number + 1
    level.TotalPixelMatrixRows, level.TotalPixelMatrixColumns = pixels.shape[:2]
    level.TotalPixelMatrixFocalPlanes = level.NumberOfOpticalPaths = 1
    level.Rows = level.Columns = TILE
    level.NumberOfFrames = len(cut)
    level.DimensionOrganizationType = "TILED_FULL"
    level.SamplesPerPixel, level.PhotometricInterpretation = 3, "RGB"
    level.PlanarConfiguration = level.PixelRepresentation = 0
    level.BitsAllocated = level.BitsStored = 8
    level.HighBit = 7
    level.ImagedVolumeWidth = level.ImagedVolumeHeight = 1.0
    level.ImagedVolumeDepth = 0.001
    level.FocusMethod, level.ExtendedDepthOfField = "AUTO", "NO"
    level.ImageOrientationSlide = [0, -1, 0, -1, 0, 0]
    level.SharedFunctionalGroupsSequence = [_groups(um)]
    level.OpticalPathSequence = [_path()]
    level.PixelData = b"".join(tile.tobytes() for tile in cut)
    return level


def _compress(level: Dataset, pixels: Pixels) -> None:
    frames = []
    for tile in tiles(pixels):
        with io.BytesIO() as stream:
            Image.fromarray(tile).save(stream, "JPEG", quality=95, subsampling=2)
            frames.append(stream.getvalue())
    level.file_meta.TransferSyntaxUID = JPEGBaseline8Bit
    level.PixelData = encapsulate(frames)
    level["PixelData"].VR = "OB"


def _groups(um: float | None) -> Dataset:
    groups, measures = Dataset(), Dataset()
    if um is not None:
        measures.PixelSpacing = [f"{um / 1000:.8f}"] * 2
        measures.SliceThickness = "0.001"
    groups.PixelMeasuresSequence = [measures]
    return groups


def _path() -> Dataset:
    path = Dataset()
    path.OpticalPathIdentifier = "0"
    return path
