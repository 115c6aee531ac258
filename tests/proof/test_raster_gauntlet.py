"""Picture files of every kind, read here, by NumPy and by ImageMagick.

Every file is held against what NumPy makes of the samples that were written into it by
the words of its standard. Where ImageMagick shows anything else by more than a grey
level, the table that is printed says who is right, and by which paragraph.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest

from tests.helpers.make_raster import Page, write_tiff
from tests.helpers.raster_cases import RasterCase, raster_cases, upright
from viewer.domain.case import ImageRef
from viewer.domain.image import PixelImage
from viewer.imaging.luts import is_inverted
from viewer.readers.pixels import load_pixels

pytestmark = pytest.mark.proof
Array = npt.NDArray[Any]

_WHITE_IS_ZERO: Final = (
    "TIFF 6.0, PhotometricInterpretation: 0 is imaged as white. ImageMagick 6 inverts "
    "1, 8 and 16 bits only"
)
_SIGNED: Final = (
    "TIFF 6.0, SampleFormat 2: two's complement. ImageMagick 6 shows -1 of 8 and 32 "
    "bits as white"
)
_EXIF: Final = (
    "PNG 3, eXIf, and WebP, EXIF: Orientation as in EXIF 2.3, 4.6.4 A. ImageMagick 6 "
    "reads it in JPEG and TIFF only"
)
_GAMMA: Final = (
    "PNG 3, 4.3: whether gAMA is used is the viewer's choice. Here samples are "
    "measurements; ImageMagick 6 takes grey of gamma 1 for linear light"
)
_YCBCR: Final = (
    "TIFF 6.0, page 91: the equations of CCIR 601-1, here within half a grey level of "
    "them by NumPy; ImageMagick 6 rounds in between"
)
RIGHT: Final = (
    (r"(grey-(2|4|12|32)bit|numbers-\w\d)-whiteIsZero", _WHITE_IS_ZERO),
    (r"numbers-i\d-blackIsZero", _SIGNED),
    (r"turned\d-(before|behind)\.png|turned\d\.webp", _EXIF),
    (r"gamma100000-grey", _GAMMA),
    (r"ycbcr", _YCBCR),
)
"""Files that ImageMagick shows in another way, and why what is shown here is right."""


@dataclass(frozen=True, slots=True)
class Apart:
    """How many grey levels lie at most between two readings of a file."""

    name: str
    levels: float
    why: str = ""


def _shown(image: PixelImage, case: RasterCase) -> Array:
    """Return what an image shows, 0 to 255, by the range that its samples have."""
    if case.values is None:
        return image.values.astype(np.float64)
    values, wanted = image.values.astype(np.float64), case.values.astype(np.float64)
    low, high = wanted.min(), wanted.max()
    ends = sorted((float(case.shown.min()), float(case.shown.max())))
    share = (values - low) / (high - low)
    share = 1 - share if is_inverted(image) else share
    return np.asarray(ends[0] + share * (ends[1] - ends[0]))


def _between(ours: Array, other: Array) -> float:
    """Return the greatest difference; another size is as different as can be."""
    if ours.ndim < other.ndim:
        ours = np.repeat(ours[..., None], 3, axis=2)
    return float(np.abs(ours - other).max()) if ours.shape == other.shape else 255.0


def _imagemagick(path: Path, frame: int, shape: tuple[int, ...]) -> Array:
    """Return what ImageMagick makes of a page: (rows, columns, 3), 0 to 255."""
    turned = ["-auto-orient", "-alpha", "off", "-depth", "16", "-endian", "LSB"]
    found = subprocess.run(
        ["convert", f"{path}[{frame}]", *turned, "rgb:-"], capture_output=True
    )
    pixels = np.frombuffer(found.stdout, "<u2").astype(np.float64) / 257
    if pixels.size != 3 * shape[0] * shape[1]:
        return np.empty((0, 0, 3))
    return pixels.reshape(*shape[:2], 3)


def _has_imagemagick() -> bool:
    if not shutil.which("convert"):
        return False
    said = subprocess.run(["convert", "-version"], capture_output=True, text=True)
    return "Version: ImageMagick" in said.stdout


@pytest.fixture(scope="module")
def read(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, tuple[RasterCase, Path, Array]]:
    folder = tmp_path_factory.mktemp("pictures")
    found = {}
    for case in raster_cases():
        path = case.written(folder)
        image = load_pixels(ImageRef(path, case.frame))
        found[case.name] = case, path, _shown(image, case)
    return found


def test_that_every_file_shows_what_its_standard_says(
    read: dict[str, tuple[RasterCase, Path, Array]],
) -> None:
    assert len(read) >= 150
    apart = [
        Apart(name, _between(ours, case.shown))
        for name, (case, _, ours) in read.items()
        if _between(ours, case.shown) > max(1, case.within)
    ]
    print(f"{len(read)} files against NumPy: {len(apart)} shown in another way")
    assert apart == []


def test_that_where_imagemagick_differs_the_standard_is_on_our_side(
    read: dict[str, tuple[RasterCase, Path, Array]],
) -> None:
    if not _has_imagemagick():
        pytest.skip("ImageMagick is not installed")
    apart = list(_differing(read))
    print(f"{len(read)} files against ImageMagick: {len(apart)} shown in another way")
    for why in sorted({each.why for each in apart}):
        print(f"  {why}:")
        of_why = [each for each in apart if each.why == why]
        for each in of_why:
            print(f"    {each.name:44} {each.levels:6.1f} grey levels")
    assert [each for each in apart if not each.why] == []


def _differing(
    read: dict[str, tuple[RasterCase, Path, Array]],
) -> Iterator[Apart]:
    for name, (case, path, ours) in read.items():
        theirs = _imagemagick(path, case.frame, ours.shape)
        levels = _between(ours, theirs)
        if levels > 1:
            why = next((said for shape, said in RIGHT if re.match(shape, name)), "")
            yield Apart(name, levels, why)


COMPRESSIONS: Final = (
    ("LZW", "grey8"), ("LZW", "grey16"), ("LZW", "rgb8"), ("LZW", "rgb16"),
    ("Zip", "grey16"), ("Zip", "rgb16"), ("RLE", "rgb8"), ("JPEG", "grey8"),
    ("JPEG", "rgb8"), ("Group4", "bits"), ("Fax", "bits"), ("LZMA", "grey16"),
    ("ZSTD", "rgb16"), ("WebP", "rgb8"),
)  # fmt: skip


@pytest.mark.parametrize(("compression", "kind"), COMPRESSIONS)
def test_that_what_imagemagick_compresses_is_shown_as_by_imagemagick(
    tmp_path: Path, compression: str, kind: str
) -> None:
    if not _has_imagemagick():
        pytest.skip("ImageMagick is not installed")
    made = _picture(kind)
    source = write_tiff(tmp_path / "plain.tif", Page(made, 2 if made.ndim == 3 else 1))
    for orientation, turn in (("top-left", 1), ("right-top", 6)):
        path = tmp_path / f"{orientation}.tif"
        way = ["-compress", compression, "-orient", orientation]
        way = ["-type", "bilevel", *way] if kind == "bits" else way
        command = ["convert", str(source), *way, str(path)]
        if subprocess.run(command, capture_output=True).returncode:
            pytest.skip(f"this ImageMagick has no {compression}")
        image = load_pixels(ImageRef(path))
        ours = image.values.astype(np.float64)
        ours = ours / 257 if image.values.dtype == np.uint16 else ours
        ours = 255 - ours if is_inverted(image) else ours
        # ImageMagick 6 turns JPEG and Fax twice, so only what is not turned is its own.
        theirs = _imagemagick(tmp_path / "top-left.tif", 0, made.shape)
        assert _between(ours, upright(theirs, turn)) <= 1


def _picture(kind: str) -> Array:
    y, x = np.mgrid[0:40, 0:64]
    waves = np.stack([127 + 120 * np.sin((x + y * n) / 17) for n in (1, 2, 3)], axis=-1)
    if kind == "bits":
        return np.where(waves[..., 0] > 127, 255, 0).astype(np.uint8)
    deep = (
        (waves * 257).astype(np.uint16) if kind.endswith("16") else waves.astype("u1")
    )
    return deep if kind.startswith("rgb") else deep[..., 0]
