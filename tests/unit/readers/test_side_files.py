"""Which files a volume's header may take its pixels from."""

import os
import re
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk  # noqa: N813 - its usual name

from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.readers.datasets.files import files_of_image, image_sha256, read_facts
from viewer.readers.headers import read_file_header
from viewer.readers.pixels import load_pixels
from viewer.readers.slides.openslide import openslide_parts

VOXELS = np.arange(2 * 3 * 4, dtype=np.uint16).reshape(2, 3, 4)
META = """ObjectType = Image
NDims = 3
DimSize = 4 3 2
ElementType = MET_USHORT
ElementDataFile = {data}
"""
NRRD = """NRRD0004
type: uint16
dimension: 3
sizes: 4 3 2
encoding: raw
endian: little
data file: {data}
"""


@pytest.fixture(params=[("a.mhd", META), ("a.mha", META), ("a.nhdr", NRRD)])
def kind(request: pytest.FixtureRequest) -> tuple[str, str]:
    name, header = request.param
    return str(name), str(header)


def volume(folder: Path, kind: tuple[str, str], data: str) -> Path:
    """Return a header that takes its pixels from ``data``; a.raw lies beside it."""
    path = folder / kind[0]
    path.write_text(kind[1].format(data=data))
    (folder / "a.raw").write_bytes(VOXELS.tobytes())
    return path


@pytest.mark.parametrize("data", ["a.raw", "./a.raw", "LIST\na.0.raw\na.1.raw"])
def test_that_files_beside_the_header_are_read(
    tmp_path: Path, kind: tuple[str, str], data: str
) -> None:
    for n, plane in enumerate(VOXELS):
        (tmp_path / f"a.{n}.raw").write_bytes(plane.tobytes())
    path = volume(tmp_path, kind, data)
    names = re.findall(r"a\S*raw", data)
    assert [p.name for p in files_of_image(path)] == [path.name, *names]
    np.testing.assert_array_equal(load_pixels(ImageRef(path, 1)).values, VOXELS[1])


@pytest.mark.parametrize(
    "data", ["/etc/passwd", "../a.raw", "b/../a.raw", "..\\a.raw", "C:a.raw", "-", "."]
)
def test_that_files_elsewhere_are_refused(
    tmp_path: Path, kind: tuple[str, str], data: str
) -> None:
    path = volume(tmp_path, kind, data)
    for read in (read_file_header, files_of_image):
        with pytest.raises(
            UnreadableInputError, match="from a file outside its folder"
        ):
            read(path)


def test_that_a_second_field_cannot_hide_behind_the_first(
    tmp_path: Path, kind: tuple[str, str]
) -> None:
    path = volume(tmp_path, kind, "a.raw")
    field = kind[1].splitlines()[-1].format(data="/etc/passwd")
    path.write_text(f"{path.read_text()}{field}\n")
    with pytest.raises(UnreadableInputError, match="outside its folder"):
        read_file_header(path)


def test_that_links_patterns_and_what_is_no_file_are_refused(
    tmp_path: Path, kind: tuple[str, str]
) -> None:
    (tmp_path / "link.raw").symlink_to("a.raw")
    os.mkfifo(tmp_path / "pipe.raw")
    refusals = {
        "link.raw": "takes its pixels from a link",
        "pipe.raw": "pipe.raw is a pipe",
        "a%01d.raw 0 1 1": "by a pattern",
        "none.raw": "none.raw does not exist",
    }
    for data, says in refusals.items():
        with pytest.raises(UnreadableInputError, match=says):
            read_file_header(volume(tmp_path, kind, data))


def test_that_more_slices_than_the_bytes_hold_are_refused(
    tmp_path: Path, kind: tuple[str, str]
) -> None:
    path = volume(tmp_path, kind, "a.raw")
    path.write_text(path.read_text().replace("4 3 2", "4 3 99999"))
    with pytest.raises(UnreadableInputError, match="99,999 slices, but has bytes"):
        read_file_header(path)


