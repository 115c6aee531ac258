import os
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import SimpleITK

from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import PointMm, SizePx
from viewer.domain.image import Photometric
from viewer.domain.image_geometry import ImageGeometry, Spacing, SpacingMeaning
from viewer.readers.masks import load_mask
from viewer.readers.pixels import VOLUME_SUFFIXES, load_pixels
from viewer.readers.volumes.volume import HEADERS, volume_geometries

VOLUME = np.arange(4 * 5 * 6, dtype=np.int16).reshape(4, 5, 6) - 50
SUFFIXES = ["nii", "nii.gz", "nrrd", "mha", "mhd"]


def write(path: Path, values: npt.NDArray[np.generic], *, vector: bool = False) -> Path:
    image: Any = SimpleITK.GetImageFromArray(values, isVector=vector)
    image.SetSpacing([0.5, 0.75, 2.0][: image.GetDimension()])
    SimpleITK.WriteImage(image, str(path))
    return path


def test_that_every_ending_of_a_volume_has_a_reader() -> None:
    assert set(HEADERS) == set(VOLUME_SUFFIXES)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_that_frames_are_the_slices_along_the_last_axis(
    tmp_path: Path, suffix: str
) -> None:
    path = write(tmp_path / f"a.{suffix}", VOLUME)
    geometries, slices = volume_geometries(path)
    assert slices == 4
    for frame in range(4):
        image = load_pixels(ImageRef(path, frame))
        assert (image.values == VOLUME[frame]).all()
        assert image.geometry == geometries[frame]
        assert image.geometry == ImageGeometry(
            SizePx(5, 6),
            Spacing(0.75, 0.5, SpacingMeaning.PATIENT),
            axes=(1, 0, 0, 0, 1, 0),
            position=PointMm(0, 0, 2 * frame),
        )


def test_that_a_time_series_runs_slice_by_slice(tmp_path: Path) -> None:
    series = np.arange(2 * 3 * 4 * 5, dtype=np.int16).reshape(2, 3, 4, 5)
    image: Any = SimpleITK.GetImageFromArray(series, isVector=False)
    for direction, slices in ((1, [0, 1, 2]), (-1, [2, 1, 0])):  # only these turn round
        path = tmp_path / f"a{direction}.nii"
        image.SetDirection(np.diag([1.0, 1, direction, 1]).ravel().tolist())
        SimpleITK.WriteImage(image, str(path))
        geometries, count = volume_geometries(path)
        assert (geometries[0].size, count) == (SizePx(4, 5), 6)
        shown = [load_pixels(ImageRef(path, frame)).values for frame in range(count)]
        assert (np.stack(shown).reshape(2, 3, 4, 5) == series[:, slices]).all()
        assert geometries[:3] == geometries[3:]


@pytest.mark.parametrize("suffix", ["nii", "mhd", "nhdr"])
def test_that_a_slice_of_a_large_volume_is_read_alone(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"a.{suffix}"
    image: Any = SimpleITK.GetImageFromArray(np.zeros((2, 64, 64), np.int16))
    image.SetSpacing([0.5, 0.75, 2.0])
    SimpleITK.WriteImage(image, str(path))
    data = path if suffix == "nii" else path.with_suffix(".raw")
    start = data.stat().st_size - 64 * 64 * 2 * 2
    header = path.read_bytes()
    if suffix == "nii":
        header = header[:46] + struct.pack("<h", 32_000) + header[48:]
    path.write_bytes(header.replace(b"64 64 2\n", b"64 64 32000\n"))
    os.truncate(data, start + 32_000 * 64 * 64 * 2)  # takes no room on the disk
    with data.open("r+b") as stream:
        stream.seek(start + 31_999 * 64 * 64 * 2)
        stream.write(b"\1\0")
    tracemalloc.start()
    values = load_pixels(ImageRef(path, 31_999)).values
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert values[0, 0] == values.sum() == 1
    assert peak < 5 << 20


def test_that_a_single_slice_and_doubles_and_colour_are_read(tmp_path: Path) -> None:
    flat = load_pixels(ImageRef(write(tmp_path / "a.mha", VOLUME[0] / 3)))
    assert flat.values.dtype == np.float32
    rgb = np.random.default_rng(0).integers(0, 256, (2, 4, 5, 3), dtype=np.uint8)
    color = load_pixels(ImageRef(write(tmp_path / "b.nrrd", rgb, vector=True), 1))
    assert color.photometric is Photometric.RGB
    assert (color.values == rgb[1]).all()


def test_that_a_slice_that_is_not_there_is_said(tmp_path: Path) -> None:
    path = write(tmp_path / "a.nii.gz", VOLUME)
    with pytest.raises(
        UnreadableInputError, match=r"a\.nii\.gz has 4 slices; there is no slice 9"
    ):
        load_pixels(ImageRef(path, 9))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_that_a_file_that_is_no_volume_is_refused(
    tmp_path: Path, suffix: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_text("nothing of the kind")
    with pytest.raises(UnreadableInputError, match="cannot be read as a volume"):
        load_pixels(ImageRef(path))
    assert not capfd.readouterr().err


def test_that_a_missing_volume_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="does not exist"):
        load_pixels(ImageRef(tmp_path / "a.nii"))


def test_that_a_truncated_volume_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.nrrd", VOLUME)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(UnreadableInputError):
        load_pixels(ImageRef(path, 3))


def test_that_a_volume_of_absurd_size_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mhd", VOLUME)
    header = path.read_text().replace("DimSize = 6 5 4", "DimSize = 60000 50000 40000")
    path.write_text(header)
    with pytest.raises(UnreadableInputError, match="60000 × 50000 × 40000 voxels"):
        volume_geometries(path)


def test_that_a_mask_may_be_a_one_slice_volume(tmp_path: Path) -> None:
    path = write(tmp_path / "a.nii.gz", (VOLUME[:1] > 0).astype(np.uint8) * 3)
    assert (load_mask(path) == (VOLUME[0] > 0)).all()
