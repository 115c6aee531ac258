"""Every way a file can be wrong has its two sentences, and nothing else is raised."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pydicom
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pydicom.uid import RLELossless

from tests.helpers.make_dicom import dicom_dataset, make_dicom, save_dicom
from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.domain.image import PixelImage
from viewer.imaging.luts import to_raster
from viewer.readers.catalog import read_headers
from viewer.readers.pixels import load_pixels

RAMP = np.arange(256, dtype=np.uint16).reshape(16, 16)


def text_named_dcm(folder: Path) -> Path:
    path = folder / "x.dcm"
    path.write_text("Dear colleague, please find the images attached. " * 20)
    return path


def empty(folder: Path) -> Path:
    (folder / "x.dcm").touch()
    return folder / "x.dcm"


def truncated(folder: Path) -> Path:
    path = make_dicom(folder / "x.dcm", RAMP)
    path.write_bytes(path.read_bytes()[:-100])
    return path


def without_pixels(folder: Path) -> Path:
    return make_dicom(folder / "x.dcm", RAMP, PixelData=None)


def of_no_pixels(folder: Path) -> Path:
    return make_dicom(folder / "x.dcm", RAMP, Columns=0)


def of_too_many_pixels(folder: Path) -> Path:
    return make_dicom(folder / "x.dcm", RAMP, Rows=65535, Columns=65535)


def of_too_many_frames(folder: Path) -> Path:
    return make_dicom(folder / "x.dcm", RAMP, NumberOfFrames=1_000_000)


def without_preamble_or_image(folder: Path) -> Path:
    (folder / "x.dcm").write_bytes(b"\x10\x00\x10\x00\x04\x00\x00\x00ABCD")
    return folder / "x.dcm"


def of_unknown_syntax(folder: Path) -> Path:
    path = make_dicom(folder / "x.dcm", RAMP)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"1.2.840.10008.1.2.1\0", b"1.2.840.10008.1.9.9\0"))
    return path


def of_video(folder: Path) -> Path:
    path = make_dicom(folder / "x.dcm", RAMP)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"1.2.840.10008.1.2.1\0", b"1.2.840.10008.1.2.8\0"))
    return path


def of_wrong_run_lengths(folder: Path) -> Path:
    dataset = dicom_dataset(RAMP)
    save_dicom(dataset, folder / "x.dcm")
    dataset.compress(RLELossless)
    dataset.Rows = 32
    dataset.save_as(folder / "x.dcm")
    return folder / "x.dcm"


def of_bits_that_do_not_fit(folder: Path) -> Path:
    return make_dicom(folder / "x.dcm", RAMP, BitsStored=20)


def of_odd_bits(folder: Path) -> Path:
    return make_dicom(folder / "x.dcm", RAMP, BitsAllocated=12)


def of_unknown_photometric(folder: Path) -> Path:
    return make_dicom(folder / "x.dcm", RAMP, PhotometricInterpretation="SEPIA")


def without_photometric(folder: Path) -> Path:
    return make_dicom(folder / "x.dcm", RAMP, PhotometricInterpretation=None)


def palette_without_table(folder: Path) -> Path:
    return make_dicom(folder / "x.dcm", RAMP, PhotometricInterpretation="PALETTE COLOR")


def of_pixels_that_are_encapsulated(folder: Path) -> Path:
    path = of_wrong_run_lengths(folder)
    data = path.read_bytes()
    coded, plain = b"1.2.840.10008.1.2.5\0", b"1.2.840.10008.1.2.1\0"
    path.write_bytes(data.replace(coded, plain))
    return path


def corrupted_png(folder: Path) -> Path:
    path = folder / "x.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64), np.uint8)).save(
        path
    )
    data = bytearray(path.read_bytes())
    data[400:600] = bytes(200)
    path.write_bytes(data)
    return path


def truncated_jpeg(folder: Path) -> Path:
    path = folder / "x.jpg"
    Image.fromarray(np.zeros((64, 64), np.uint8)).save(path)
    path.write_bytes(path.read_bytes()[:300])
    return path


def text_named_png(folder: Path) -> Path:
    (folder / "x.png").write_text("not a picture")
    return folder / "x.png"


def missing(folder: Path) -> Path:
    return folder / "x.dcm"


def a_folder(folder: Path) -> Path:
    (folder / "x.d").mkdir()
    return folder / "x.d"


CASES: list[tuple[Callable[[Path], Path], str]] = [
    (text_named_dcm, "is not a DICOM file"),
    (empty, "is empty"),
    (without_preamble_or_image, "is not a DICOM file"),
    (truncated, "is cut short: it has 412 of 512 bytes"),
    (without_pixels, "contains no pixels"),
    (of_no_pixels, "claims an impossible size of 0 × 16 pixels"),
    (of_too_many_pixels, "claims an impossible size of 65535 × 65535 pixels"),
    (of_too_many_frames, "bytes for at most 2."),
    (of_unknown_syntax, "which cannot be decoded"),
    (of_video, "which cannot be decoded"),
    (of_wrong_run_lengths, "cannot be decoded"),
    (
        of_bits_that_do_not_fit,
        "x.dcm says Bits Allocated 16 and Bits Stored 20, which contradict each other.",
    ),
    (of_odd_bits, "says Bits Allocated 12, not 1, 8, 16, 32 or 64."),
    (
        of_unknown_photometric,
        "says Photometric Interpretation SEPIA, which is not read.",
    ),
    (without_photometric, "does not say its Photometric Interpretation."),
    (
        palette_without_table,
        "says Photometric Interpretation PALETTE COLOR, but has no",
    ),
    (
        of_pixels_that_are_encapsulated,
        "says Transfer Syntax Explicit VR Little Endian, but its pixels are encaps",
    ),
    (corrupted_png, "cannot be read"),
    (truncated_jpeg, "cannot be read"),
    (text_named_png, "cannot be read"),
    (missing, "does not exist"),
    (a_folder, "is a folder"),
]


@pytest.mark.parametrize(
    ("make", "says"), CASES, ids=[make.__name__ for make, _ in CASES]
)
def test_that_a_bad_file_has_its_sentence(
    tmp_path: Path, make: Callable[[Path], Path], says: str
) -> None:
    path = make(tmp_path)
    with pytest.raises(UnreadableInputError) as caught:
        load_pixels(ImageRef(path))
    error = caught.value
    assert error.what.startswith(path.name)
    assert says in error.what
    for sentence in (error.what, error.how):
        assert sentence.endswith(".")
        assert str(tmp_path) not in sentence
        assert "somebody" not in sentence


def test_that_a_file_one_may_not_read_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_dicom(tmp_path / "x.dcm", RAMP)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "no")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(
        UnreadableInputError, match=r"x\.dcm cannot be read: permission"
    ):
        load_pixels(ImageRef(path))


def test_that_too_little_memory_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_dicom(tmp_path / "x.dcm", RAMP)

    def exhaust(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(pydicom, "dcmread", exhaust)
    with pytest.raises(
        UnreadableInputError, match="more memory than a decoder may use"
    ):
        load_pixels(ImageRef(path))


def try_to_read(path: Path) -> PixelImage | None:
    """Read headers and pixels; anything but our own error is a failure."""
    with suppress(UnreadableInputError):
        read_headers(path)
        image = load_pixels(ImageRef(path))
        to_raster(image)
        return image
    return None


@given(st.data())
def test_that_damage_never_raises_anything_else(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damage")
    path = make_dicom(folder / "x", RAMP, WindowCenter=1, WindowWidth=2)
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 8))):
        place = data.draw(st.integers(128, len(whole) - 1))
        whole[place] = data.draw(st.integers(0, 255))
    keep = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[: keep if data.draw(st.booleans()) else len(whole)])
    image = try_to_read(path)
    assert image is None or image.values.size > 0
    shutil.rmtree(folder)


def test_that_many_threads_read_at_once(tmp_path: Path) -> None:
    paths = [make_dicom(tmp_path / f"{i}", RAMP + np.uint16(i)) for i in range(40)]
    with ThreadPoolExecutor(8) as pool:
        images = list(pool.map(try_to_read, paths))
    for i, image in enumerate(images):
        assert image is not None
        assert (image.values == RAMP + i).all()