@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz", "a.nrrd", "a.mha"])
@pytest.mark.parametrize("packed", [False, True])
def test_that_volumes_of_one_file_are_read_as_before(
    tmp_path: Path, name: str, packed: bool
) -> None:
    path = tmp_path / name
    zeros = np.zeros((40, 30, 20), dtype=np.uint16)
    sitk.WriteImage(sitk.GetImageFromArray(zeros), path, packed)
    assert files_of_image(path) == (path,)
    assert read_file_header(path).frames == 40


def test_that_half_of_a_nifti_pair_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.nii"
    sitk.WriteImage(sitk.GetImageFromArray(VOXELS), path)
    data = bytearray(path.read_bytes())
    data[344:348] = b"ni1\0"
    path.write_bytes(data)
    with pytest.raises(UnreadableInputError, match="not a single-part NIfTI file"):
        read_file_header(path)


def test_that_a_nifti_header_may_not_claim_more_than_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.nii"
    sitk.WriteImage(sitk.GetImageFromArray(VOXELS), path)
    data = bytearray(path.read_bytes())
    data[46:48] = struct.pack("<h", 30_000)
    path.write_bytes(data)
    with pytest.raises(UnreadableInputError, match="30,000 slices, but has bytes"):
        read_file_header(path)


def test_that_the_content_does_not_choose_the_reader(tmp_path: Path) -> None:
    path = volume(tmp_path, ("a.nii", NRRD), "/etc/passwd")
    with pytest.raises(UnreadableInputError, match="cannot be read as a volume"):
        read_file_header(path)


def test_that_a_changed_data_file_changes_the_hash(
    tmp_path: Path, kind: tuple[str, str]
) -> None:
    path = volume(tmp_path, kind, "a.raw")
    before = read_facts([path])[path]
    (tmp_path / "a.raw").write_bytes((VOXELS + 1).tobytes())
    after = read_facts([path])[path]
    assert before.headers == after.headers
    assert before.sha256 != after.sha256
    assert before.sha256 != image_sha256([path])


def mirax(folder: Path, data: str) -> Path:
    """Return a slide of Mirax whose index names ``data``."""
    path, inner = folder / "a.mrxs", folder / "a"
    path.write_bytes(b"\xff\xd8\xff")
    inner.mkdir(exist_ok=True)
    (inner / "Data0000.dat").touch()
    (inner / "Index.dat").touch()
    (inner / "Slidedat.ini").write_text(
        f"[HIERARCHICAL]\nINDEXFILE = Index.dat\n[DATAFILE]\nFILE_0 = {data}\n"
    )
    return path


def hamamatsu(folder: Path, data: str) -> Path:
    """Return a slide of Hamamatsu's older kind whose index names ``data``."""
    path = folder / "a.vms"
    path.write_text(f"[Virtual Microscope Specimen]\nImageFile={data}\nMapFile=b.map\n")
    (folder / "Data0000.dat").touch()
    (folder / "b.map").touch()
    return path


@pytest.mark.parametrize("make", [mirax, hamamatsu])
def test_that_a_slide_takes_its_pixels_from_its_own_folder(
    tmp_path: Path, make: Callable[[Path, str], Path]
) -> None:
    assert len(openslide_parts(make(tmp_path, "Data0000.dat"))) in {3, 4}
    for data in ("/etc/passwd", "../../etc/passwd", "..\\a"):
        with pytest.raises(UnreadableInputError, match="outside its folder"):
            read_file_header(make(tmp_path, data))


def test_that_a_slide_is_not_read_through_a_link_to_a_folder(tmp_path: Path) -> None:
    path = mirax(tmp_path, "Data0000.dat")
    (tmp_path / "a").rename(tmp_path / "b")
    (tmp_path / "a").symlink_to(tmp_path / "b")
    with pytest.raises(UnreadableInputError, match="from a link to a folder"):
        openslide_parts(path)
