"""Every way to store overlay planes (PS3.3 C.9.2, PS3.5 8.1.2), against what was drawn.

The reference places each bit by the origin, one after another.
"""

import zlib
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from pydicom.dataset import Dataset

from tests.helpers.gauntlet_words import NATIVE, header, native, noise, swapped
from tests.helpers.make_dicom import save_dicom
from viewer.domain.case import ImageRef
from viewer.imaging.luts import to_raster
from viewer.readers.overlay_planes import overlay_planes
from viewer.readers.pixels import load_pixels

ROWS, COLUMNS, FRAMES = 24, 31, 3
ORIGINS = ((1, 1), (5, 9), (-3, -7), (20, 25), (40, 1))
Bits = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Row:
    """One file: where its planes are, how large, and for which frames."""

    syntax: str
    groups: tuple[int, ...]
    origin: tuple[int, int]
    size: tuple[int, int]
    frames: int
    first: int = 1
    vr: str = "OW"

    @property
    def name(self) -> str:
        return str(self)


SEPARATE = [
    Row(syntax, groups, origin, size, frames, first, vr)
    for syntax, groups, origin, size, (frames, first), vr in product(
        NATIVE,
        ((0x6000,), (0x601E,), (0x6002, 0x6010)),
        ORIGINS,
        ((ROWS, COLUMNS), (7, 9)),
        ((0, 1), (FRAMES, 1), (2, 2)),
        ("OB", "OW"),
    )
]


def drawn(row: Row, group: int) -> Bits:
    """Return what the plane of a group marks, (frames, rows, columns)."""
    seed = zlib.crc32(f"{row.name}{group}".encode())
    shape = (max(row.frames, 1), *row.size)
    return np.random.default_rng(seed).random(shape) > 0.6


def add_plane(dataset: Dataset, row: Row, group: int) -> None:
    facts: list[tuple[int, str, object]] = [
        (0x0010, "US", row.size[0]), (0x0011, "US", row.size[1]), (0x0040, "CS", "G"),
        (0x0050, "SS", list(row.origin)), (0x0100, "US", 1), (0x0102, "US", 0),
    ]  # fmt: skip
    if row.frames:
        facts += [(0x0015, "IS", row.frames), (0x0051, "US", row.first)]
    data = np.packbits(drawn(row, group).ravel(), bitorder="little").tobytes()
    data += b"\0" * (len(data) % 2)
    vr = "OW" if row.syntax == "implicit" else row.vr
    if vr == "OW" and row.syntax == "big":
        data = swapped(data)
    for element, kind, value in (*facts, (0x3000, vr, data)):
        dataset.add_new((group, element), kind, value)


def expected(row: Row, frame: int) -> Bits:
    """Return the pixels of a frame that any plane marks."""
    marked = np.zeros((ROWS, COLUMNS), bool)
    for group in row.groups:
        planes = drawn(row, group)
        number = frame + 1 - row.first if row.frames else 0
        if 0 <= number < len(planes):
            for (y, x), bit in np.ndenumerate(planes[number]):
                at = y + row.origin[0] - 1, x + row.origin[1] - 1
                if bit and 0 <= at[0] < ROWS and 0 <= at[1] < COLUMNS:
                    marked[at] = True
    return marked


@pytest.mark.proof
def test_that_planes_lie_where_they_were_drawn_and_leave_the_pixels(
    tmp_path: Path,
) -> None:
    wrong = []
    for number, row in enumerate(SEPARATE):
        true = noise("planes", 8, (FRAMES, ROWS, COLUMNS))
        dataset = header(true[0], 8, 8, NumberOfFrames=FRAMES)
        native(dataset, true, NATIVE[row.syntax])
        plain = save_dicom(
            dataset, tmp_path / f"{number}-plain.dcm", NATIVE[row.syntax]
        )
        for group in row.groups:
            add_plane(dataset, row, group)
        path = save_dicom(dataset, tmp_path / f"{number}.dcm", NATIVE[row.syntax])
        for frame in range(FRAMES):
            found, wanted = overlay_planes(ImageRef(path, frame)), expected(row, frame)
            found = np.zeros_like(wanted) if found is None else found
            pixels = [
                to_raster(load_pixels(ImageRef(p, frame))).pixels for p in (path, plain)
            ]
            if not np.array_equal(found, wanted) or (pixels[0] != pixels[1]).any():
                wrong.append((row.name, frame))
        path.unlink()
        plain.unlink()
    print(f"{len(SEPARATE)} files of {FRAMES} frames with planes of their own")
    assert wrong == []


@pytest.mark.proof
def test_that_planes_in_unused_bits_are_read_and_leave_the_samples(
    tmp_path: Path,
) -> None:
    wrong, count = [], 0
    for (key, syntax), bit, frame in product(NATIVE.items(), range(12, 16), range(2)):
        true = noise("inside", 12, (2, ROWS, COLUMNS))
        marks = np.random.default_rng(bit).random((2, ROWS, COLUMNS)) > 0.7
        dataset = header(true[0], 12, 16, NumberOfFrames=2)
        native(dataset, true | (marks.astype(np.int64) << bit), syntax)
        for element, vr, value in (
            (0x0010, "US", ROWS), (0x0011, "US", COLUMNS), (0x0040, "CS", "G"),
            (0x0050, "SS", [1, 1]), (0x0100, "US", 16), (0x0102, "US", bit),
        ):  # fmt: skip
            dataset.add_new((0x6000, element), vr, value)
        path = save_dicom(dataset, tmp_path / f"{key}-{bit}-{frame}.dcm", syntax)
        ref = ImageRef(path, frame)
        found = overlay_planes(ref)
        values = load_pixels(ref).values
        same = found is not None and np.array_equal(found, marks[frame])
        if not same or not np.array_equal(values, true[frame]):
            wrong.append((key, bit, frame))
        count += 1
    print(f"{count} frames with planes in unused bits")
    assert wrong == []
