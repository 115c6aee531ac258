"""Overlay planes of the file (PS3.3 C.9.2) over its pixels."""

from pathlib import Path

import numpy as np
import pytest
from pydicom.dataset import Dataset
from pydicom.uid import UID, ExplicitVRBigEndian, ExplicitVRLittleEndian
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from tests.helpers.make_dicom import dicom_dataset, save_dicom
from tests.ui.bir.conftest import Open
from viewer.domain.case import ImageRef
from viewer.readers.overlay_planes import overlay_planes
from viewer.readers.pixels import load_pixels
from viewer.ui.application.app_context import AppContext
from viewer.ui.canvas.picture import picture_of


def _brightness(picture: QImage) -> int:
    """Return the sum of what is in the middle of a picture, without its corners."""
    grey = picture.convertToFormat(QImage.Format.Format_Grayscale8)
    middle = grey.copy(grey.rect().adjusted(150, 150, -150, -150))
    rows = np.frombuffer(middle.constBits(), np.uint8)
    rows = rows.reshape(middle.height(), middle.bytesPerLine())
    return int(rows[:, : middle.width()].sum(dtype=np.int64))


BITS = np.random.default_rng(3).random((24, 40)) > 0.7


def _with_plane(origin: list[int]) -> Dataset:
    group = 0x6000
    dataset = dicom_dataset(np.zeros((48, 64), np.uint8), Modality="CR")
    dataset.add_new((group, 0x0010), "US", BITS.shape[0])
    dataset.add_new((group, 0x0011), "US", BITS.shape[1])
    dataset.add_new((group, 0x0040), "CS", "G")
    dataset.add_new((group, 0x0050), "SS", origin)
    dataset.add_new((group, 0x0100), "US", 1)
    dataset.add_new((group, 0x0102), "US", 0)
    packed = np.packbits(BITS.ravel(), bitorder="little").tobytes()
    dataset.add_new((group, 0x3000), "OW", packed)
    return dataset


@pytest.mark.parametrize("origin", [(1, 1), (5, 9), (-3, -7), (40, 60)])
def test_that_a_plane_lies_where_its_origin_says(
    tmp_path: Path, origin: tuple[int, int]
) -> None:
    path = save_dicom(_with_plane(list(origin)), tmp_path / "x.dcm")
    drawn = overlay_planes(ImageRef(path))
    expected = np.zeros((48, 64), bool)
    for (row, column), bit in np.ndenumerate(BITS):
        y, x = row + origin[0] - 1, column + origin[1] - 1
        if bit and 0 <= y < 48 and 0 <= x < 64:
            expected[y, x] = True
    assert drawn is not None
    np.testing.assert_array_equal(drawn, expected)


def test_that_words_of_a_plane_are_swapped_in_big_endian_files(tmp_path: Path) -> None:
    dataset = _with_plane([1, 1])
    data = np.frombuffer(dataset[0x6000, 0x3000].value, "<u2").byteswap().tobytes()
    dataset.add_new((0x6000, 0x3000), "OW", data)
    path = save_dicom(dataset, tmp_path / "x.dcm", ExplicitVRBigEndian)
    drawn = overlay_planes(ImageRef(path))
    assert drawn is not None
    np.testing.assert_array_equal(drawn[:24, :40], BITS)


def test_that_planes_are_drawn_and_hidden(
    qtbot: QtBot, opened: Open, context: AppContext, tmp_path: Path
) -> None:
    folder = tmp_path / "planes"
    folder.mkdir()
    save_dicom(_with_plane([1, 1]), folder / "x.dcm")
    view = opened(folder)
    qtbot.waitUntil(lambda: view._layers._planes is not None)
    view.set_grid(None)
    bright = [
        _brightness(picture_of(view, identified=named)) for named in (False, True)
    ]
    assert bright[0] < bright[1]  # text in a plane may name the patient
    context.actions["overlays.planes"].trigger()
    assert view._layers._planes is None
    assert not context.actions["overlays.planes"].isChecked()


def test_that_an_image_without_planes_has_none(radiograph: Path) -> None:
    assert overlay_planes(ImageRef(radiograph)) is None


@pytest.mark.parametrize("syntax", [ExplicitVRLittleEndian, ExplicitVRBigEndian])
def test_that_planes_in_unused_bits_of_the_pixels_are_read(
    tmp_path: Path, syntax: UID
) -> None:
    rng = np.random.default_rng(5)
    values = rng.integers(0, 1 << 12, (2, 24, 40), np.uint16)
    drawn = rng.random((2, 2, 24, 40)) > 0.8  # (planes, frames, rows, columns)
    words = values | (drawn[0] * np.uint16(1 << 12)) | (drawn[1] * np.uint16(1 << 15))
    dataset = dicom_dataset(words[0], bits_stored=12, Modality="NM", NumberOfFrames=2)
    big = syntax == ExplicitVRBigEndian
    dataset.PixelData = words.astype(">u2" if big else "<u2").tobytes()
    for group, bit in ((0x6000, 12), (0x6002, 15), (0x6004, 3)):
        dataset.add_new((group, 0x0010), "US", 24)
        dataset.add_new((group, 0x0011), "US", 40)
        dataset.add_new((group, 0x0040), "CS", "G")
        dataset.add_new((group, 0x0050), "SS", [1, 1])
        dataset.add_new((group, 0x0100), "US", 16)
        dataset.add_new((group, 0x0102), "US", bit)  # bit 3 is one of the samples'
    path = save_dicom(dataset, tmp_path / "x.dcm", syntax)
    for frame in range(2):
        found = overlay_planes(ImageRef(path, frame))
        assert found is not None
        np.testing.assert_array_equal(found, drawn[:, frame].any(axis=0))
        # The pixels are the samples alone.
        image = load_pixels(ImageRef(path, frame))
        np.testing.assert_array_equal(image.values, values[frame])
