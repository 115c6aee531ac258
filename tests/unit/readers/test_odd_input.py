"""What a file lacks or has wrong takes nothing from the rest of it, or of a folder."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.make_dicom import make_dicom
from tests.helpers.public_files import pydicom_files
from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.domain.image import PixelImage
from viewer.readers.annotation import corner_text, tags_of
from viewer.readers.headers import load_geometry
from viewer.readers.pixels import load_pixels
from viewer.services.viewing.open_case import open_case

RAMP = np.arange(35, dtype=np.uint8).reshape(5, 7)


@dataclass(frozen=True)
class Odd:
    """A file that is odd in one way, and what is to be said of its image."""

    name: str
    make: Callable[[Path], Path]
    holds: Callable[[PixelImage], bool]


def _made(**attributes: object) -> Callable[[Path], Path]:
    return lambda path: make_dicom(path, RAMP, **attributes)  # type: ignore[arg-type]


def _of_odd_length(path: Path) -> Path:
    """Write 35 bytes of pixels without the byte that makes them even."""
    make_dicom(path, RAMP)
    data = path.read_bytes()
    length = (36).to_bytes(4, "little")
    at = data.rindex(length)
    path.write_bytes(data[:at] + (35).to_bytes(4, "little") + data[at + 4 : -1])
    return path


def _uncalibrated(image: PixelImage) -> bool:
    return image.geometry.spacing is None and image.geometry.pixel_aspect == 1


def _undirected(image: PixelImage) -> bool:
    return image.geometry.axes is None and image.geometry.letters == ()


ODD = (
    Odd("odd length", _of_odd_length, lambda image: image.values[-1, -1] == 34),
    Odd("zero spacing", _made(PixelSpacing=[0, 0]), _uncalibrated),
    Odd("one zero spacing", _made(PixelSpacing=[0.5, 0]), _uncalibrated),
    Odd("negative spacing", _made(PixelSpacing=[-1, 1]), _uncalibrated),
    Odd("zero aspect", _made(PixelAspectRatio=[0, 1]), _uncalibrated),
    Odd("no orientation", _made(ImagePositionPatient=[0, 0, 0]), _undirected),
    Odd(
        "zero orientation",
        _made(ImageOrientationPatient=[0, 0, 0, 0, 0, 0]),
        lambda image: image.geometry.letters == (),
    ),
    Odd(
        "skewed orientation",
        _made(ImageOrientationPatient=[1, 0, 0, 1, 0, 0]),
        lambda image: image.geometry.letters == (),
    ),
    Odd("zero slope", _made(RescaleSlope=0), lambda image: image.values.max() == 34),
    Odd(
        "zero window",
        _made(WindowCenter=3, WindowWidth=0),
        lambda image: image.windows == (),
    ),
)


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.name)
def test_that_an_odd_file_is_shown_without_what_is_odd(
    tmp_path: Path, odd: Odd
) -> None:
    ref = ImageRef(odd.make(tmp_path / "x.dcm"))
    image = load_pixels(ref)
    assert (image.values == RAMP).all()
    assert odd.holds(image)
    assert load_geometry(ref) == image.geometry
    assert corner_text(ref).top_left
    assert tags_of(ref)


def test_that_frames_of_several_sizes_and_directions_become_several_series(
    tmp_path: Path,
) -> None:
    directions = {"axial": [1, 0, 0, 0, 1, 0], "coronal": [1, 0, 0, 0, 0, -1]}
    number = 0
    for name, size in (("axial", (8, 8)), ("coronal", (8, 8)), ("axial", (4, 6))):
        for at in range(3):
            number += 1
            make_dicom(
                tmp_path / f"{number}.dcm", np.zeros(size, np.uint8), Modality="CT",
                SOPInstanceUID=f"1.2.{number}", InstanceNumber=number,
                ImageOrientationPatient=directions[name],
                ImagePositionPatient=[0, 0, at],
            )  # fmt: skip
    (case,) = open_case([tmp_path])
    stacks = [series.images for study in case.studies for series in study.series]
    assert [len(images) for images in stacks] == [3, 3, 3]
    for images in stacks:
        assert len({(image.size, image.geometry.axes) for image in images}) == 1


def test_that_a_folder_of_bad_and_good_files_shows_the_good_and_tells_of_the_bad(
    tmp_path: Path,
) -> None:
    for number in range(4):
        make_dicom(
            tmp_path / f"{number}.dcm", RAMP, Modality="CT",
            SOPInstanceUID=f"1.2.{number}", InstanceNumber=number,
        )  # fmt: skip
    (tmp_path / "1.dcm").write_bytes(b"")
    (tmp_path / "2.dcm").write_bytes((tmp_path / "2.dcm").read_bytes()[:200])
    (case,) = open_case([tmp_path])
    (series,) = (series for study in case.studies for series in study.series)
    assert [image.ref.path.name for image in series.images] == ["0.dcm", "3.dcm"]
    assert len(case.unreadable) == 2
    for words, name in zip(sorted(case.unreadable), ("1.dcm", "2.dcm"), strict=True):
        assert words.startswith(name)


def _refusal(path: Path) -> UnreadableInputError | None:
    try:
        load_pixels(ImageRef(path))
    except UnreadableInputError as error:
        return error
    return None


def test_that_every_file_of_pydicom_is_shown_or_refused_in_two_sentences() -> None:
    refused = [e for path in pydicom_files() if (e := _refusal(path)) is not None]
    assert len(refused) >= 60
    for error in refused:
        for sentence in (error.what, error.how):
            assert sentence.endswith(".")
            assert "\n" not in sentence
            assert len(sentence) < 200
            assert "Traceback" not in sentence
            assert "Error" not in sentence
        assert "of unknown kind" not in error.what


def test_that_a_directory_of_files_says_that_it_is_one() -> None:
    path = next(p for p in pydicom_files() if p.name == "DICOMDIR-empty.dcm")
    error = _refusal(path)
    assert error is not None
    kind = "Media Storage Directory Storage"
    assert error.what == f"{path.name} contains no pixels: {kind}."
